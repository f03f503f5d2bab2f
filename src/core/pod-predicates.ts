import type { LabelSelector, Pod } from "../api/kubernetes/pod.ts";
import { taints } from "../api/labels.ts";
import { namespaceOf, type ObjectMeta, type OwnerReference } from "../api/object.ts";
import { isPodProtected } from "../api/validation/do-not-disrupt.ts";
import { type CompiledSelector, compileSelector } from "./label-selector.ts";
import { isNominatedByOthers } from "./nominations.ts";
import { tolerates } from "./tolerations.ts";

/**
 * Whether a pod needs a node from us: a scheduler found it unschedulable, and it is not a DaemonSet or mirror pod.
 * Phase and deletion do not matter. (02:P-1 to 02:P-6)
 */
export function isProvisionable(pod: Pod): boolean {
  return (
    isUnschedulable(pod) &&
    (pod.spec.nodeName ?? "") === "" &&
    !isNominatedByOthers(pod) &&
    !isOwnedByDaemonSet(pod) &&
    !isMirrorPod(pod)
  );
}

/** By the condition's reason alone, whichever scheduler set it: gated pods and pods not tried yet have another. (02:P-1) */
export function isUnschedulable({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") ?? false;
}

export function isTerminalPod({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

export function isTerminatingPod({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isActivePod(pod: Pod): boolean {
  return !isTerminalPod(pod) && !isTerminatingPod(pod);
}

/** Its DaemonSet runs it on existing nodes; no node is launched for it. (02:P-4) */
export function isOwnedByDaemonSet(pod: Pod): boolean {
  return isOwnedBy(pod, { apiVersion: "apps/v1", kind: "DaemonSet" });
}

/** Static pods appear as mirror pods owned by their Node. (02:P-5) */
export function isMirrorPod(pod: Pod): boolean {
  return isOwnedBy(pod, { apiVersion: "v1", kind: "Node" });
}

export function isOwnedByStatefulSet(pod: Pod): boolean {
  return isOwnedBy(pod, { apiVersion: "apps/v1", kind: "StatefulSet" });
}

/** Must be rescheduled if its node goes. A StatefulSet recreates a pod only once the old one is gone, so terminating ones count. (02 §1.1) */
export function isReschedulable(pod: Pod): boolean {
  const needsPlace = isActivePod(pod) || (isTerminatingPod(pod) && isOwnedByStatefulSet(pod));
  return needsPlace && !isOwnedByDaemonSet(pod) && !isMirrorPod(pod);
}

/** Not protected by do-not-disrupt. (02:P-7) */
export function isDisruptable(pod: Pod, nowMs: number): boolean {
  return !isPodProtected(pod, nowMs);
}

/** A pod that tolerates the disruption taint is not evicted; it ends with its node. */
export function toleratesDisruption(pod: Pod): boolean {
  return tolerates(pod.spec.tolerations, taints.disrupted);
}

/** Whether we would evict it. (02 §1.1) */
export function isEvictable(pod: Pod, nowMs: number): boolean {
  return isActivePod(pod) && !toleratesDisruption(pod) && !isMirrorPod(pod) && isDisruptable(pod, nowMs);
}

/** A pod this long past its grace period is considered stuck. (03:T-3) */
const stuckAfterMs = 60_000;

/** The deletion timestamp includes the grace period. (03 §0.4) */
export function isStuckTerminating({ metadata }: Pod, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && nowMs - Date.parse(deletionTimestamp) > stuckAfterMs;
}

/** Must be gone before its node is drained. A protected pod too: it blocks the drain. (03 §0.4) */
export function isDrainable(pod: Pod, nowMs: number): boolean {
  return !toleratesDisruption(pod) && !isStuckTerminating(pod, nowMs) && !isMirrorPod(pod);
}

/** Still blocks the termination of its node. (03 §0.4) */
export function isWaitingEviction(pod: Pod, nowMs: number): boolean {
  return !isTerminalPod(pod) && isDrainable(pod, nowMs);
}

/** The fields of a PodDisruptionBudget that decide whether a pod can be evicted. */
export interface PodDisruptionBudget {
  readonly metadata: ObjectMeta;
  readonly spec?:
    | {
        readonly selector?: LabelSelector | undefined;
        readonly maxUnavailable?: number | string | undefined;
        readonly minAvailable?: number | string | undefined;
        readonly unhealthyPodEvictionPolicy?: string | undefined;
      }
    | undefined;
  readonly status?: { readonly disruptionsAllowed?: number | undefined } | undefined;
}

/** A PodDisruptionBudget, compiled to be evaluated many times. */
export interface CompiledPdb {
  /** namespace/name. */
  readonly key: string;
  readonly namespace: string;
  readonly selector: CompiledSelector;
  /** No eviction can ever pass, however healthy the pods. (03:PDB-5) */
  readonly isFullyBlocking: boolean;
  /** No eviction passes now. (03:PDB-4) */
  readonly isExhausted: boolean;
  /** Pods that are not ready may be evicted regardless. (03:PDB-3) */
  readonly alwaysAllowsUnhealthy: boolean;
}

export function compilePdb({ metadata, spec, status }: PodDisruptionBudget): CompiledPdb {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return {
    key: `${namespaceOf(metadata)}/${metadata.name ?? ""}`,
    namespace: namespaceOf(metadata),
    selector: compileSelector(spec?.selector),
    isFullyBlocking: maxUnavailable === 0 || maxUnavailable === "0%" || minAvailable === "100%",
    isExhausted: (status?.disruptionsAllowed ?? 0) === 0,
    alwaysAllowsUnhealthy: spec?.unhealthyPodEvictionPolicy === "AlwaysAllow",
  };
}

/** Finds the budgets that select a pod. */
export interface PdbLookup {
  matching(pod: Pod): readonly CompiledPdb[];
}

export interface PdbContext {
  readonly pdbs: PdbLookup;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Reschedulable and not blocked, so that capacity made for it would be used. (02:P-8) */
export function isCurrentlyReschedulable(pod: Pod, { pdbs, nowMs }: PdbContext): boolean {
  return isReschedulable(pod) && isDisruptable(pod, nowMs) && !isFullyBlocked(pod, { pdbs, nowMs });
}

/** Whether budgets block its eviction for good. (02:P-8, 03:PDB-5) */
export function isFullyBlocked(pod: Pod, moment: PdbContext): boolean {
  return blockingPdbs(pod, moment, ({ isFullyBlocking }) => isFullyBlocking).length > 0;
}

/**
 * The budgets that block its eviction now. Each pod is checked alone, though they share what is allowed.
 * (03:PDB-4, PDB-6)
 */
export function pdbsBlockingEviction(pod: Pod, moment: PdbContext): readonly CompiledPdb[] {
  return blockingPdbs(pod, moment, ({ isExhausted }) => isExhausted);
}

const noPdbs: readonly CompiledPdb[] = [];

/** Budgets do not block pods that are not evicted. (03:PDB-1) */
function blockingPdbs(
  pod: Pod,
  { pdbs, nowMs }: PdbContext,
  forbids: (budget: CompiledPdb) => boolean,
): readonly CompiledPdb[] {
  const matching = pdbs.matching(pod);
  if (matching.length === 0 || !isEvictable(pod, nowMs)) return noPdbs;
  // The eviction API refuses a pod with two budgets, whatever they allow. (03:PDB-2)
  if (matching.length > 1) return matching;
  const [budget] = matching;
  if (budget === undefined || !forbids(budget)) return noPdbs;
  return budget.alwaysAllowsUnhealthy && isUnready(pod) ? noPdbs : matching;
}

function isUnready({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === "Ready" && one.status === "False") ?? false;
}

/** By any owner reference, controller or not. */
function isOwnedBy({ metadata }: Pod, { apiVersion, kind }: Pick<OwnerReference, "apiVersion" | "kind">): boolean {
  return metadata.ownerReferences?.some((owner) => owner.apiVersion === apiVersion && owner.kind === kind) ?? false;
}
