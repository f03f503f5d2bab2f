import { describe, expect, it } from "vitest";
import { HeapCensus } from "./heap-census.ts";
import { HeapSnapshot } from "./heap-snapshot.ts";

const nodeTypes = ["hidden", "array", "string", "object", "synthetic"];
const edgeTypes = ["context", "element", "property", "internal", "hidden", "weak"];

interface SnapshotNode {
  readonly type: string;
  readonly name: string;
  /** Type, name and target of each edge. */
  readonly edges?: readonly (readonly [type: string, name: string | number, to: number])[];
}

/** A snapshot in the format of V8. */
function snapshotOf(nodes: readonly SnapshotNode[]): HeapSnapshot {
  const strings: string[] = [];
  const text = (value: string) => (strings.includes(value) ? strings.indexOf(value) : strings.push(value) - 1);
  const meta = {
    node_fields: ["type", "name", "id", "self_size", "edge_count"],
    node_types: [nodeTypes],
    edge_fields: ["type", "name_or_index", "to_node"],
    edge_types: [edgeTypes],
  };
  const written = {
    snapshot: { meta, node_count: nodes.length, edge_count: nodes.flatMap(({ edges = [] }) => edges).length },
    nodes: nodes.flatMap(({ type, name, edges = [] }, id) => [
      nodeTypes.indexOf(type),
      text(name),
      id,
      8,
      edges.length,
    ]),
    edges: nodes.flatMap(({ edges = [] }) =>
      edges.flatMap(([type, name, to]) => [
        edgeTypes.indexOf(type),
        typeof name === "number" ? name : text(name),
        to * meta.node_fields.length,
      ]),
    ),
    strings,
  };
  return new HeapSnapshot(Buffer.from(JSON.stringify(written)));
}

/** A cache with a private map, and a function with a variable; both hold names. One more is held weakly. */
const heap = snapshotOf([
  {
    type: "synthetic",
    name: "",
    edges: [
      ["element", 1, 1],
      ["element", 2, 6],
      ["weak", "cache", 9],
    ],
  },
  { type: "object", name: "PodCache", edges: [["property", "#pods", 2]] },
  { type: "object", name: "Map", edges: [["internal", "table", 3]] },
  {
    type: "array",
    name: "",
    edges: [
      ["internal", "0", 4],
      ["internal", "1", 5],
    ],
  },
  { type: "string", name: "pod-1" },
  { type: "string", name: "pod-2" },
  {
    type: "object",
    name: "system / Context",
    edges: [
      ["context", "seen", 7],
      ["internal", "scope_info", 10],
    ],
  },
  { type: "object", name: "Array", edges: [["internal", "elements", 8]] },
  { type: "array", name: "(object elements)", edges: [["internal", "0", 5]] },
  { type: "string", name: "forgotten" },
  {
    type: "hidden",
    name: "system / ScopeInfo",
    edges: [
      ["hidden", 0, 11],
      ["hidden", 1, 12],
    ],
  },
  { type: "string", name: "seen" },
  { type: "string", name: "startQueue" },
]);

describe("HeapCensus", () => {
  it("counts what collections hold, by field and by variable", () => {
    const census = new HeapCensus(heap);
    expect([...census.collectionSizes()].sort()).toEqual([
      ["PodCache.#pods", 2],
      ["startQueue: seen", 1],
    ]);
    expect(census.classCounts().get("PodCache")).toBe(1);
  });

  it("counts bytes by the field or variable that holds them", () => {
    const bytes = new HeapCensus(heap).bytes();
    expect(bytes.get("PodCache.#pods")).toBe(4 * 8); // the map, its table and two names
    expect(bytes.get("startQueue: seen")).toBe(2 * 8);
  });

  it("finds every string that is held, and who holds it", () => {
    const census = new HeapCensus(heap);
    const holders = new Map<string, string>();
    census.forEachString((text, node) => holders.set(text, census.holderOf(node)));
    expect(holders.get("pod-1")).toBe("PodCache.#pods[]");
    expect(holders.has("forgotten")).toBe(false);
  });

  it("leaves out what a class holds that is bounded otherwise", () => {
    const census = new HeapCensus(heap, { without: new Set(["PodCache"]) });
    const found: string[] = [];
    census.forEachString((text, node) => found.push(`${census.holderOf(node)} ${text}`));
    expect(found).toContain("startQueue: seen[] pod-2"); // the other holder shows
    expect(found.some((one) => one.includes("pod-1"))).toBe(false);
  });
});
