/** The groups of files that import each other, directly or through others, each sorted. (Tarjan's algorithm.) */
export function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.size - 1);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue;
      if (!order.has(target)) visit(target);
      const reached = stack.includes(target) ? lowest.get(target) : undefined;
      if (reached !== undefined) lowest.set(file, Math.min(lowest.get(file) ?? reached, reached));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.sort());
  };

  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
