import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";

/** Where the fields people show on their own belong, by kind. */
const poolTemplate = ["spec", "template", "spec"];
const placesByKind: Readonly<Record<string, Readonly<Record<string, Path>>>> = {
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
/** In the other kinds everything stands right under `spec`. */
const underSpec = ["Provisioner", "EC2NodeClass", "AWSNodeTemplate"];

export interface Wrapped {
  readonly partial: Record<string, unknown>;
  /** Where a path of the partial object stands in the fragment. */
  readonly origin: (path: Path) => Path;
}

/** A fragment as a partial object of a kind: `limits:` alone goes under `spec`, a lone requirement into the list of them. */
export function wrapFragment(fragment: unknown, kind: string): Wrapped | undefined {
  if (Array.isArray(fragment)) return wrapList(fragment, kind);
  if (!isRecord(fragment)) return undefined;
  if (isRequirement(fragment)) {
    const wrapped = wrapList([fragment], kind);
    const depth = (path: Path) => path.indexOf(0) + 1;
    return wrapped && { ...wrapped, origin: (path) => (depth(path) > 0 ? path.slice(depth(path)) : []) };
  }
  return wrapFields(fragment, kind);
}

function wrapFields(fragment: Record<string, unknown>, kind: string): Wrapped | undefined {
  const partial: Record<string, unknown> = {};
  const prefixes = new Map<string, Path>();
  for (const [field, value] of Object.entries(fragment)) {
    const prefix = placeOfField(field, kind);
    if (prefix === undefined) return undefined;
    prefixes.set(field, prefix);
    put(partial, [...prefix, field], value);
  }
  const origin = (path: Path): Path => {
    for (const [field, prefix] of prefixes) {
      const whole = [...prefix, field];
      if (whole.every((step, index) => path[index] === step)) return path.slice(prefix.length);
    }
    return [];
  };
  return { partial, origin };
}

function placeOfField(field: string, kind: string): Path | undefined {
  if (underSpec.includes(kind)) return field === "spec" || field === "metadata" ? [] : ["spec"];
  const places = Object.hasOwn(placesByKind, kind) ? placesByKind[kind] : undefined;
  return places !== undefined && Object.hasOwn(places, field) ? places[field] : undefined;
}

function wrapList(items: readonly unknown[], kind: string): Wrapped | undefined {
  const field = items.every(isRequirement) ? "requirements" : items.every(isTaint) ? "taints" : undefined;
  const prefix = field === undefined || kind.endsWith("Class") ? undefined : placeOfField(field, kind);
  if (field === undefined || prefix === undefined || items.length === 0) return undefined;
  const partial: Record<string, unknown> = {};
  put(partial, [...prefix, field], items);
  return { partial, origin: (path) => path.slice(prefix.length + 1) };
}

function put(object: Record<string, unknown>, path: Path, value: unknown): void {
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
