import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, Scalar, type YAMLMap } from "yaml";
import type { FieldPath, ProblemCode } from "../problem.ts";
import type { ReadingWarningCode } from "./finding.ts";
import { manifestLimits } from "./parse.ts";

/** A problem found in a syntax tree, by offset into the text. */
export type OffsetFinding = {
  readonly offset: number;
  readonly path: FieldPath;
  readonly message: string;
} & (
  | { readonly severity: "error"; readonly code: ProblemCode }
  | { readonly severity: "warning"; readonly code: ReadingWarningCode; readonly advice: string }
);

interface Anchor {
  readonly node: Node;
  /** Nodes below it; undefined while we are still inside it. */
  size: number | undefined;
}

interface ResolveWalk {
  readonly anchors: Map<string, Anchor>;
  readonly findings: OffsetFinding[];
  visited: number;
  repeated: number;
  /** How many nodes aliases may repeat. */
  readonly maxAliasNodes: number;
  exhausted: boolean;
}

/** What kubectl's YAML 1.1 reads as a boolean and YAML 1.2 as text. */
const yaml11Booleans: ReadonlyMap<string, boolean> = new Map([
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

/**
 * The plain value of a document, and the document's tree made free of aliases and merge keys, so that it can be edited
 * in place. Repetition is counted before it is made, so a YAML bomb costs nothing.
 */
export function resolveDocument(
  document: Document,
  { maxAliasNodes = manifestLimits.aliasNodes as number } = {},
): {
  readonly value: unknown;
  readonly offsetFindings: readonly OffsetFinding[];
} {
  const walk: ResolveWalk = {
    anchors: new Map(),
    findings: [],
    visited: 0,
    repeated: 0,
    maxAliasNodes,
    exhausted: false,
  };
  const [contents, value] = resolveNode(document.contents, [], walk);
  document.contents = contents as typeof document.contents;
  return { value, offsetFindings: walk.findings };
}

function resolveNode(node: Node | null, path: FieldPath, walk: ResolveWalk): [Node | null, unknown] {
  if (node === null || walk.exhausted) return [node, null];
  if (isAlias(node)) return resolveAlias(node, path, walk);
  if (path.length > manifestLimits.depth)
    return giveUp(node, { path, walk, message: `nested more than ${manifestLimits.depth} levels deep` });
  const anchor = openAnchor(node, walk);
  const before = walk.visited;
  walk.visited += 1;
  const value = plainValue(node, path, walk);
  if (anchor !== undefined) anchor.size = walk.visited - before;
  return [node, value];
}

function plainValue(node: Node, path: FieldPath, walk: ResolveWalk): unknown {
  if (isScalar(node)) return scalarValue(node, path, walk);
  if (isMap(node)) return mapValue(node, path, walk);
  if (isSeq(node)) {
    const values: unknown[] = [];
    node.items.forEach((item, index) => {
      const [resolved, value] = resolveNode(item as Node | null, [...path, index], walk);
      node.items[index] = resolved;
      values.push(value);
    });
    return values;
  }
  addError(walk, { node, path, code: "unreadable", message: "this YAML construct has no meaning in a manifest" });
  return null;
}

function openAnchor(node: Node, walk: ResolveWalk): Anchor | undefined {
  if (!("anchor" in node) || node.anchor === undefined) return undefined;
  const anchor: Anchor = { node, size: undefined };
  walk.anchors.set(node.anchor as string, anchor);
  delete node.anchor;
  return anchor;
}

function resolveAlias(
  node: Node & { readonly source: string },
  path: FieldPath,
  walk: ResolveWalk,
): [Node | null, unknown] {
  const anchor = walk.anchors.get(node.source);
  if (anchor === undefined) {
    addError(walk, {
      node,
      path,
      code: "unreadable",
      message: `the alias *${node.source} refers to an anchor that is not defined above it`,
    });
    return [null, null];
  }
  if (anchor.size === undefined) {
    addError(walk, { node, path, code: "unreadable", message: `the alias *${node.source} refers to itself` });
    return [null, null];
  }
  walk.repeated += anchor.size;
  if (walk.repeated > walk.maxAliasNodes) {
    const count = walk.maxAliasNodes.toLocaleString("en-US");
    return giveUp(node, { path, walk, message: `aliases repeat more than ${count} nodes; refusing to unfold them` });
  }
  const copy = anchor.node.clone() as Node;
  if (node.comment) copy.comment = node.comment;
  return resolveNode(copy, path, walk);
}

/** The document is too large: report it once and stop. */
function giveUp(
  node: Node,
  { path, walk, message }: { path: FieldPath; walk: ResolveWalk; message: string },
): [null, null] {
  walk.exhausted = true;
  addError(walk, { node, path: path.slice(0, 1), code: "unreadable", message });
  return [null, null];
}

function scalarValue(node: Scalar, path: FieldPath, walk: ResolveWalk): unknown {
  const { value } = node;
  if (typeof value === "string" && node.type === Scalar.PLAIN && node.tag === undefined) {
    const meant = yaml11Booleans.get(value);
    if (meant !== undefined) {
      const message = `unquoted ${value} is read as the boolean ${meant}, as kubectl does`;
      const advice = `write ${meant}, or quote it: "${value}"`;
      walk.findings.push({
        severity: "warning",
        code: "yaml-1.1-boolean",
        offset: offsetOf(node),
        path,
        message,
        advice,
      });
      node.value = meant;
      return meant;
    }
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    addError(walk, { node, path, code: "unreadable", message: `${node.source ?? value} is not a JSON number` });
    return null;
  }
  if (typeof value === "bigint") {
    const number = Number(value);
    if (Number.isSafeInteger(number)) node.value = number; // the tree keeps larger ones exactly, for printing
    return number;
  }
  return value ?? null;
}

function mapValue(node: YAMLMap, path: FieldPath, walk: ResolveWalk): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  const kept: Pair[] = [];
  const merged: Pair[] = [];
  for (const pair of node.items) {
    const key = keyOf(pair.key, path, walk);
    if (key === undefined) continue;
    const [resolved, field] = resolveNode((pair.value ?? null) as Node | null, [...path, key], walk);
    pair.value = resolved;
    if (key === "<<" && isPlain(pair.key)) {
      merged.push(...pairsToMerge(resolved, path, walk));
    } else if (Object.hasOwn(value, key)) {
      const message = `the key ${key} is written twice`;
      addError(walk, { node: pair.key as Node, path: [...path, key], code: "duplicate-field", message });
    } else {
      value[key] = field;
      kept.push(pair);
    }
  }
  for (const pair of merged) {
    const key = keyText(pair.key as Scalar);
    if (Object.hasOwn(value, key)) continue; // what is written here wins over what is merged in
    value[key] = valueOfPair(pair, [...path, key], walk);
    kept.push(pair);
  }
  node.items = kept;
  return value;
}

function valueOfPair(pair: Pair, path: FieldPath, walk: ResolveWalk): unknown {
  return resolveNode((pair.value ?? null) as Node | null, path, walk)[1];
}

/** `<<: *base` or `<<: [*a, *b]`; the first map that has a key wins. */
function pairsToMerge(node: Node | null, path: FieldPath, walk: ResolveWalk): readonly Pair[] {
  if (isMap(node)) return node.items;
  if (isSeq(node)) return node.items.flatMap((item) => pairsToMerge(item as Node | null, path, walk));
  if (node !== null)
    addError(walk, { node, path: [...path, "<<"], code: "unreadable", message: "<< can only merge maps" });
  return [];
}

function keyOf(key: unknown, path: FieldPath, walk: ResolveWalk): string | undefined {
  if (!isScalar(key)) {
    const node = key as Node | null;
    addError(walk, { node, path, code: "unreadable", message: "the keys of a manifest must be plain strings" });
    return undefined;
  }
  const text = keyText(key);
  if (text === "__proto__") {
    addError(walk, {
      node: key,
      path: [...path, text],
      code: "unreadable",
      message: "the key __proto__ is not allowed",
    });
    return undefined;
  }
  return text;
}

function keyText(key: Scalar): string {
  return isPlain(key) && key.source !== undefined ? key.source : String(key.value ?? "null");
}

function isPlain(node: unknown): boolean {
  return isScalar(node) && node.type === Scalar.PLAIN;
}

function addError(
  walk: ResolveWalk,
  { node, path, code, message }: { node: Node | null; path: FieldPath; code: ProblemCode; message: string },
): void {
  walk.findings.push({ severity: "error", code, offset: offsetOf(node), path, message });
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}
