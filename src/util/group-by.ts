/** Groups in the order their first items come. */
export function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const known = groups.get(key(item));
    if (known === undefined) groups.set(key(item), [item]);
    else known.push(item);
  }
  return groups;
}
