import { annotations } from "../labels.ts";

/** What a consolidation has to save before it is worth the disruption, by the annotation of a NodePool. */
export type MinSaving =
  | { readonly kind: "none" }
  /** Dollars an hour. */
  | { readonly kind: "amount"; readonly dollars: number }
  /** Of what the nodes cost that would go. */
  | { readonly kind: "share"; readonly share: number }
  | { readonly kind: "invalid"; readonly value: string };

const written = /^(\d+(?:\.\d+)?)(%?)$/;

/** `0.05` is five cents an hour, `10%` a tenth of what the nodes cost. (03:D-49a) */
export function minSaving(pool: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}): MinSaving {
  const value = pool.metadata.annotations?.[annotations.minSaving];
  if (value === undefined) return { kind: "none" };
  const [, digits = "", percent] = written.exec(value) ?? [];
  const number = Number(digits);
  if (digits === "" || !Number.isFinite(number) || (percent === "%" && number > 100)) return { kind: "invalid", value };
  return percent === "%" ? { kind: "share", share: number / 100 } : { kind: "amount", dollars: number };
}
