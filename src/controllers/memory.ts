import type { LoopWorld } from "../kube/loop.ts";

/** What a loop remembers for as long as it runs: a restart forgets it. Made when first asked for. */
export function memory<T>(make: (world: LoopWorld) => T): (world: LoopWorld) => T {
  const byWorld = new WeakMap<LoopWorld, { readonly kept: T }>();
  return (world) => {
    const known = byWorld.get(world) ?? { kept: make(world) };
    byWorld.set(world, known);
    return known.kept;
  };
}
