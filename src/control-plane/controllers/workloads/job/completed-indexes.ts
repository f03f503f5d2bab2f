/** Formats completed indexes as Jobs do: `0-3,5`. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const index of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join(",");
}

/** Invalid parts and indexes beyond the completions are ignored. */
export function parseIndexes(text: string | undefined, completions: number): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? "").split(",")) {
    const [, from, to] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
    if (from === undefined) continue;
    const last = Math.min(Number(to ?? from), completions - 1);
    for (let index = Number(from); index <= last; index++) indexes.add(index);
  }
  return indexes;
}
