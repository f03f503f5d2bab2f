import { describe, expect, it } from "vitest";
import { instanceType } from "../../../test/builders/instance-type.ts";
import { type NodePoolBuilder, nodePool } from "../../../test/builders/node-pool.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { annotations, kwokLabels, labels } from "../../api/labels.ts";
import { isDueForInstanceTypeCheck, isInstanceTypeNotFound, poolDriftReason } from "./drift-reason.ts";

const policy = labelPolicy("kwok");
const hour = 60 * 60_000;

type Told = Readonly<Record<string, string>>;

function claim(told: Told, notes: Told = {}): NodeClaim {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: "a", labels: told, annotations: notes, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { nodeClassRef, requirements: [], expireAfter: "720h" },
  };
}

function poolOf(builder: NodePoolBuilder, notes: Told = {}): NodePool {
  const pool = builder.build([]).nodePool;
  return { ...pool, metadata: { ...pool.metadata, annotations: notes } };
}

function stamp(hash: string, version: string): Told {
  return { [annotations.nodePoolHash]: hash, [annotations.nodePoolHashVersion]: version };
}

describe("03:M-7 static drift", () => {
  const { template } = nodePool().build([]).nodePool.spec;
  const changes: Readonly<Record<string, NodePoolBuilder>> = {
    annotations: nodePool().annotation("note", "x"),
    labels: nodePool().label("team", "x"),
    taints: nodePool().taint("dedicated=x:NoSchedule"),
    "startup taints": nodePool().startupTaint("wait=x:NoSchedule"),
    "grace period": nodePool().gracePeriod("5m"),
  };
  const spec = (part: object): NodePool["spec"]["template"] => ({ ...template, spec: { ...template.spec, ...part } });
  const templates = [
    ...Object.entries(changes).map(([field, builder]) => ({
      field,
      changed: builder.build([]).nodePool.spec.template,
    })),
    { field: "class name", changed: spec({ nodeClassRef: { ...template.spec.nodeClassRef, name: "other" } }) },
    { field: "expireAfter", changed: spec({ expireAfter: "1h" }) },
  ];

  it.each(templates)("a change of $field drifts", ({ changed }) => {
    const of = (hash: string) =>
      poolDriftReason(claim({}, stamp(nodePoolHash(template), "v")), poolOf(nodePool(), stamp(hash, "v")), policy);
    expect(of(nodePoolHash(changed))).toBe("NodePoolDrifted");
    expect(of(nodePoolHash(template))).toBeUndefined();
  });

  it.each([
    { what: "no hash on the pool", owner: {}, own: stamp("1", "v") },
    { what: "no hash on the claim", owner: stamp("2", "v"), own: {} },
    { what: "another version", owner: stamp("2", "ts-v1"), own: stamp("1", "v3") },
    { what: "no version", owner: stamp("2", "v"), own: { [annotations.nodePoolHash]: "1" } },
  ])("$what says nothing", ({ owner, own }) => {
    expect(poolDriftReason(claim({}, own), poolOf(nodePool(), owner), policy)).toBeUndefined();
  });

  it("01 §6.3 while hash versions change, a drifted claim stays drifted", () => {
    const at = { status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
    const marked = (reason: string): NodeClaim => ({
      ...claim({}, stamp("1", "ts-v1")),
      status: { conditions: [{ type: "Drifted", reason, ...at }] },
    });
    const pool = poolOf(nodePool(), stamp("2", "v3"));
    expect(poolDriftReason(marked("NodePoolDrifted"), pool, policy)).toBe("NodePoolDrifted");
    expect(poolDriftReason(marked("RequirementsDrifted"), pool, policy)).toBeUndefined();
    const done = poolOf(nodePool(), stamp("1", "ts-v1"));
    expect(poolDriftReason(marked("NodePoolDrifted"), done, policy)).toBeUndefined();
  });

  it("comes before requirements", () => {
    const pool = poolOf(nodePool().zones("b"), stamp("2", "v"));
    expect(poolDriftReason(claim({ [labels.zone]: "a" }, stamp("1", "v")), pool, policy)).toBe("NodePoolDrifted");
  });
});

describe("03:M-7 requirements", () => {
  const told = { [labels.zone]: "a", size: "4", [labels.capacityType]: "spot" };
  const drifted = "RequirementsDrifted";

  it.each([
    { pool: nodePool().requires("zone", "In", "a", "b"), reason: undefined },
    { pool: nodePool().requires("zone", "In", "b"), reason: drifted },
    { pool: nodePool().requires("zone", "NotIn", "b"), reason: undefined },
    { pool: nodePool().requires("zone", "NotIn", "a"), reason: drifted },
    { pool: nodePool().requires("missing", "NotIn", "a"), reason: undefined },
    { pool: nodePool().requires("size", "Exists"), reason: undefined },
    { pool: nodePool().requires("missing", "Exists"), reason: drifted },
    { pool: nodePool().requires("missing", "In", "x"), reason: drifted },
    { pool: nodePool().requires("missing", "DoesNotExist"), reason: undefined },
    { pool: nodePool().requires("size", "DoesNotExist"), reason: drifted },
    { pool: nodePool().requires("size", "Gt", "3").requires("size", "Lt", "5"), reason: undefined },
    { pool: nodePool().requires("size", "Gt", "4"), reason: drifted },
    { pool: nodePool().requires("size", "Lt", "4"), reason: drifted },
    { pool: nodePool().requires("zone", "In", "a").requires("capacity-type", "In", "on-demand"), reason: drifted },
    // A well-known label the claim lacks drifts all the same: this is a machine, not a plan.
    { pool: nodePool().requires(labels.arch, "In", "amd64"), reason: drifted },
  ])("case %#", ({ pool, reason }) => {
    expect(poolDriftReason(claim(told), poolOf(pool), policy)).toBe(reason);
  });
});

describe("03:M-7 the catalogue", () => {
  const types = [instanceType("m").zones("a", "b").soldOutIn("a").build()];
  const bought = (capacityType: string, zone = "a", more: Told = {}) =>
    claim({ [labels.instanceType]: "m", [labels.zone]: zone, [labels.capacityType]: capacityType, ...more });

  it("is checked for claims older than an hour", () => {
    const created = Date.parse("2026-01-01T00:00:00Z");
    expect(isDueForInstanceTypeCheck(claim({}), created + hour)).toBe(false);
    expect(isDueForInstanceTypeCheck(claim({}), created + hour + 1)).toBe(true);
  });

  it.each([
    { what: "a type sold, though sold out", one: bought("spot"), isUnknown: false },
    { what: "no type label", one: claim({ [labels.zone]: "a" }), isUnknown: true },
    { what: "an unknown type", one: claim({ [labels.instanceType]: "x" }), isUnknown: true },
    { what: "a zone it is not sold in", one: bought("spot", "c"), isUnknown: true },
    { what: "a capacity type it is not sold as", one: bought("reserved", "c"), isUnknown: true },
  ])("$what: unknown is $isUnknown", ({ one, isUnknown }) => {
    expect(isInstanceTypeNotFound(one, types, policy)).toBe(isUnknown);
  });

  it("a type without offerings is unknown", () => {
    const none = { ...instanceType("m").build(), offerings: [] };
    expect(isInstanceTypeNotFound(bought("spot"), [none], policy)).toBe(true);
  });

  describe("reserved", () => {
    const reserved = bought("reserved", "a", { [kwokLabels.reservationId]: "r-1" });
    const sold = (capacityTypes: readonly string[], id = "r-1") => {
      const all = instanceType("m").zones("a").reserved(id, { zone: "a", capacity: 1 }).build();
      const isSold = (type: string | undefined) => capacityTypes.includes(type ?? "");
      const offerings = all.offerings.filter((one) => isSold(one.requirements.get(labels.capacityType).singleValue));
      return [{ ...all, offerings }];
    };

    it.each([
      { capacityTypes: ["reserved"], isUnknown: false },
      { capacityTypes: ["on-demand"], isUnknown: false },
      { capacityTypes: ["reserved", "on-demand"], isUnknown: false },
      { capacityTypes: ["spot"], isUnknown: true },
    ])("sold as $capacityTypes: unknown is $isUnknown", ({ capacityTypes, isUnknown }) => {
      expect(isInstanceTypeNotFound(reserved, sold(capacityTypes), policy)).toBe(isUnknown);
    });

    it("another reservation is no drift", () => {
      expect(isInstanceTypeNotFound(reserved, sold(["reserved"], "r-2"), policy)).toBe(false);
    });
  });
});
