/** Pools and overlays are tried in this order. */
export interface WeightedObject {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: { readonly weight?: number | undefined };
}

/** Higher weight first, unset is 0; at equal weight the alphabetically **later** name first. (01 §1.4, §5.6, §9.9) */
export function byPrecedence(a: WeightedObject, b: WeightedObject): number {
  const byWeight = (b.spec.weight ?? 0) - (a.spec.weight ?? 0);
  if (byWeight !== 0) return byWeight;
  const [nameA, nameB] = [a.metadata.name ?? "", b.metadata.name ?? ""];
  if (nameA === nameB) return 0;
  return nameA < nameB ? 1 : -1;
}
