import { Document, isMap, isScalar, isSeq, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isRecord } from "../object.ts";
import { type FieldPath, formatPath } from "../problem.ts";
import { yamlKeyName, yamlNodeAt, yamlPairAt } from "./document.ts";
import { yamlWriteOptions } from "./parse.ts";

/** A field that has moved; its comments move with it. */
interface Relocation {
  readonly from: FieldPath;
  readonly to: FieldPath;
  /** The tree it comes from, if that is another document. */
  readonly root?: Node | null;
}

export interface RewriteOptions {
  /** The new content of the document. */
  readonly target: unknown;
  readonly relocations: readonly Relocation[];
  /** False when the document becomes another kind, so that equal paths mean different things. */
  readonly inPlace: boolean;
}

/** The document with new content, keeping order, style and comments of the old one where fields still exist. */
export function rewriteDocument(document: Document, { target, relocations, inPlace }: RewriteOptions): Document {
  const moved = new Map(relocations.map((one) => [formatPath(one.to), one]));
  const rewritten = new Document(null, yamlWriteOptions);
  rewritten.commentBefore = document.commentBefore ?? null;
  rewritten.comment = document.comment ?? null;
  rewritten.contents = build(target, {
    root: document.contents as Node | null,
    old: inPlace ? (document.contents as Node | null) : null,
    path: [],
    moved,
  }) as typeof rewritten.contents;
  if (!inPlace && rewritten.contents !== null) rewritten.contents.commentBefore = leadingComment(document);
  return rewritten;
}

/** The comment above the object; it may be attached to the whole object or to its first key. */
function leadingComment({ contents }: Document): string | null {
  const first = isMap(contents) ? contents.items[0]?.key : undefined;
  return contents?.commentBefore ?? (isScalar(first) ? first.commentBefore : null) ?? null;
}

/** A new document without comments. */
export function newYamlDocument(object: unknown): Document {
  return new Document(object, { ...yamlWriteOptions, aliasDuplicateObjects: false });
}

interface RewriteSite {
  readonly root: Node | null;
  /** The old node at this path, if any. */
  readonly old: Node | null;
  readonly path: FieldPath;
  readonly moved: ReadonlyMap<string, Relocation>;
}

function build(value: unknown, site: RewriteSite): Node {
  const old = oldNodeOf(site);
  if (isRecord(value)) return buildMap(value, isMap(old) ? old : undefined, site);
  if (Array.isArray(value)) return buildSeq(value, isSeq(old) ? old : undefined, site);
  if (isScalar(old) && isSameScalar(old.value, value)) return old.clone() as Scalar;
  const fresh = new Scalar(value);
  if (isScalar(old)) keepScalarStyle(fresh, old, value);
  return fresh;
}

function oldNodeOf(site: RewriteSite): Node | null {
  const relocation = site.moved.get(formatPath(site.path));
  if (relocation === undefined) return site.old;
  return yamlNodeAt(relocation.root ?? site.root, relocation.from) ?? site.old;
}

function keepScalarStyle(fresh: Scalar, old: Scalar, value: unknown): void {
  fresh.comment = old.comment ?? null;
  fresh.commentBefore = old.commentBefore ?? null;
  if (old.spaceBefore === true) fresh.spaceBefore = true;
  if (typeof value === "string" && typeof old.value === "string" && old.type !== undefined) fresh.type = old.type;
}

function buildMap(value: Record<string, unknown>, old: YAMLMap | undefined, site: RewriteSite): YAMLMap {
  const map = new YAMLMap();
  if (old !== undefined) keepCollectionStyle(map, old);
  // A comment above the first field is attached to the whole map; it moves with that field.
  const first = old?.items[0];
  if (first !== undefined && site.path.length > 0 && value[yamlKeyName(first)] === undefined) map.commentBefore = null;
  const pairs = new Map((old?.items ?? []).map((pair) => [yamlKeyName(pair), pair]));
  // In the order of the target: it was made from the source, so it keeps the author's order.
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const pair = pairs.get(key);
    const child = { ...site, old: (pair?.value ?? null) as Node | null, path: [...site.path, key] };
    const keyPart = pair === undefined ? keyNode(key, child) : (pair.key as Node).clone();
    map.items.push(new Pair(keyPart, build(field, child)));
  }
  // An empty map in block style would be printed as nothing.
  if (map.items.length === 0) map.flow = true;
  return map;
}

/** A moved field brings the comments above its key. */
function keyNode(key: string, site: RewriteSite): Scalar {
  const fresh = new Scalar(key);
  const relocation = site.moved.get(formatPath(site.path));
  const step = relocation?.from.at(-1);
  if (relocation === undefined || step === undefined) return fresh;
  const parent = yamlNodeAt(relocation.root ?? site.root, relocation.from.slice(0, -1));
  const pair = yamlPairAt(parent, step);
  const above = isMap(parent) && parent.items[0] === pair ? parent.commentBefore : undefined;
  if (isScalar(pair?.key)) fresh.commentBefore = pair.key.commentBefore ?? above ?? null;
  return fresh;
}

function buildSeq(value: readonly unknown[], old: YAMLSeq | undefined, site: RewriteSite): YAMLSeq {
  const seq = new YAMLSeq();
  if (old !== undefined) keepCollectionStyle(seq, old);
  const unused = new Set((old?.items ?? []) as (Node | null)[]);
  value.forEach((item, index) => {
    const node = itemFor(item, { index, old, unused });
    if (node !== null) unused.delete(node);
    seq.items.push(build(item, { ...site, old: node, path: [...site.path, index] }));
  });
  if (seq.items.length === 0) seq.flow = true;
  return seq;
}

/** The old item that is equal; else the one at the same index, unless a later item equals it. */
function itemFor(
  item: unknown,
  { index, old, unused }: { index: number; old: YAMLSeq | undefined; unused: ReadonlySet<Node | null> },
): Node | null {
  const here = (old?.items[index] ?? null) as Node | null;
  if (here !== null && unused.has(here) && hasSameValue(here, item)) return here;
  for (const node of unused) if (node !== null && hasSameValue(node, item)) return node;
  return here !== null && unused.has(here) ? here : null;
}

function hasSameValue(node: unknown, value: unknown): boolean {
  if (isScalar(node)) return isSameScalar(node.value, value) || (node.value === undefined && value === null);
  if (isSeq(node)) {
    return (
      Array.isArray(value) &&
      value.length === node.items.length &&
      node.items.every((item, i) => hasSameValue(item, value[i]))
    );
  }
  if (!isMap(node) || !isRecord(value)) return node === null && value === null;
  return (
    Object.keys(value).length === node.items.length &&
    node.items.every(
      (pair) => Object.hasOwn(value, yamlKeyName(pair)) && hasSameValue(pair.value, value[yamlKeyName(pair)]),
    )
  );
}

/** The tree has large integers exactly, the object only as close as a number gets. */
function isSameScalar(written: unknown, value: unknown): boolean {
  return written === value || (typeof written === "bigint" && Number(written) === value);
}

/** The object with the large integers of the tree it was read from, as bigints. */
export function withExactIntegers(object: unknown, node: unknown): unknown {
  if (isScalar(node) && typeof node.value === "bigint" && isSameScalar(node.value, object)) return node.value;
  if (isSeq(node) && Array.isArray(object)) return object.map((item, at) => withExactIntegers(item, node.items[at]));
  if (!isMap(node) || !isRecord(object)) return object;
  const pairs = new Map(node.items.map((pair) => [yamlKeyName(pair), pair.value]));
  return Object.fromEntries(
    Object.entries(object).map(([key, field]) => [key, withExactIntegers(field, pairs.get(key))]),
  );
}

function keepCollectionStyle(fresh: YAMLMap | YAMLSeq, old: YAMLMap | YAMLSeq): void {
  fresh.comment = old.comment ?? null;
  fresh.commentBefore = old.commentBefore ?? null;
  if (old.spaceBefore === true) fresh.spaceBefore = true;
  if (old.flow === true) fresh.flow = true;
}
