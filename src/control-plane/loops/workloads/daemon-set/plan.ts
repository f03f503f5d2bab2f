import type { Eligibility } from "./eligibility.ts";

/** A daemon pod, as far as its set is concerned. */
export interface Daemon {
  readonly name: string;
  readonly isTerminating: boolean;
  readonly isFinished: boolean;
  readonly isAvailable: boolean;
  /** Made from the template of today. */
  readonly isUpdated: boolean;
  readonly isAssigned: boolean;
  readonly createdAt: number;
}

export interface NodeSeat<D extends Daemon> extends Eligibility {
  readonly node: string;
  readonly daemons: readonly D[];
}

export interface DaemonSteps<D extends Daemon> {
  /** Names of nodes. */
  readonly create: readonly string[];
  readonly remove: readonly D[];
}

/** How many nodes may be without, or with two, while versions change; undefined leaves outdated pods alone. */
export interface DaemonRollout {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}

/** One pod on every eligible node and none elsewhere; then, if all is in place, newer versions. (05:CP-L4) */
export function planDaemonSet<D extends Daemon>(
  seats: readonly NodeSeat<D>[],
  rollout: DaemonRollout | undefined,
): DaemonSteps<D> {
  const steps = placement(seats, (rollout?.maxSurge ?? 0) > 0);
  if (steps.create.length + steps.remove.length > 0 || rollout === undefined) return steps;
  return rollout.maxSurge > 0 ? surge(seats, rollout) : replace(seats, rollout);
}

function placement<D extends Daemon>(seats: readonly NodeSeat<D>[], isSurging: boolean): DaemonSteps<D> {
  const create: string[] = [];
  const remove: D[] = [];
  for (const { node, daemons, shouldRun, mayStay } of seats) {
    if (shouldRun && daemons.length === 0) create.push(node);
    else if (!mayStay) remove.push(...daemons.filter((daemon) => !daemon.isTerminating));
    else remove.push(...superfluous(daemons, isSurging));
  }
  return { create, remove };
}

/** Finished ones, to be made again; and all but one, or but one of each version in the middle of a surge. */
function superfluous<D extends Daemon>(daemons: readonly D[], isSurging: boolean): readonly D[] {
  const staying = daemons.filter(({ isTerminating }) => !isTerminating);
  const running = staying.filter(({ isFinished }) => !isFinished).sort(bySeniority);
  const finished = staying.filter(({ isFinished }) => isFinished);
  if (!isSurging) return [...finished, ...running.slice(1)];
  const [updated, outdated] = [running.filter((one) => one.isUpdated), running.filter((one) => !one.isUpdated)];
  const isReplaced = updated[0]?.isAvailable === true;
  return [...finished, ...updated.slice(1), ...(isReplaced ? outdated : outdated.slice(1))];
}

function bySeniority(a: Daemon, b: Daemon): number {
  return Number(b.isAssigned) - Number(a.isAssigned) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}

/** The old pod goes first: those that do not work at once, others as far as others work. */
function replace<D extends Daemon>(seats: readonly NodeSeat<D>[], { maxUnavailable }: DaemonRollout): DaemonSteps<D> {
  const broken: D[] = [];
  const candidates: D[] = [];
  let unavailable = 0;
  for (const { daemons, shouldRun } of seats) {
    if (!shouldRun) continue;
    const daemon = daemons.find(({ isTerminating }) => !isTerminating);
    if (daemon === undefined || !daemon.isAvailable) unavailable++;
    if (daemon === undefined || daemon.isUpdated) continue;
    (daemon.isAvailable ? candidates : broken).push(daemon);
  }
  return { create: [], remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
}

/** The new pod comes first; the old one goes when it works. */
function surge<D extends Daemon>(seats: readonly NodeSeat<D>[], { maxSurge }: DaemonRollout): DaemonSteps<D> {
  const broken: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { node, daemons, shouldRun } of seats) {
    if (!shouldRun) continue;
    const outdated = daemons.find((one) => !one.isUpdated && !one.isTerminating);
    const isReplacing = daemons.some((one) => one.isUpdated);
    if (outdated === undefined) continue;
    if (isReplacing) surging++;
    else (outdated.isAvailable ? candidates : broken).push(node);
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove: [] };
}
