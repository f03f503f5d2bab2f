import { poolBudgets } from "../../core/disruption/budgets.ts";
import type { MethodProposal } from "../../core/disruption/disruption-pass.ts";
import type { SearchPosition } from "../../core/disruption/method.ts";
import { type DisruptionMethodName, disruptionMethods } from "../../core/disruption/methods.ts";
import { areSameInputs, type SharedInputs, sharedInputs } from "../../core/disruption/shared-inputs.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { nextTimedChange } from "../../core/disruption/timed-changes.ts";
import type { NodeVerdict } from "../../core/disruption/verdict.ts";
import type { PodDisruptionBudget } from "../../core/pod-predicates.ts";
import { haveSameParts } from "../../util/same-parts.ts";

/** A search that found nothing, and when it is worth repeating though the cluster has not changed. */
interface NothingFound {
  readonly epoch: string;
  readonly inputs: SearchInputs;
  readonly untilMs: number;
  /** How many nodes budgets let go, by pool, if more would have been looked at. */
  readonly available: ReadonlyMap<string, number> | undefined;
}

/** A cluster in which no method finds anything. */
interface SettledCluster {
  readonly snapshot: DisruptionSnapshot;
  readonly budgets: readonly object[];
  readonly untilMs: number;
}

/** Even a cluster that does not change is looked at again after this long, so that events about it do not expire. (02:S-41) */
const settledMs = 5 * 60_000;
/** Snapshots share objects of the cluster; above these there are lists, maps and plain objects that are made anew. */
const snapshotDepth = 5;
const reasons = [...new Set(Object.values(disruptionMethods).map(({ reason }) => reason))];

/** What the searches of earlier passes found out. */
export class SearchMemory {
  readonly #nothingFound = new Map<DisruptionMethodName, NothingFound>();
  readonly #positions = new Map<DisruptionMethodName, SearchPosition>();
  #settled: SettledCluster | undefined;

  /**
   * Whether the method would find nothing again: neither the cluster nor the commands that wait have changed, and budgets
   * allow what they allowed. (03:D-33, D-34)
   */
  isKnown(method: DisruptionMethodName, { epoch, snapshot }: SearchEpoch): boolean {
    const known = this.#nothingFound.get(method);
    if (known?.epoch !== epoch || snapshot.nowMs >= known.untilMs) return false;
    if (!haveSameInputs(known.inputs, searchInputs(snapshot))) return false;
    if (known.available === undefined) return true;
    return haveSameParts(known.available, available(poolBudgets(snapshot, disruptionMethods[method].reason)), 1);
  }

  /** Where the method goes on, if its last search was stopped. */
  position(method: DisruptionMethodName): SearchPosition | undefined {
    return this.#positions.get(method);
  }

  /**
   * Remembers that a search found nothing, unless it was not over, or there was no node to look at. What ends by itself,
   * such as the protection of a pod, ends the memory too. (03:D-33, D-34)
   */
  remember(proposal: MethodProposal, { epoch, snapshot }: SearchEpoch): void {
    const { method, commands, candidates, stoppedAt, isHeldBackByBudget, verdicts, budgets } = proposal;
    if (stoppedAt === undefined) this.#positions.delete(method);
    else this.#positions.set(method, stoppedAt);
    if (commands.length > 0 || stoppedAt !== undefined || candidates.length === 0) return;
    this.#nothingFound.set(method, {
      epoch,
      inputs: searchInputs(snapshot),
      untilMs: earliestEnd(verdicts),
      available: isHeldBackByBudget ? available(budgets) : undefined,
    });
  }

  /** Whether every method was asked about the same cluster and found nothing: what they answer depends on nothing else. */
  isSettled(snapshot: DisruptionSnapshot): boolean {
    const settled = this.#settled;
    if (settled === undefined) return false;
    const isSame =
      snapshot.nowMs < settled.untilMs &&
      haveSameParts(inputsOf(snapshot), inputsOf(settled.snapshot), snapshotDepth) &&
      haveSameParts(budgetsOf(snapshot), settled.budgets, snapshotDepth);
    if (!isSame) this.#settled = undefined;
    return isSame;
  }

  /** Every method was asked, and none found anything. */
  settle(snapshot: DisruptionSnapshot): void {
    if (this.#positions.size > 0) return;
    const untilMs = Math.min(snapshot.nowMs + settledMs, nextTimedChange(snapshot));
    this.#settled = { snapshot, budgets: budgetsOf(snapshot), untilMs };
  }
}

/** When a method is asked. */
interface SearchEpoch {
  /** Differs when nodes, claims, pods or the commands that wait have changed. */
  readonly epoch: string;
  readonly snapshot: DisruptionSnapshot;
}

/** What searches read beside that. */
interface SearchInputs {
  readonly shared: SharedInputs;
  readonly others: object;
}

function searchInputs(snapshot: DisruptionSnapshot): SearchInputs {
  const { cluster, devices, workloads, disruptionBudgets } = snapshot;
  const { namespaces, volumes } = cluster;
  const pdbs = disruptionBudgets.map(pdbState);
  return { shared: sharedInputs(snapshot, []), others: { namespaces, volumes, devices, workloads, pdbs } };
}

/** Its status also counts pods, and changes with each of them. */
function pdbState({ metadata: { uid, generation }, status }: PodDisruptionBudget): string {
  return `${uid} ${generation} ${status?.disruptionsAllowed}`;
}

function haveSameInputs(a: SearchInputs, b: SearchInputs): boolean {
  return areSameInputs(a.shared, b.shared) && haveSameParts(a.others, b.others, snapshotDepth);
}

/** All that searches read but the time. */
function inputsOf({ nowMs: _, pdbs: __, ...inputs }: DisruptionSnapshot): object {
  return inputs;
}

/** Budgets as far as the time decides on them: without a schedule the same cluster has the same budgets. */
function budgetsOf(snapshot: DisruptionSnapshot): readonly object[] {
  const hasSchedule = [...snapshot.pools.values()].some(({ nodePool: { spec } }) =>
    spec.disruption.budgets?.some(({ schedule }) => schedule !== undefined),
  );
  return hasSchedule ? reasons.map((reason) => poolBudgets(snapshot, reason)) : [];
}

function available(budgets: MethodProposal["budgets"]): ReadonlyMap<string, number> {
  return new Map([...budgets].map(([pool, budget]) => [pool, budget.available]));
}

function earliestEnd(verdicts: readonly NodeVerdict[]): number {
  return verdicts.reduce((least, verdict) => Math.min(least, endOf(verdict)), Number.POSITIVE_INFINITY);
}

/** When a verdict may change by itself. */
function endOf(verdict: NodeVerdict): number {
  // A nomination ends within seconds.
  if (verdict.code === "nominated") return 0;
  return ("untilMs" in verdict ? verdict.untilMs : undefined) ?? Number.POSITIVE_INFINITY;
}
