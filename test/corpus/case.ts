import { type KarpenterKindName, karpenterKinds } from "../../src/api/kinds/karpenter-kinds.ts";
import type { Provider } from "../../src/api/label-policy.ts";
import type { KubeObject } from "../../src/api/object.ts";

/**
 * One object and what an API server with our CRDs must say of it. An object with a `status` is a status update: the
 * main endpoint drops the status before it looks, so that nothing could be refused there.
 */
export interface Case {
  /** Behaviour with its rule: `01:NP13 In without values`. */
  readonly title: string;
  readonly verdict: "accept" | "refuse";
  readonly object: KubeObject;
  /** The stored object, when the case is an update. */
  readonly old?: KubeObject;
  /** Where the verdict holds; everywhere when absent. */
  readonly providers?: readonly Provider[];
  /** Fields of the stored form, by dotted path, when the case is about defaulting or pruning. `undefined`: absent. */
  readonly stored?: Readonly<Record<string, unknown>>;
}

/** Changes to a base object by dotted path; `undefined` removes the field. */
export type Changes = Readonly<Record<string, unknown>>;

/** A copy of an object with some fields changed: `{"spec.limits.cpu": 1, "spec.weight": undefined}`; `[0]` indexes a list. */
export function change<T extends KubeObject>(base: T, changes: Changes): T {
  const copy = structuredClone(base);
  for (const [path, value] of Object.entries(changes)) setAt(copy, steps(path), structuredClone(value)); // tables share values
  return copy;
}

/** `spec.labels["a.b/c"][0]` → its steps. Quote keys that hold dots or slashes. */
function steps(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, plain]) => quoted ?? (index === undefined ? (plain ?? "") : Number(index)),
  );
}

function setAt(target: unknown, path: readonly (string | number)[], value: unknown): void {
  const [step, ...rest] = path;
  if (step === undefined || typeof target !== "object" || target === null) return;
  const holder = target as Record<string | number, unknown>;
  if (rest.length === 0) {
    if (value === undefined) delete holder[step];
    else holder[step] = value;
    return;
  }
  if (typeof holder[step] !== "object" || holder[step] === null) holder[step] = typeof rest[0] === "number" ? [] : {};
  setAt(holder[step], rest, value);
}

export function getAt(target: unknown, path: string): unknown {
  return steps(path).reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[step] : undefined,
    target,
  );
}

/** The smallest object of each kind that is accepted everywhere. */
export function base(kind: KarpenterKindName): KubeObject {
  const { group, version } = karpenterKinds.find((one) => one.kind === kind) ?? karpenterKinds[0];
  const nodeClassRef = { group: "karpenter.test.sh", kind: "TestNodeClass", name: "default" };
  const specs: Record<KarpenterKindName, unknown> = {
    NodePool: { template: { spec: { requirements: [], nodeClassRef } } },
    NodeClaim: { requirements: [], nodeClassRef },
    NodeOverlay: { requirements: [] },
    CapacityBuffer: { podTemplateRef: { name: "web" }, replicas: 1 },
    EC2NodeClass: {
      subnetSelectorTerms: [{ id: "subnet-1" }],
      securityGroupSelectorTerms: [{ id: "sg-1" }],
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "node",
    },
    KWOKNodeClass: {},
  };
  const namespace = kind === "CapacityBuffer" ? { namespace: "default" } : {};
  return { apiVersion: `${group}/${version}`, kind, metadata: { name: "case", ...namespace }, spec: specs[kind] };
}

/** The stored object an update meets; undefined: the case is a creation. A status is only ever updated. */
export function storedBefore({ object, old }: Case): KubeObject | undefined {
  return old ?? (updatesStatus(object) ? change(object, { status: undefined }) : undefined);
}

export function updatesStatus(object: KubeObject): boolean {
  return Object.hasOwn(object, "status");
}

export type Extra = Omit<Case, "title" | "verdict" | "object" | "old">;

/** Writes cases for one kind tersely: `accept(title, changes)`, `refuse(title, changes)`. */
export function casesFor(kind: KarpenterKindName) {
  const start = base(kind);
  const made =
    (verdict: Case["verdict"]) =>
    (title: string, changes: Changes, extra: Extra = {}): Case => ({
      title: `${title} (${kind})`,
      verdict,
      object: change(start, changes),
      ...extra,
    });
  const update =
    (verdict: Case["verdict"]) =>
    (title: string, before: Changes, after: Changes, extra: Extra = {}): Case => ({
      title: `${title} (${kind})`,
      verdict,
      old: change(start, before),
      object: change(start, after),
      ...extra,
    });
  /** One case a value, all at one path: the table's rows are the values. */
  const each =
    (verdict: Case["verdict"]) =>
    (title: string, path: string, values: readonly unknown[], extra: Extra = {}): readonly Case[] =>
      values.map((value) => made(verdict)(`${title} ${show(value)}`, { [path]: value }, extra));
  /** Values of the wrong type by path; `beside` makes the rest of the object right. */
  const refuseTypes = (rule: string, wrong: Changes, beside: Changes = {}): readonly Case[] =>
    Object.entries(wrong).map(([path, value]) =>
      made("refuse")(`${rule} type of ${path}: ${show(value)}`, { ...beside, [path]: value }),
    );
  return {
    accept: made("accept"),
    refuse: made("refuse"),
    acceptUpdate: update("accept"),
    refuseUpdate: update("refuse"),
    acceptEach: each("accept"),
    refuseEach: each("refuse"),
    refuseTypes,
  };
}

export type CaseMaker = ReturnType<typeof casesFor>;

/** A value for a title: in JSON, the middle of long ones left out. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length <= 60 ? text : `${text.slice(0, 28)}…${text.slice(-28)} (${text.length})`;
}
