import type { HeapSnapshot } from "./heap-snapshot.ts";

const collectionNames: ReadonlySet<string> = new Set(["Map", "Set", "Array"]);
const tableEdges: ReadonlySet<string> = new Set(["table", "elements"]);
const mostHolders = 40;
/** The holder of what no field or variable holds: shapes of objects, tables of strings, compiled code. */
export const engine = "the engine";
const nobody = -1;

export interface CensusOptions {
  /** Classes whose contents are left out: what they keep is bounded otherwise. */
  readonly without?: ReadonlySet<string>;
}

/** What is reachable in a heap, and who holds it: the class and field, or the function and variable, nearest to it. */
export class HeapCensus {
  readonly #heap: HeapSnapshot;
  /** The edge by which each object was reached first, and from where. */
  readonly #reachedBy: Int32Array;
  readonly #reachedFrom: Int32Array;

  constructor(heap: HeapSnapshot, { without = new Set() }: CensusOptions = {}) {
    this.#heap = heap;
    this.#reachedBy = new Int32Array(heap.nodeCount).fill(nobody);
    this.#reachedFrom = new Int32Array(heap.nodeCount).fill(nobody);
    this.#walk(without);
  }

  /** How many references all Maps, Sets and arrays of each holder have. */
  collectionSizes(): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>();
    for (let node = 0; node < this.#heap.nodeCount; node++) {
      if (!this.#isReached(node) || !this.#isCollection(node)) continue;
      const size = this.#collectionSize(node);
      if (size > 0) add(sizes, this.holderOf(node), size);
    }
    return sizes;
  }

  /** How many objects there are of each class. */
  classCounts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (let node = 0; node < this.#heap.nodeCount; node++) {
      if (!this.#isReached(node)) continue;
      const type = this.#heap.typeOf(node);
      if (type === "object") add(counts, this.#heap.nameOf(node), 1);
      else if (type === "closure") add(counts, `function ${this.#heap.nameOf(node)}`, 1);
    }
    return counts;
  }

  /** How many bytes each field of a class or variable of a function holds; of the engine, each type of object. */
  bytes(): ReadonlyMap<string, number> {
    const bytes = new Map<string, number>();
    for (let node = 0; node < this.#heap.nodeCount; node++) {
      if (!this.#isReached(node)) continue;
      const holder = this.holderOf(node);
      const name = holder === engine ? `${engine}: ${this.#heap.typeOf(node)}` : fieldOf(holder);
      add(bytes, name, this.#heap.sizeOf(node));
    }
    return bytes;
  }

  /** Calls the visitor with every string that is reachable. */
  forEachString(visit: (text: string, node: number) => void): void {
    for (let node = 0; node < this.#heap.nodeCount; node++)
      if (this.#isReached(node) && this.#heap.typeOf(node) === "string") visit(this.#heap.nameOf(node), node);
  }

  /** `Class.field` or `function: variable`; what is in a collection of it has `[]` after that. */
  holderOf(node: number): string {
    const heap = this.#heap;
    let suffix = "";
    for (let at = node, steps = 0; steps < mostHolders; steps++) {
      const [edge, from] = [this.#reachedBy[at] as number, this.#reachedFrom[at] as number];
      if (from === nobody) return engine;
      const type = heap.edgeType(edge);
      const name = heap.edgeName(edge);
      if (type === "context") return `${this.#functionOf(from)}: ${name}${suffix}`;
      const owner = heap.nameOf(from);
      if (type === "property" && isNamedClass(owner) && heap.typeOf(from) === "object")
        return `${owner}.${name}${suffix}`;
      if (type === "property" && !collectionNames.has(owner)) suffix = `.${name}${suffix}`;
      else if (this.#isCollection(from)) suffix = `[]${suffix}`;
      at = from;
    }
    return engine;
  }

  /** Strong references only, breadth first, so that the shortest way to an object is found. */
  #walk(without: ReadonlySet<string>): void {
    const heap = this.#heap;
    const queue = new Int32Array(heap.nodeCount);
    const seen = new Uint8Array(heap.nodeCount);
    let end = 1;
    seen[0] = 1;
    for (let next = 0; next < end; next++) {
      const node = queue[next] as number;
      if (without.has(heap.nameOf(node)) && heap.typeOf(node) === "object") continue;
      for (let edge = heap.firstEdgeOf(node); edge < heap.firstEdgeOf(node + 1); edge++) {
        const to = heap.edgeTarget(edge);
        if (seen[to] === 1 || heap.edgeType(edge) === "weak") continue;
        seen[to] = 1;
        this.#reachedBy[to] = edge;
        this.#reachedFrom[to] = node;
        queue[end++] = to;
      }
    }
  }

  #isReached(node: number): boolean {
    return this.#reachedFrom[node] !== nobody;
  }

  #isCollection(node: number): boolean {
    return this.#heap.typeOf(node) === "object" && collectionNames.has(this.#heap.nameOf(node));
  }

  #collectionSize(node: number): number {
    const heap = this.#heap;
    for (let edge = heap.firstEdgeOf(node); edge < heap.firstEdgeOf(node + 1); edge++)
      if (heap.edgeType(edge) === "internal" && tableEdges.has(heap.edgeName(edge)))
        return heap.edgeCountOf(heap.edgeTarget(edge));
    return 0;
  }

  /** The function whose variables a context has: its scope names them all, and itself. */
  #functionOf(context: number): string {
    const heap = this.#heap;
    const variables = new Set<string>();
    let scope = nobody;
    for (let edge = heap.firstEdgeOf(context); edge < heap.firstEdgeOf(context + 1); edge++) {
      if (heap.edgeType(edge) === "context") variables.add(heap.edgeName(edge));
      else if (heap.edgeName(edge) === "scope_info") scope = heap.edgeTarget(edge);
    }
    if (scope === nobody) return "function";
    for (let edge = heap.firstEdgeOf(scope); edge < heap.firstEdgeOf(scope + 1); edge++) {
      const to = heap.edgeTarget(edge);
      if (heap.typeOf(to) === "string" && !variables.has(heap.nameOf(to))) return heap.nameOf(to) || "function";
    }
    return "function";
  }
}

function isNamedClass(name: string): boolean {
  return name !== "Object" && !collectionNames.has(name) && !name.startsWith("system /") && name !== "";
}

/** The holder's field or variable alone, without the way from there. */
function fieldOf(holder: string): string {
  return /^[^.:]*[.:][^.[]*/.exec(holder)?.[0] ?? holder;
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
