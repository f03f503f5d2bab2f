import { allowedDisruptions } from "../../src/api/budgets/budget.ts";
import { getCondition, isStatusConditionTrue } from "../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { labels } from "../../src/api/labels.ts";
import { type KubeObject, namespacedName } from "../../src/api/object.ts";
import { isPodProtected } from "../../src/api/validation/do-not-disrupt.ts";
import { type DisruptionReason, disruptionReasons } from "../../src/api/vocabulary.ts";
import { drainCost, nodeDisruptionCost } from "../../src/core/disruption/costs.ts";
import { isReschedulable } from "../../src/core/pod-predicates.ts";
import { storages } from "../world/stored-objects.ts";
import type { StoredPod } from "./budget-checks.ts";
import type { CallChecksOptions, Claim, StoredNode } from "./call-checks.ts";

type StoredPool = KubeObject & NodePool;

/** Watches are late, and the calls of a command take their time: what is younger need not be known. */
const lagMs = 20_000;

/**
 * Checks every node that is taken of free will as it is marked: within budgets, in-flight nodes included, and with no
 * pod on it that holds it. (03 §4.13)
 */
export class DisruptionChecks {
  readonly #options: CallChecksOptions;
  /** When a claim last counted as a node of its pool. (03:D-20) */
  readonly #countedAt = new Map<string, { readonly pool: string; readonly at: number }>();
  readonly #notReadySince = new Map<string, number>();
  readonly #poolChangedAt = new Map<string, number>();
  /** How many nodes were marked, by reason. */
  readonly marked = new Map<string, number>();

  constructor(options: CallChecksOptions) {
    this.#options = options;
    options.record.onPut((storage, object, old) => {
      if (storage === storages.claims) this.#claimPut(object as Claim, old as Claim | undefined);
      else if (storage === storages.nodes) this.#nodePut(object as StoredNode);
      else if (storage === storages.pools) this.#poolPut(object as StoredPool, old as StoredPool | undefined);
    });
  }

  #poolPut(pool: StoredPool, old: StoredPool | undefined): void {
    if (old?.metadata.generation === pool.metadata.generation) return;
    this.#poolChangedAt.set(pool.metadata.name ?? "", this.#options.now());
  }

  #nodePut({ metadata, status }: StoredNode): void {
    const { name = "" } = metadata;
    const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
    if (isReady) this.#notReadySince.delete(name);
    else if (!this.#notReadySince.has(name)) this.#notReadySince.set(name, this.#options.now());
  }

  #claimPut(claim: Claim, old: Claim | undefined): void {
    if (old !== undefined && isCounted(old)) this.#count(old);
    if (isCounted(claim)) this.#count(claim);
    const reason = reasonOf(claim);
    if (reason === undefined || (old !== undefined && reasonOf(old) !== undefined)) return;
    this.marked.set(reason, (this.marked.get(reason) ?? 0) + 1);
    this.#checkBudget(claim, reason);
    this.#checkPods(claim, reason);
  }

  #count({ metadata }: Claim): void {
    const pool = metadata.labels?.[labels.nodePool] ?? "";
    this.#countedAt.set(metadata.uid ?? "", { pool, at: this.#options.now() });
  }

  /** Counted in the controller's favour: it may not have heard of the last seconds. (03:D-20 to D-24) */
  #checkBudget({ metadata }: Claim, reason: DisruptionReason): void {
    const { record, now, complain } = this.#options;
    const name = metadata.labels?.[labels.nodePool] ?? "";
    const pool = record.get<StoredPool>(storages.pools, name);
    if (pool === undefined || this.#isRecent(this.#poolChangedAt.get(name))) return;
    const members = record.all<Claim>(storages.claims).filter((one) => one.metadata.labels?.[labels.nodePool] === name);
    const nodes = this.#nodesAtMost(name, members);
    const { budgets } = pool.spec.disruption;
    const allowed = Math.max(
      ...[now(), now() - lagMs].map((nowMs) => allowedDisruptions(budgets, { reason, nodes, nowMs }).allowed),
    );
    const disrupting = members.filter((one) => isCounted(one) && this.#isDisrupting(one));
    if (disrupting.length <= allowed) return;
    const who = disrupting.map((one) => one.metadata.name).join(", ");
    complain(`${reason} ${metadata.name}: pool ${name} of ${nodes} may lose ${allowed}, but loses ${who}`);
  }

  #nodesAtMost(pool: string, members: readonly Claim[]): number {
    const present = new Set(members.filter(isCounted).map(({ metadata }) => metadata.uid));
    const before = [...this.#countedAt].filter(
      ([uid, one]) => one.pool === pool && !present.has(uid) && this.#isRecent(one.at),
    );
    return present.size + before.length;
  }

  #isDisrupting(claim: Claim): boolean {
    if (reasonOf(claim) !== undefined) return true;
    const { deletionTimestamp } = claim.metadata;
    if (deletionTimestamp !== undefined) return !this.#isRecent(Date.parse(deletionTimestamp));
    const since = this.#notReadySince.get(claim.status?.nodeName ?? "");
    return since !== undefined && !this.#isRecent(since);
  }

  /** What goes for its price or because it is empty waits for nobody. (03:D-17, D-29a) */
  #checkPods(claim: Claim, reason: DisruptionReason): void {
    if (reason === "Drifted") return;
    const { record, now, complain } = this.#options;
    const pods = record
      .all<StoredPod>(storages.pods)
      .filter(({ spec }) => spec.nodeName !== undefined && spec.nodeName === claim.status?.nodeName)
      .filter(({ status }) => !this.#isRecent(Date.parse(status?.startTime ?? "") || now()));
    const about = `${reason} ${claim.metadata.name}`;
    for (const pod of pods.filter((one) => isPodProtected(one, now() - lagMs) && isPodProtected(one, now())))
      complain(`${about} though Pod ${namespacedName(pod.metadata)} is protected`);
    if (reason !== "Empty") return;
    for (const pod of pods.filter((one) => isReschedulable(one) && drainCost([one]) > nodeDisruptionCost))
      complain(`${about} though Pod ${namespacedName(pod.metadata)} runs there`);
  }

  #isRecent(at: number | undefined): boolean {
    return at !== undefined && this.#options.now() - at <= lagMs;
  }
}

function isCounted(claim: Claim): boolean {
  return isStatusConditionTrue(claim, "Initialized") && !isStatusConditionTrue(claim, "InstanceTerminating");
}

function reasonOf(claim: Claim): DisruptionReason | undefined {
  const { status, reason } = getCondition(claim, "DisruptionReason") ?? {};
  return status === "True" ? disruptionReasons.find((one) => one === reason) : undefined;
}
