import type { Draw } from "../../differential/draw.ts";
import { keys, poolNames, teams } from "../../differential/names.ts";
import type { PlainObject, RequirementItem } from "../../differential/problem.ts";
import { nodeClassRef, randomTaints } from "../../differential/random-pools.ts";
import { randomRequirement } from "../../differential/random-requirements.ts";
import type { NodeCatalogue } from "./catalogue.ts";
import type { Has } from "./problem.ts";

/** A pool, and what its nodes have from it. */
export interface PoolDraft {
  readonly name: string;
  readonly object: PlainObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacityTypes: readonly string[];
  readonly consolidateAfterSeconds: number;
  /** Fields of its claims. */
  readonly claimSpec: object;
  readonly taints: readonly object[];
  /** Its hash, if it has one. */
  readonly hash?: string;
}

export interface PoolSources {
  readonly catalogue: NodeCatalogue;
  readonly has: Has;
}

const bootTaint = { key: "example.com/boot", effect: "NoSchedule" };

export function disruptedPools(draw: Draw, sources: PoolSources): readonly PoolDraft[] {
  return poolNames.slice(0, draw.pick([1, 1, 2, 2, 3])).map((name) => poolDraft(draw, name, sources));
}

function poolDraft(draw: Draw, name: string, { catalogue, has }: PoolSources): PoolDraft {
  const isStatic = has("static") && draw.chance(0.6);
  const capacityTypes = has("spot") ? ["spot"] : poolCapacityTypes(draw, catalogue);
  const labels = { ...draw.maybe(has("labels") ? 0.6 : 0.05, () => ({ [keys.team]: draw.pick(teams) })) };
  const taints = draw.chance(has("taints") ? 0.6 : 0.03) ? randomTaints(draw) : [];
  const startupTaints = has("taints") && draw.chance(0.3) ? [bootTaint] : [];
  const consolidateAfterSeconds = draw.pick(has("times") ? [0, 30, 600, 3600, -1] : [0, 0, 0, 0, 0, 600, -1]);
  const hash = has("hashes") ? "1234" : undefined;
  const claimSpec = {
    nodeClassRef,
    expireAfter: draw.pick(["720h", "720h", "Never", "25h"]),
    ...draw.maybe(has("grace-period") ? 0.7 : 0.05, () => ({ terminationGracePeriod: "10m" })),
    ...(taints.length > 0 && { taints }),
    ...(startupTaints.length > 0 && { startupTaints }),
  };
  const object: PlainObject = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: {
      name,
      ...(hash !== undefined && { annotations: hashAnnotations(hash) }),
      ...draw.maybe(has("odd-pools") ? 0.2 : 0, () => ({ deletionTimestamp: "2026-01-15T11:00:00Z" })),
    },
    spec: {
      ...(isStatic ? staticFields(draw) : dynamicFields(draw, has)),
      disruption: {
        consolidateAfter: consolidateAfterSeconds < 0 ? "Never" : `${consolidateAfterSeconds}s`,
        consolidationPolicy: policy(draw, has),
        budgets: draw.chance(has("budgets") ? 0.9 : 0.1) ? randomBudgets(draw) : [{ nodes: "100%" }],
      },
      template: {
        ...(Object.keys(labels).length > 0 && { metadata: { labels } }),
        spec: { ...claimSpec, requirements: poolRequirements(draw, { catalogue, has, capacityTypes }) },
      },
    },
    ...draw.maybe(has("odd-pools") ? 0.3 : 0, () => notReady),
  };
  return {
    name,
    object,
    labels,
    capacityTypes,
    consolidateAfterSeconds: Math.max(0, consolidateAfterSeconds),
    claimSpec,
    taints,
    ...(hash !== undefined && { hash }),
  };
}

export function hashAnnotations(hash: string, version = "v3"): Readonly<Record<string, string>> {
  return { "karpenter.sh/nodepool-hash": hash, "karpenter.sh/nodepool-hash-version": version };
}

const notReady = {
  status: { conditions: [{ type: "NodeClassReady", status: "False", reason: "NotReady", message: "" }] },
};

function poolCapacityTypes(draw: Draw, { hasReservations }: NodeCatalogue): readonly string[] {
  if (hasReservations) {
    return draw.pick([
      ["reserved", "on-demand"],
      ["reserved", "on-demand", "spot"],
      ["reserved"],
      ["on-demand", "spot"],
    ]);
  }
  return draw.pick([["on-demand"], ["on-demand"], ["spot"], ["spot", "on-demand"]]);
}

function policy(draw: Draw, has: Has): string {
  if (has("balanced")) return draw.pick(["Balanced", "Balanced", "Balanced", "WhenEmptyOrUnderutilized", "WhenEmpty"]);
  return draw.pick(["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "WhenEmpty"]);
}

function staticFields(draw: Draw): object {
  return {
    replicas: draw.count(0, 5),
    ...draw.maybe(0.6, () => ({ limits: { nodes: String(draw.count(0, 6)) } })),
  };
}

function dynamicFields(draw: Draw, has: Has): object {
  return {
    ...draw.maybe(0.25, () => ({ weight: draw.pick([1, 10, 50, 100]) })),
    ...draw.maybe(has("limits") ? 0.7 : 0, () => ({
      limits: {
        ...draw.maybe(0.7, () => ({ cpu: String(draw.pick([0, 4, 8, 16, 32, 64])) })),
        ...draw.maybe(0.3, () => ({ memory: `${draw.pick([8, 32, 128])}Gi` })),
      },
    })),
  };
}

function poolRequirements(
  draw: Draw,
  { catalogue, has, capacityTypes }: PoolSources & { readonly capacityTypes: readonly string[] },
): readonly RequirementItem[] {
  return [
    { key: keys.capacityType, operator: "In", values: capacityTypes },
    ...(catalogue.catalogue === "kwok" && draw.chance(0.9)
      ? [
          { key: keys.arch, operator: "In", values: ["amd64"] },
          { key: keys.os, operator: "In", values: ["linux"] },
        ]
      : []),
    ...(has("min-values") && draw.chance(0.8)
      ? [{ key: keys.instanceType, operator: "Exists", minValues: draw.pick([2, 3, 5, 12, 20]) }]
      : []),
    ...(has("min-values") && draw.chance(0.2)
      ? [{ key: keys.zone, operator: "Exists", minValues: draw.pick([2, 3]) }]
      : []),
    ...(has("requirements")
      ? draw
          .times(draw.pick([1, 1, 2]), () => randomRequirement(draw, catalogue))
          .filter(({ key }) => key !== keys.nodePool)
      : []),
  ];
}

const reasons = ["Empty", "Drifted", "Underutilized"] as const;

/** Numbers and shares, for some reasons or all, at some times or always; seldom one that cannot be read. */
function randomBudgets(draw: Draw): readonly object[] {
  return draw.times(draw.pick([1, 1, 2, 3, 5]), () => ({
    nodes: draw.chance(0.5)
      ? String(draw.pick([0, 1, 1, 2, 3, 5]))
      : `${draw.pick([0, 1, 5, 10, 15, 33, 50, 99, 100])}%`,
    ...draw.maybe(0.4, () => ({ reasons: draw.some(reasons, 1, 2) })),
    ...draw.maybe(0.4, () => draw.pick(windows)),
  }));
}

/** Windows around noon, which is about the time of a problem. */
const windows = [
  { schedule: "0 12 * * *", duration: "1h" },
  { schedule: "0 11 * * *", duration: "1h" },
  { schedule: "0 10 * * *", duration: "1h59m" },
  { schedule: "*/5 * * * *", duration: "5m" },
  { schedule: "*/30 * * * *", duration: "1m" },
  { schedule: "@daily", duration: "12h" },
  { schedule: "@hourly", duration: "10m" },
  { schedule: "0 9 * * mon-fri", duration: "8h" },
  { schedule: "0 9 * * 0,6", duration: "8h" },
  { schedule: "0 0 15 1 *", duration: "24h" },
  { schedule: "59 11 15 JAN THU", duration: "1m" },
] as const;
