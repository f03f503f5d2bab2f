import { maxPodsPerSync } from "../slow-start-batch.ts";

/** What planning needs to know about a pod of a StatefulSet. */
export interface StatefulSetMember {
  readonly ordinal: number;
  readonly isTerminating: boolean;
  /** Succeeded or failed. */
  readonly isFinished: boolean;
  /** Running, and ready for at least minReadySeconds. */
  readonly isAvailable: boolean;
  readonly revision: string;
}

export interface StatefulSetTarget {
  readonly replicas: number;
  readonly start: number;
  /** One pod at a time, in order; false for Parallel. */
  readonly isOrdered: boolean;
  /** Pods of another revision are replaced; false for OnDelete. */
  readonly isRolling: boolean;
  /** Ordinals below it keep their revision. */
  readonly partition: number;
  readonly updateRevision: string;
}

export interface StatefulSetPlan<M extends StatefulSetMember> {
  readonly create: readonly number[];
  readonly remove: readonly M[];
}

/** The next pods to create and delete; empty while something must become ready first. (05:CP-L3) */
export function planStatefulSet<M extends StatefulSetMember>(
  target: StatefulSetTarget,
  members: readonly M[],
): StatefulSetPlan<M> {
  const create: number[] = [];
  const remove: M[] = [];
  const byOrdinal = new Map(members.map((member) => [member.ordinal, member]));
  const canContinue = planReplicas(target, { byOrdinal, create, remove }) && planScaleDown(target, { members, remove });
  if (canContinue && target.isRolling) planRollingUpdate(target, { byOrdinal, remove });
  return { create, remove };
}

interface PlanDraft<M extends StatefulSetMember> {
  readonly byOrdinal: ReadonlyMap<number, M>;
  readonly create: number[];
  readonly remove: M[];
}

/** Returns whether to continue: in order, nothing happens after an ordinal that is missing or not ready. */
function planReplicas<M extends StatefulSetMember>(
  { start, replicas, isOrdered }: StatefulSetTarget,
  draft: PlanDraft<M>,
): boolean {
  for (let ordinal = start; ordinal < start + replicas; ordinal++) {
    const member = draft.byOrdinal.get(ordinal);
    if (member === undefined) draft.create.push(ordinal);
    else if (member.isFinished && !member.isTerminating) draft.remove.push(member);
    else if (!isOrdered || isHealthy(member)) continue;
    if (isOrdered) return false;
    if (draft.create.length >= maxPodsPerSync) break; // the rest with the next sync
  }
  return true;
}

function isHealthy({ isTerminating, isAvailable }: StatefulSetMember): boolean {
  return !isTerminating && isAvailable;
}

/** Scales down from the highest ordinal; in order, only past healthy pods or the one unhealthy pod itself. */
function planScaleDown<M extends StatefulSetMember>(
  { start, replicas, isOrdered }: StatefulSetTarget,
  { members, remove }: { readonly members: readonly M[]; readonly remove: M[] },
): boolean {
  const condemned = members.filter(({ ordinal }) => ordinal < start || ordinal >= start + replicas);
  const highestFirst = [...condemned].sort((a, b) => b.ordinal - a.ordinal);
  const firstUnhealthy = highestFirst.find((member) => !isHealthy(member));
  for (const member of highestFirst) {
    const mustWait = isOrdered && (member.isTerminating || (!member.isAvailable && member !== firstUnhealthy));
    if (mustWait) return false;
    if (member.isTerminating) continue;
    remove.push(member);
    if (isOrdered) return false;
  }
  return true;
}

/** One pod at a time, from the highest ordinal down to the partition, each once the one before is available. */
function planRollingUpdate<M extends StatefulSetMember>(
  { start, replicas, partition, updateRevision }: StatefulSetTarget,
  { byOrdinal, remove }: { readonly byOrdinal: ReadonlyMap<number, M>; readonly remove: M[] },
): void {
  for (let ordinal = start + replicas - 1; ordinal >= start + partition; ordinal--) {
    const member = byOrdinal.get(ordinal);
    if (member === undefined || member.isTerminating) return;
    if (member.revision !== updateRevision) {
      if (!remove.includes(member)) remove.push(member);
      return;
    }
    if (!member.isAvailable) return;
  }
}
