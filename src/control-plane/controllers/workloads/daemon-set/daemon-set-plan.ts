import type { NodeEligibility } from "./node-eligibility.ts";

/** What planning needs to know about a daemon pod. */
export interface DaemonPodState {
  readonly name: string;
  readonly isTerminating: boolean;
  readonly isFinished: boolean;
  readonly isAvailable: boolean;
  /** Made from the current template. */
  readonly isUpdated: boolean;
  readonly isAssigned: boolean;
  readonly createdAt: number;
}

export interface NodeDaemonState<D extends DaemonPodState> extends NodeEligibility {
  readonly node: string;
  readonly daemonPods: readonly D[];
}

export interface DaemonSetPlan<D extends DaemonPodState> {
  /** Node names. */
  readonly create: readonly string[];
  readonly remove: readonly D[];
}

/** How many nodes may lack the pod, or run two, during an update; undefined for OnDelete. */
export interface DaemonRollout {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}

/** One pod on every eligible node and none elsewhere; once that is so, outdated pods are replaced. (05:CP-L4) */
export function planDaemonSet<D extends DaemonPodState>(
  nodeStates: readonly NodeDaemonState<D>[],
  rollout: DaemonRollout | undefined,
): DaemonSetPlan<D> {
  const plan = planPlacement(nodeStates, (rollout?.maxSurge ?? 0) > 0);
  if (plan.create.length + plan.remove.length > 0 || rollout === undefined) return plan;
  return rollout.maxSurge > 0 ? planSurge(nodeStates, rollout) : planReplacement(nodeStates, rollout);
}

function planPlacement<D extends DaemonPodState>(
  nodeStates: readonly NodeDaemonState<D>[],
  isSurging: boolean,
): DaemonSetPlan<D> {
  const create: string[] = [];
  const remove: D[] = [];
  for (const { node, daemonPods, shouldRun, shouldContinueRunning } of nodeStates) {
    if (shouldRun && daemonPods.length === 0) create.push(node);
    else if (!shouldContinueRunning) remove.push(...daemonPods.filter((daemonPod) => !daemonPod.isTerminating));
    else remove.push(...surplusPods(daemonPods, isSurging));
  }
  return { create, remove };
}

/** Finished pods, which are recreated, and all but one of the others; during a surge, all but one per version. */
function surplusPods<D extends DaemonPodState>(daemonPods: readonly D[], isSurging: boolean): readonly D[] {
  const remaining = daemonPods.filter(({ isTerminating }) => !isTerminating);
  const running = remaining.filter(({ isFinished }) => !isFinished).sort(byAssignmentThenAge);
  const finished = remaining.filter(({ isFinished }) => isFinished);
  if (!isSurging) return [...finished, ...running.slice(1)];
  const [updated, outdated] = [running.filter((one) => one.isUpdated), running.filter((one) => !one.isUpdated)];
  const isReplaced = updated[0]?.isAvailable === true;
  return [...finished, ...updated.slice(1), ...(isReplaced ? outdated : outdated.slice(1))];
}

function byAssignmentThenAge(a: DaemonPodState, b: DaemonPodState): number {
  return Number(b.isAssigned) - Number(a.isAssigned) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}

/** Deletes outdated pods first: unavailable ones at once, available ones within maxUnavailable. */
function planReplacement<D extends DaemonPodState>(
  nodeStates: readonly NodeDaemonState<D>[],
  { maxUnavailable }: DaemonRollout,
): DaemonSetPlan<D> {
  const broken: D[] = [];
  const candidates: D[] = [];
  let unavailable = 0;
  for (const { daemonPods, shouldRun } of nodeStates) {
    if (!shouldRun) continue;
    const daemonPod = daemonPods.find(({ isTerminating }) => !isTerminating);
    if (daemonPod === undefined || !daemonPod.isAvailable) unavailable++;
    if (daemonPod === undefined || daemonPod.isUpdated) continue;
    (daemonPod.isAvailable ? candidates : broken).push(daemonPod);
  }
  return { create: [], remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
}

/** Creates the new pod first; the old one is deleted when the new one is available. */
function planSurge<D extends DaemonPodState>(
  nodeStates: readonly NodeDaemonState<D>[],
  { maxSurge }: DaemonRollout,
): DaemonSetPlan<D> {
  const broken: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { node, daemonPods, shouldRun } of nodeStates) {
    if (!shouldRun) continue;
    const outdated = daemonPods.find((one) => !one.isUpdated && !one.isTerminating);
    const isReplacing = daemonPods.some((one) => one.isUpdated);
    if (outdated === undefined) continue;
    if (isReplacing) surging++;
    else (outdated.isAvailable ? candidates : broken).push(node);
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove: [] };
}
