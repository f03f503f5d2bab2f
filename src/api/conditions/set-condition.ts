import { rfc3339 } from "../../util/timestamp.ts";
import {
  type Condition,
  type Conditioned,
  type ConditionObservation,
  type ConditionSet,
  type ConditionStatus,
  conditionReasons,
  type ReadyCondition,
  readyCondition,
} from "./condition.ts";

/** Which condition is written, and when. */
export interface ConditionWrite<D extends string, I extends string> {
  readonly set: ConditionSet<D, I>;
  readonly type: D | I | ReadyCondition;
  readonly nowMs: number;
}

type ReasonAndMessage = { readonly reason?: string | undefined; readonly message?: string | undefined };

const noConditions: readonly Condition[] = Object.freeze([]);

export function getCondition(object: Conditioned, type: string): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** Whether every named condition is True. An absent condition is not. */
export function isStatusConditionTrue(object: Conditioned, ...types: readonly string[]): boolean {
  return types.every((type) => getCondition(object, type)?.status === "True");
}

/** True without a reason takes the type as its reason and an empty message. (01 §2.1) */
export function setConditionTrue<D extends string, I extends string>(
  object: Conditioned,
  write: ConditionWrite<D, I> & ReasonAndMessage,
) {
  return setCondition(object, {
    ...write,
    status: "True",
    reason: write.reason ?? write.type,
    message: write.message ?? "",
  });
}

/**
 * The object's conditions after one write, root recomputed. The very same list comes back when nothing changed, so that
 * a controller knows not to patch. (01 §2.1)
 */
export function setCondition<D extends string, I extends string>(
  object: Conditioned,
  { set, type, nowMs, status, reason, message }: ConditionWrite<D, I> & ConditionObservation,
): readonly Condition[] {
  const subject = subjectOf(object, { set, nowMs });
  return putCondition(subject, withInitialConditions(subject, conditionsOf(object)), { type, status, reason, message });
}

/** Gives a final condition the current generation without evaluating it again. (01 §2.3) */
export function refreshCondition<D extends string, I extends string>(
  object: Conditioned,
  write: ConditionWrite<D, I>,
): readonly Condition[] {
  const found = getCondition(object, write.type);
  if (found === undefined) return conditionsOf(object);
  return setCondition(object, {
    ...write,
    status: found.status,
    reason: found.reason ?? "",
    message: found.message ?? "",
  });
}

/** Adds the root and dependents that are missing as Unknown, since the object's creation. (01 §2.1) */
export function initializeConditions<D extends string, I extends string>(
  object: Conditioned,
  { set, nowMs }: Pick<ConditionWrite<D, I>, "set" | "nowMs">,
): readonly Condition[] {
  return withInitialConditions(subjectOf(object, { set, nowMs }), conditionsOf(object));
}

/** Removes an independent condition; root and dependents always exist. */
export function clearCondition<D extends string, I extends string>(
  object: Conditioned,
  { conditionSet: set, type }: { readonly conditionSet: ConditionSet<D, I>; readonly type: NoInfer<I> },
): readonly Condition[] {
  if (isRootOrDependent(set, type)) throw new Error(`condition ${type} is part of Ready and cannot be cleared`);
  const before = conditionsOf(object);
  const after = before.filter((condition) => condition.type !== type);
  return after.length === before.length ? before : after;
}

/** The object with these conditions; itself when they are the ones it has. */
export function withConditions<T extends Conditioned>(object: T, conditions: readonly Condition[]): T {
  if (conditions === conditionsOf(object)) return object;
  return { ...object, status: { ...object.status, conditions } };
}

const awaitingReconciliation = { reason: conditionReasons.awaiting, message: "not reconciled yet" } as const;

/** What the functions below read of an object. */
interface ConditionSubject {
  readonly set: ConditionSet;
  readonly generation: number;
  readonly createdAt: string;
  readonly isDeleting: boolean;
  readonly now: string;
}

function subjectOf(object: Conditioned, { set, nowMs }: { set: ConditionSet; nowMs: number }): ConditionSubject {
  const now = rfc3339(nowMs);
  const { generation = 0, creationTimestamp, deletionTimestamp } = object.metadata;
  return { set, generation, createdAt: creationTimestamp ?? now, isDeleting: deletionTimestamp !== undefined, now };
}

function conditionsOf(object: Conditioned): readonly Condition[] {
  return object.status?.conditions ?? noConditions;
}

// The root is added first, so that each added dependent recomputes it and its message names what is missing.
function withInitialConditions(subject: ConditionSubject, conditions: readonly Condition[]): readonly Condition[] {
  const { root, dependents } = subject.set;
  if (root === undefined) return conditions;
  return [root, ...dependents]
    .filter((type) => conditions.every((condition) => condition.type !== type))
    .reduce(
      (list, type) => putCondition(subject, list, { type, status: "Unknown", ...awaitingReconciliation }),
      conditions,
    );
}

function putCondition(
  subject: ConditionSubject,
  conditions: readonly Condition[],
  finding: ConditionObservation & { readonly type: string },
) {
  const before = conditions.find((condition) => condition.type === finding.type);
  const after: Condition = {
    ...finding,
    lastTransitionTime: transitionTime(subject, before, finding),
    observedGeneration: subject.generation,
  };
  if (before !== undefined && isSameCondition(before, after)) return conditions;
  const others = conditions
    .filter((condition) => condition !== before)
    .map((other) => withCurrentGenerationIfDeleting(subject, other));
  const stored = inStoredOrder(subject.set, [...others, after]);
  return finding.type === subject.set.root ? stored : withRoot(subject, stored);
}

function transitionTime(
  subject: ConditionSubject,
  before: Condition | undefined,
  { type, status }: { type: string; status: ConditionStatus },
) {
  if (before?.status === status) return before.lastTransitionTime;
  return before === undefined && isRootOrDependent(subject.set, type) ? subject.createdAt : subject.now;
}

function isSameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    (a.reason ?? "") === (b.reason ?? "") &&
    (a.message ?? "") === (b.message ?? "") &&
    (a.observedGeneration ?? 0) === (b.observedGeneration ?? 0)
  );
}

// Most conditions of an object being deleted are no longer evaluated; with an old generation they would make Ready Unknown.
function withCurrentGenerationIfDeleting(subject: ConditionSubject, condition: Condition): Condition {
  return subject.isDeleting ? { ...condition, observedGeneration: subject.generation } : condition;
}

function withRoot(subject: ConditionSubject, conditions: readonly Condition[]): readonly Condition[] {
  const { root } = subject.set;
  return root === undefined
    ? conditions
    : putCondition(subject, conditions, { type: root, ...rootObservation(subject, conditions) });
}

// A True dependent of an older generation was evaluated against another spec, so the root is Unknown. (01 §9.12)
function rootObservation(
  { set, generation }: ConditionSubject,
  conditions: readonly Condition[],
): ConditionObservation {
  const isCurrent = (condition: Condition) => (condition.observedGeneration ?? 0) === generation;
  const offenders = conditions
    .filter(({ type }) => set.dependents.includes(type))
    .filter((condition) => condition.status !== "True" || !isCurrent(condition))
    .sort((a, b) => transitionTimeMs(b) - transitionTimeMs(a));
  if (offenders.length === 0) return { status: "True", reason: readyCondition, message: "" };
  const message = offenders.map(({ type, status }) => `${type}=${status}`).join(", ");
  return offenders.some((condition) => condition.status === "False" && isCurrent(condition))
    ? { status: "False", reason: conditionReasons.unhealthy, message }
    : { status: "Unknown", reason: conditionReasons.reconciling, message };
}

/** By transition time, root last. */
function inStoredOrder(set: ConditionSet, conditions: readonly Condition[]): readonly Condition[] {
  const isRoot = ({ type }: Condition) => Number(type === set.root);
  return [...conditions].sort((a, b) => isRoot(a) - isRoot(b) || transitionTimeMs(a) - transitionTimeMs(b));
}

function isRootOrDependent(set: ConditionSet, type: string): boolean {
  return type === set.root || set.dependents.includes(type);
}

function transitionTimeMs({ lastTransitionTime }: Condition): number {
  return Date.parse(lastTransitionTime) || 0;
}
