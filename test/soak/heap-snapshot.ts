import { readFileSync, rmSync } from "node:fs";
import { writeHeapSnapshot } from "node:v8";

interface SnapshotMeta {
  readonly node_fields: readonly string[];
  readonly node_types: readonly [readonly string[], ...unknown[]];
  readonly edge_fields: readonly string[];
  readonly edge_types: readonly [readonly string[], ...unknown[]];
}

/**
 * All objects of this process's heap and what they refer to, as V8 writes them: private fields and variables of
 * closures too, each with its name. Kept outside the heap it describes, but for its strings.
 */
export class HeapSnapshot {
  readonly nodeCount: number;
  readonly strings: readonly string[];
  readonly #nodes: Float64Array;
  readonly #edges: Float64Array;
  readonly #firstEdge: Float64Array;
  readonly #nodeTypes: readonly string[];
  readonly #edgeTypes: readonly string[];
  readonly #nodeFields: number;
  readonly #fields: { readonly type: number; readonly name: number; readonly size: number; readonly edgeCount: number };

  /** Writes it to a file first, which collects garbage. */
  static take(path: string): HeapSnapshot {
    try {
      return new HeapSnapshot(readFileSync(writeHeapSnapshot(path)));
    } finally {
      rmSync(path, { force: true });
    }
  }

  constructor(json: Buffer) {
    const head = `${json.subarray(0, json.indexOf('"nodes":[')).toString().trimEnd().replace(/,$/, "")}}`;
    const { meta, node_count, edge_count } = (JSON.parse(head) as { snapshot: SnapshotCounts }).snapshot;
    const field = (name: string) => meta.node_fields.indexOf(name);
    this.#fields = {
      type: field("type"),
      name: field("name"),
      size: field("self_size"),
      edgeCount: field("edge_count"),
    };
    this.#nodeFields = meta.node_fields.length;
    this.#nodeTypes = meta.node_types[0];
    this.#edgeTypes = meta.edge_types[0];
    this.nodeCount = node_count;
    this.#nodes = numbersAt(json, '"nodes":[', node_count * this.#nodeFields);
    this.#edges = numbersAt(json, '"edges":[', edge_count * meta.edge_fields.length);
    const strings = json.indexOf('"strings":[') + '"strings":'.length;
    this.strings = JSON.parse(json.subarray(strings, json.lastIndexOf("]") + 1).toString()) as readonly string[];
    this.#firstEdge = this.#firstEdges();
  }

  typeOf(node: number): string {
    return this.#nodeTypes[this.#nodes[node * this.#nodeFields + this.#fields.type] as number] ?? "";
  }

  /** The class of an object, the text of a string, the name of a function. */
  nameOf(node: number): string {
    return this.strings[this.#nodes[node * this.#nodeFields + this.#fields.name] as number] ?? "";
  }

  /** The bytes of the object itself, without what it refers to. */
  sizeOf(node: number): number {
    return this.#nodes[node * this.#nodeFields + this.#fields.size] as number;
  }

  edgeCountOf(node: number): number {
    return this.#nodes[node * this.#nodeFields + this.#fields.edgeCount] as number;
  }

  /** The numbers of a node's edges are `firstEdgeOf(node)` up to, and without, `firstEdgeOf(node + 1)`. */
  firstEdgeOf(node: number): number {
    return this.#firstEdge[node] as number;
  }

  edgeTarget(edge: number): number {
    return (this.#edges[edge * 3 + 2] as number) / this.#nodeFields;
  }

  edgeType(edge: number): string {
    return this.#edgeTypes[this.#edges[edge * 3] as number] ?? "";
  }

  edgeName(edge: number): string {
    const name = this.#edges[edge * 3 + 1] as number;
    const isNumber = this.edgeType(edge) === "element" || this.edgeType(edge) === "hidden";
    return isNumber ? String(name) : (this.strings[name] ?? "");
  }

  #firstEdges(): Float64Array {
    const first = new Float64Array(this.nodeCount + 1);
    for (let node = 0; node < this.nodeCount; node++)
      first[node + 1] = (first[node] as number) + this.edgeCountOf(node);
    return first;
  }
}

interface SnapshotCounts {
  readonly meta: SnapshotMeta;
  readonly node_count: number;
  readonly edge_count: number;
}

const [zero, nine, closing] = ["0", "9", "]"].map((one) => one.charCodeAt(0)) as [number, number, number];

function numbersAt(json: Buffer, heading: string, count: number): Float64Array {
  const numbers = new Float64Array(count);
  let at = json.indexOf(heading) + heading.length;
  for (let index = 0; index < count; index++) {
    while (!isDigit(json[at] as number) && json[at] !== closing) at++;
    let value = 0;
    for (; isDigit(json[at] as number); at++) value = value * 10 + (json[at] as number) - zero;
    numbers[index] = value;
  }
  return numbers;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}
