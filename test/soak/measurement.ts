import { engine, type HeapCensus } from "./heap-census.ts";

/** A holder may keep the last few it had to do with: the last answer, the list before the last change. */
const fewStale = 50;

/** What a heap has on one day. A class, so that a later measurement can leave it out. */
export class Measurement {
  readonly heapMb: number;
  readonly collections: ReadonlyMap<string, number>;
  readonly classes: ReadonlyMap<string, number>;
  readonly stale: readonly string[];

  constructor(heapMb: number, census: HeapCensus, gone: ReadonlySet<string>) {
    this.heapMb = heapMb;
    this.collections = census.collectionSizes();
    this.classes = census.classCounts();
    this.stale = staleHolders(census, gone);
  }
}

/** Who still has a uid or a name of an object that is gone. */
function staleHolders(census: HeapCensus, gone: ReadonlySet<string>): readonly string[] {
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
