import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";

/** The parent path of each field that documentation shows as a fragment, by kind. */
const poolTemplate = ["spec", "template", "spec"];
const parentPathsByKind: Readonly<Record<string, Readonly<Record<string, FieldPath>>>> = {
  NodePool: {
    spec: [],
    metadata: [],
    template: ["spec"],
    disruption: ["spec"],
    limits: ["spec"],
    weight: ["spec"],
    replicas: ["spec"],
    requirements: poolTemplate,
    taints: poolTemplate,
    startupTaints: poolTemplate,
    nodeClassRef: poolTemplate,
    kubelet: poolTemplate,
    expireAfter: poolTemplate,
    terminationGracePeriod: poolTemplate,
  },
};
/** In other kinds every field is directly under `spec`. */
const kindsWithFlatSpec = ["Provisioner", "EC2NodeClass", "AWSNodeTemplate"];

export interface WrappedFragment {
  readonly partial: Record<string, unknown>;
  /** The path in the fragment of a path in the partial object. */
  readonly origin: (path: FieldPath) => FieldPath;
}

/** A fragment as a partial object of a kind: `limits:` alone goes under `spec`, a lone requirement into the list of them. */
export function wrapFragment(fragment: unknown, kind: string): WrappedFragment | undefined {
  if (Array.isArray(fragment)) return wrapList(fragment, kind);
  if (!isRecord(fragment)) return undefined;
  if (isRequirement(fragment)) {
    const wrapped = wrapList([fragment], kind);
    const depth = (path: FieldPath) => path.indexOf(0) + 1;
    return wrapped && { ...wrapped, origin: (path) => (depth(path) > 0 ? path.slice(depth(path)) : []) };
  }
  return wrapFields(fragment, kind);
}

function wrapFields(fragment: Record<string, unknown>, kind: string): WrappedFragment | undefined {
  const partial: Record<string, unknown> = {};
  const prefixes = new Map<string, FieldPath>();
  for (const [field, value] of Object.entries(fragment)) {
    const prefix = parentPathOf(field, kind);
    if (prefix === undefined) return undefined;
    prefixes.set(field, prefix);
    setAtPath(partial, [...prefix, field], value);
  }
  const origin = (path: FieldPath): FieldPath => {
    for (const [field, prefix] of prefixes) {
      const whole = [...prefix, field];
      if (whole.every((step, index) => path[index] === step)) return path.slice(prefix.length);
    }
    return [];
  };
  return { partial, origin };
}

function parentPathOf(field: string, kind: string): FieldPath | undefined {
  if (kindsWithFlatSpec.includes(kind)) return field === "spec" || field === "metadata" ? [] : ["spec"];
  const places = Object.hasOwn(parentPathsByKind, kind) ? parentPathsByKind[kind] : undefined;
  return places !== undefined && Object.hasOwn(places, field) ? places[field] : undefined;
}

function wrapList(items: readonly unknown[], kind: string): WrappedFragment | undefined {
  const field = items.every(isRequirement) ? "requirements" : items.every(isTaint) ? "taints" : undefined;
  const prefix = field === undefined || kind.endsWith("Class") ? undefined : parentPathOf(field, kind);
  if (field === undefined || prefix === undefined || items.length === 0) return undefined;
  const partial: Record<string, unknown> = {};
  setAtPath(partial, [...prefix, field], items);
  return { partial, origin: (path) => path.slice(prefix.length + 1) };
}

function setAtPath(object: Record<string, unknown>, path: FieldPath, value: unknown): void {
  let parent = object;
  for (const step of path.slice(0, -1)) {
    const next = isRecord(parent[step]) ? parent[step] : {};
    parent[step] = next;
    parent = next;
  }
  const key = path.at(-1);
  if (key !== undefined) parent[key] = value;
}

function isRequirement(item: unknown): boolean {
  return isRecord(item) && "key" in item && "operator" in item;
}

function isTaint(item: unknown): boolean {
  return isRecord(item) && "key" in item && "effect" in item;
}
