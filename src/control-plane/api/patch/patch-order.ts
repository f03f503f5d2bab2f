export interface PatchOrder {
  /** The requested order; it may name items that do not exist. */
  readonly order: readonly unknown[];
  /** The list before the patch. */
  readonly before: readonly unknown[];
  readonly identity: (item: unknown) => string;
}

/** Items of the requested order come in that order; others stay before the items they preceded in the old list. */
export function sortByPatchOrder(items: readonly unknown[], { order, before, identity }: PatchOrder): unknown[] {
  const wanted = ranks(order, identity);
  const was = ranks(before, identity);
  const ranked = items.map((item) => {
    const id = identity(item);
    return { item, wantedAt: wanted.get(id), wasAt: was.get(id) };
  });
  const named = ranked.filter(({ wantedAt }) => wantedAt !== undefined);
  named.sort((a, b) => (a.wantedAt ?? 0) - (b.wantedAt ?? 0));
  const others = ranked.filter(({ wantedAt }) => wantedAt === undefined);
  const result: unknown[] = [];
  let next = 0;
  for (const { item, wasAt: place = -1 } of named) {
    for (; (others[next]?.wasAt ?? Number.POSITIVE_INFINITY) < place; next++) result.push(others[next]?.item);
    result.push(item);
  }
  for (const { item } of others.slice(next)) result.push(item);
  return result;
}

function ranks(items: readonly unknown[], identity: (item: unknown) => string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const item of items) {
    const id = identity(item);
    if (!found.has(id)) found.set(id, found.size);
  }
  return found;
}
