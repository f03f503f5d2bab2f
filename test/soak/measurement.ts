import { engine, type HeapCensus } from "./heap-census.ts";

/** A holder may keep the last few it had to do with: the last answer, the list before the last change. */
const fewStale = 50;

/** What a heap has on one day. It is kept in a file, as it would count itself otherwise. */
export interface Measurement {
  readonly heapMb: number;
  /** Of everything, by who holds it. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Of what is not bounded otherwise. */
  readonly collections: Readonly<Record<string, number>>;
  readonly classes: Readonly<Record<string, number>>;
  readonly stale: readonly string[];
}

/** Who still has a uid or a name of an object that is gone. */
export function staleHolders(census: HeapCensus, gone: ReadonlySet<string>): readonly string[] {
  const holders = new Map<string, { count: number; example: string }>();
  census.forEachString((text, node) => {
    const example = text.split(/[^a-z0-9.-]+/).find((word) => gone.has(word));
    if (example === undefined) return;
    const holder = census.holderOf(node);
    const known = holders.get(holder);
    if (known === undefined) holders.set(holder, { count: 1, example: text });
    else known.count++;
  });
  return [...holders]
    .filter(([holder, { count }]) => count > fewStale && holder !== engine)
    .map(([holder, { count, example }]) => `${holder} has ${count} names of what is gone, as ${example.slice(0, 120)}`);
}
