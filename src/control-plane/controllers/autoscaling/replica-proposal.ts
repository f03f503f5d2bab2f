/** What a pod uses of a resource and asks for, in thousandths. */
export interface PodAmount {
  readonly requested: number;
  /** Absent: there is no measurement of it yet. */
  readonly used?: number | undefined;
  readonly isReady: boolean;
}

/** What the pods are to use on average: a share of their requests in percent, or an amount in thousandths. */
export type UsageTarget =
  | { readonly kind: "utilization"; readonly percent: number }
  | { readonly kind: "average"; readonly amount: number };

export interface ReplicaProposal {
  readonly replicas: number;
  /** The average over the pods that were measured. */
  readonly averageUsed: number;
  readonly averagePercent?: number | undefined;
}

interface ReplicaProposalOptions {
  readonly target: UsageTarget;
  readonly currentReplicas: number;
  /** By which share usage may be off before anything changes: up, and down. */
  readonly tolerances: { readonly up: number; readonly down: number };
}

/**
 * How many replicas would bring the usage to its target. Pods that are not measured count as using what they are to use
 * when there would be fewer replicas, and those that are not ready count as using nothing when there would be more: so
 * what is not known never makes the change larger. Undefined if no pod was measured. (05:CP-L16)
 */
export function proposeReplicas(
  pods: readonly PodAmount[],
  options: ReplicaProposalOptions,
): ReplicaProposal | undefined {
  const { target, currentReplicas } = options;
  const measured = pods.filter(({ used, isReady }) => used !== undefined && isReady);
  if (measured.length === 0) return undefined;
  const ratio = usageRatio(measured, target);
  const proposal = { ...averagesOf(measured, target) };
  const others = pods.filter((pod) => !measured.includes(pod));
  const assumed = others.map((pod) => ({ ...pod, used: ratio > 1 ? 0 : (pod.used ?? wantedOf(pod, target)) }));
  const all = others.length === 0 ? measured : [...measured, ...assumed];
  const whole = usageRatio(all, target);
  const isReversed = (ratio > 1 && whole < 1) || (ratio < 1 && whole > 1);
  if (isReversed || isWithin(whole, options)) return { ...proposal, replicas: currentReplicas };
  const replicas = Math.ceil(whole * all.length - 1e-9);
  const isContrary = (whole > 1 && replicas < currentReplicas) || (whole < 1 && replicas > currentReplicas);
  return { ...proposal, replicas: isContrary ? currentReplicas : replicas };
}

function isWithin(ratio: number, { tolerances: { up, down } }: ReplicaProposalOptions): boolean {
  return ratio >= 1 - down && ratio <= 1 + up;
}

function usageRatio(pods: readonly PodAmount[], target: UsageTarget): number {
  const used = sumOf(pods, ({ used = 0 }) => used);
  if (target.kind === "average") return used / pods.length / target.amount;
  return (100 * used) / sumOf(pods, ({ requested }) => requested) / target.percent;
}

function wantedOf({ requested }: PodAmount, target: UsageTarget): number {
  return target.kind === "average" ? target.amount : requested;
}

function averagesOf(pods: readonly PodAmount[], target: UsageTarget): Omit<ReplicaProposal, "replicas"> {
  const used = sumOf(pods, (pod) => pod.used ?? 0);
  const averageUsed = Math.floor(used / pods.length);
  if (target.kind === "average") return { averageUsed };
  return { averageUsed, averagePercent: Math.floor((100 * used) / sumOf(pods, ({ requested }) => requested)) };
}

function sumOf(pods: readonly PodAmount[], amount: (pod: PodAmount) => number): number {
  return pods.reduce((sum, pod) => sum + amount(pod), 0);
}
