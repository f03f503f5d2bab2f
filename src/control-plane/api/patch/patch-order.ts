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
  const rank = (by: ReadonlyMap<string, number>, item: unknown) => by.get(identity(item)) ?? Number.POSITIVE_INFINITY;
  const named = items.filter((item) => wanted.has(identity(item))).sort((a, b) => rank(wanted, a) - rank(wanted, b));
  const others = items.filter((item) => !wanted.has(identity(item)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const place = was.get(identity(item)) ?? -1;
    while (next < others.length && rank(was, others[next]) < place) result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function ranks(items: readonly unknown[], identity: (item: unknown) => string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const item of items) if (!found.has(identity(item))) found.set(identity(item), found.size);
  return found;
}
