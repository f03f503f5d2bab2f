import { type Document, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair } from "yaml";
import type { FieldPath } from "../problem.ts";
import { type Finding, fileStartPosition, type Position, type SourceLocation } from "./finding.ts";

/** One object of a file, with the positions of its fields. */
export interface ManifestDocument {
  /** The file as the user named it. */
  readonly source: string;
  /** Plain JSON value; no aliases, no shared parts, no `__proto__`. */
  readonly object: unknown;
  /** Its syntax tree without aliases; comments are attached to the nodes. */
  readonly yaml: Document;
  /** As written, when it was a document of its own and not an item of a List. */
  readonly text: string | undefined;
  /** The position of a field; for a missing one, of its nearest existing ancestor. */
  readonly locationOf: (path: FieldPath) => SourceLocation;
}

/** Where a finding about a field belongs; the start of `source` if there is no document. */
export function findingLocation(
  document: ManifestDocument | undefined,
  path: FieldPath,
  source = "-",
): Pick<Finding, "source" | "position"> {
  const { source: file, line, column } = document?.locationOf(path) ?? { source, ...fileStartPosition };
  return { source: file, position: { line, column } };
}

/** The position of a path below `root`: that of the key in a map, of the item in a list. */
export function positionIn(root: Node | null, path: FieldPath, lines: LineCounter): Position {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const step of path) {
    const next = childOf(node, step);
    if (next === undefined) break;
    offset = next.marker?.range?.[0] ?? offset;
    node = next.node;
  }
  if (offset === undefined) return fileStartPosition;
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

interface Child {
  readonly node: unknown;
  /** The node whose position is reported for the child. */
  readonly marker: Node | undefined;
}

function childOf(node: unknown, step: string | number): Child | undefined {
  if (isSeq(node) && typeof step === "number") {
    const item = node.items[step] as Node | undefined;
    return item === undefined ? undefined : { node: item, marker: item ?? undefined };
  }
  const pair = yamlPairAt(node, step);
  return pair === undefined ? undefined : { node: pair.value, marker: pair.key as Node };
}

/** The pair of a map under a key, numbers and words alike. */
export function yamlPairAt(node: unknown, step: string | number): Pair | undefined {
  if (!isMap(node)) return undefined;
  const text = String(step);
  return node.items.find((pair) => yamlKeyName(pair) === text);
}

/** The key of a pair as text. */
export function yamlKeyName(pair: Pair): string {
  const { key } = pair;
  if (!isScalar(key)) return String(key);
  return key.type === "PLAIN" && key.source !== undefined ? key.source : String(key.value);
}

/** The node at a path, if it is there. */
export function yamlNodeAt(root: unknown, path: FieldPath): Node | undefined {
  let node: unknown = root;
  for (const step of path) node = childOf(node, step)?.node;
  return (node ?? undefined) as Node | undefined;
}
