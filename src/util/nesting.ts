/** Whether objects and arrays are nested more levels deep than this. Without recursion: the depth is up to whoever wrote it. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let current: object[] = isContainer(value) ? [value] : [];
  for (let depth = 1; current.length > 0; depth++) {
    if (depth > levels) return true;
    const next: object[] = [];
    for (const container of current) {
      for (const child of Object.values(container)) if (isContainer(child)) next.push(child);
    }
    current = next;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
