import { budgetOutlook } from "../../api/budgets/budget-outlook.ts";
import type { Condition, Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import { ec2NodeClassHash, type HashedNodeClass } from "../../api/hash/ec2-node-class-hash.ts";
import { hashAnnotationKeys, nodePoolHashVersion } from "../../api/hash/hash-drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { budgetCause, poolBudgets } from "../../core/disruption/budgets.ts";
import { disruptionCandidates } from "../../core/disruption/candidate.ts";
import { poolDriftReason } from "../../core/disruption/drift-reason.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { verdictText } from "../../core/disruption/verdict-text.ts";
import { nodeClassesByKey, nodeClassKey } from "../../core/scenario/node-classes.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { disruptionScenarioOf } from "../../state/scenario.ts";
import { runSteps } from "../../util/steps.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { PreparedPlan } from "../plan/make-plan.ts";
import { projectObject } from "../snapshot/project-object.ts";

/** A node that the change makes drift. */
export interface DriftedNode {
  readonly node: string;
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly reason: DriftReason;
  /** Whether it would be replaced; otherwise something keeps it. */
  readonly isReplaced: boolean;
  /** What keeps it. */
  readonly keptBecause?: string | undefined;
  /** How many nodes of its NodePool the budgets let drift at a time, if it is replaced. */
  readonly atATime?: number | undefined;
  /** When budgets open that let none go now. */
  readonly notBefore?: string | undefined;
}

/** Completed objects, and the rules of their labels. */
type PlannedObjects = Pick<PreparedPlan, "objects" | "catalogue">;

type DriftReason = "NodePoolDrifted" | "RequirementsDrifted" | "NodeClassDrift";

/** Nodes that have not drifted before the change, and do after it; in order of names. */
export function driftedNodes(before: PlannedObjects, after: PreparedPlan): readonly DriftedNode[] {
  const reasons = driftReasons(before, after);
  if (reasons.size === 0) return [];
  const snapshot = snapshotWith(reasons, after);
  const { kept, paces } = driftOutlook(snapshot);
  return snapshot.cluster.nodes
    .flatMap(({ name, claim, nodePool = "" }): readonly DriftedNode[] => {
      const { name: nodeClaim = "" } = claim?.metadata ?? {};
      const reason = reasons.get(nodeClaim);
      if (reason === undefined) return [];
      const keptBecause = kept.get(name);
      const drifted = { node: name, nodeClaim, nodePool, reason };
      return keptBecause === undefined
        ? [{ ...drifted, isReplaced: true, ...paces.get(nodePool) }]
        : [{ ...drifted, isReplaced: false, keptBecause }];
    })
    .sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** Claims that drift, by name. */
function driftReasons(before: PlannedObjects, after: PreparedPlan): ReadonlyMap<string, DriftReason> {
  const was = new DriftView(before, undefined);
  const is = new DriftView(after, was);
  const known = new Set(new ObjectsByKind(before.objects).ofKind("NodeClaim").map(({ metadata }) => metadata.name));
  const found = new Map<string, DriftReason>();
  for (const claim of new ObjectsByKind(after.objects).ofKind("NodeClaim")) {
    const { name = "", deletionTimestamp } = claim.metadata;
    if (deletionTimestamp !== undefined || !known.has(name) || !mayDrift(claim)) continue;
    if (was.reasonOf(claim) !== undefined) continue;
    const reason = is.reasonOf(claim);
    if (reason !== undefined) found.set(name, reason);
  }
  return found;
}

/** A claim that has drifted already is not news. */
function mayDrift(claim: NodeClaim): boolean {
  const isTrue = (type: string): boolean => isStatusConditionTrue(claim as Conditioned, type);
  return isTrue("Launched") && !isTrue("Drifted");
}

/** Pools and node classes at one side of the change. */
class DriftView {
  readonly #pools: ReadonlyMap<string | undefined, NodePool>;
  readonly #classes: ReadonlyMap<string, KubeObject>;
  readonly #labelPolicy: LabelPolicy;
  /** The side before the change, if this is the one after it. */
  readonly #earlier: DriftView | undefined;
  readonly #hashes = new Map<KubeObject | NodePool, string>();

  constructor({ objects, catalogue }: PlannedObjects, earlier: DriftView | undefined) {
    this.#pools = new Map(new ObjectsByKind(objects).ofKind("NodePool").map((pool) => [pool.metadata.name, pool]));
    this.#classes = nodeClassesByKey(objects);
    this.#labelPolicy = catalogue.labelPolicy;
    this.#earlier = earlier;
  }

  reasonOf(claim: NodeClaim): DriftReason | undefined {
    const pool = this.#pools.get(claim.metadata.labels?.[labels.nodePool]);
    if (pool === undefined) return undefined;
    const made = this.#earlier?.poolHash(claim) ?? this.poolHash(claim);
    const template = stamped(pool, this.poolHash(claim));
    const reason = poolDriftReason(stamped(claim, made), template, this.#labelPolicy);
    if (reason !== undefined) return reason as DriftReason;
    const classMade = this.#earlier?.classHash(claim);
    return classMade === undefined || classMade === this.classHash(claim) ? undefined : "NodeClassDrift";
  }

  /** Of the template as it is on this side. */
  poolHash(claim: NodeClaim): string | undefined {
    const pool = this.#pools.get(claim.metadata.labels?.[labels.nodePool]);
    return pool && this.#hashOf(pool, () => nodePoolHash(pool.spec.template));
  }

  /** Clusters and snapshots are read without user data, so it is not compared. */
  classHash({ spec }: NodeClaim): string | undefined {
    const nodeClass = this.#classes.get(nodeClassKey(spec.nodeClassRef));
    if (nodeClass?.kind !== "EC2NodeClass") return undefined;
    return this.#hashOf(nodeClass, () =>
      ec2NodeClassHash((projectObject(nodeClass)?.spec ?? nodeClass.spec) as HashedNodeClass, {}),
    );
  }

  #hashOf(object: KubeObject | NodePool, make: () => string): string {
    const known = this.#hashes.get(object) ?? make();
    this.#hashes.set(object, known);
    return known;
  }
}

const { hash, version } = hashAnnotationKeys.nodePool;

function stamped<T extends { readonly metadata: KubeObject["metadata"] }>(object: T, value: string | undefined): T {
  if (value === undefined) return object;
  const annotations = { ...object.metadata.annotations, [hash]: value, [version]: nodePoolHashVersion };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The cluster after the change, in which these claims have drifted. */
function snapshotWith(
  reasons: ReadonlyMap<string, DriftReason>,
  { objects, options }: PreparedPlan,
): DisruptionSnapshot {
  const lastTransitionTime = rfc3339(options.nowMs);
  const drifted = objects.map((object) => {
    const reason = object.kind === "NodeClaim" ? reasons.get(object.metadata.name ?? "") : undefined;
    if (reason === undefined) return object;
    const status = (object.status ?? {}) as { readonly conditions?: readonly Condition[] };
    const condition = { type: "Drifted", status: "True", reason, message: "", lastTransitionTime };
    return { ...object, status: { ...status, conditions: [...(status.conditions ?? []), condition] } };
  });
  const choices = { mode: "default", allowsSpotToSpot: false, nominated: [] } as const;
  return disruptionScenarioOf(drifted, { ...options, ...choices });
}

type DriftPace = Pick<DriftedNode, "atATime" | "notBefore">;

interface DriftOutlook {
  /** Nodes that drift would not take, and why: their pods, themselves, or budgets that never open. */
  readonly kept: ReadonlyMap<string, string>;
  /** By NodePool. */
  readonly paces: ReadonlyMap<string, DriftPace>;
}

function driftOutlook(snapshot: DisruptionSnapshot): DriftOutlook {
  const { candidates, blocked } = runSteps(disruptionCandidates(snapshot, "eventual"));
  const kept = new Map(blocked.map((verdict) => [verdict.node, verdictText(verdict)]));
  const paces = new Map<string, DriftPace>();
  const budgets = poolBudgets(snapshot, "Drifted");
  for (const { name, pool } of candidates) {
    const budget = budgets.get(pool.name);
    if (budget === undefined) continue;
    const { nodes, disrupting, allowed } = budget;
    const { nowMs } = snapshot;
    const query = { reason: "Drifted", nodes, disrupting, nowMs } as const;
    const opens = budgetOutlook(pool.nodePool.spec.disruption.budgets, query).opensAtMs;
    if (allowed > 0) paces.set(pool.name, { atATime: allowed });
    else if (opens !== undefined) paces.set(pool.name, { atATime: 0, notBefore: rfc3339(opens) });
    else kept.set(name, verdictText({ ...budgetCause(budget), node: name }));
  }
  return { kept, paces };
}
