import type { ConditionObservation } from "../../../api/conditions/condition.ts";
import { type Ec2NodeClassDependent, ec2NodeClassConditions } from "../../../api/conditions/ec2-node-class.ts";
import {
  getCondition,
  initializeConditions,
  setCondition,
  withConditions,
} from "../../../api/conditions/set-condition.ts";
import { formatPath } from "../../../api/problem.ts";
import { mixedTermProblems } from "../../../api/validation/ec2-node-class.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { AwsError } from "../api/aws-error.ts";
import { awsErrorAdvice, networkHint } from "../api/aws-error-advice.ts";
import type { NodeClassResolution } from "./node-class-controller.ts";
import type { Ec2NodeClassObject, Ec2NodeClassStatus } from "./node-class-object.ts";

/** What one part of a class resolved to. */
export interface PartResult {
  /** Fields of the status; undefined removes one. */
  readonly status?: { readonly [Field in keyof Ec2NodeClassStatus]?: Ec2NodeClassStatus[Field] | undefined };
  /** What to write as the part's condition; unchanged without it. */
  readonly finding?: ConditionObservation | undefined;
  /** When to look again; with the next change without it. */
  readonly afterMs?: number | undefined;
  /** To be tried again with back-off, besides what was found. */
  readonly error?: unknown;
  /** What kept it from finding out everything, though it is no error of ours: people are told. */
  readonly note?: unknown;
}

/** One part of a class: images, subnets and so on. Sees the status of the parts before it. */
export interface NodeClassPart {
  readonly condition: Ec2NodeClassDependent;
  resolve(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<PartResult>;
}

export const partReady = (condition: Ec2NodeClassDependent): ConditionObservation => ({
  status: "True",
  reason: condition,
  message: "",
});

export const partNotReady = (reason: string, message: string): ConditionObservation => ({
  status: "False",
  reason,
  message,
});

export interface ResolveNodeClassOptions {
  /** In the order they are resolved. */
  readonly parts: readonly NodeClassPart[];
  /** Whether the gate ReservedCapacity is on. */
  readonly usesReservations: boolean;
}

/** Resolves all parts of a class, even if one fails; the soonest of their times is when to look again. (04 §1.4) */
export async function resolveNodeClass(
  nodeClass: Ec2NodeClassObject,
  context: ControllerContext,
  { parts, usesReservations }: ResolveNodeClassOptions,
): Promise<NodeClassResolution> {
  const set = ec2NodeClassConditions({ reservedCapacity: usesReservations });
  const nowMs = context.clock.now();
  const errors: unknown[] = [];
  const times: number[] = [];
  recordMixedTerms(nodeClass, context);
  let current = withConditions(nodeClass, initializeConditions(nodeClass, { set, nowMs })) as Ec2NodeClassObject;
  for (const part of parts) {
    const { status, finding, afterMs, error, note } = await attempt(part, current, context);
    if (error !== undefined) errors.push(error);
    const unresolved = error ?? note;
    if (unresolved !== undefined) recordUnresolved(part, nodeClass, { error: unresolved, context });
    if (afterMs !== undefined) times.push(afterMs);
    if (status !== undefined) current = { ...current, status: withFields(current.status, status) };
    if (finding === undefined) continue;
    const written = setCondition(current, { set, type: part.condition, nowMs, ...finding });
    current = withConditions(current, written) as Ec2NodeClassObject;
  }
  return { status: current.status ?? {}, afterMs: times.length === 0 ? undefined : Math.min(...times), errors };
}

/** Once for each spec: terms of which a part is not used, as upstream admits them. (04 §9.7-1) */
function recordMixedTerms(nodeClass: Ec2NodeClassObject, context: ControllerContext): void {
  const { generation, uid = "" } = nodeClass.metadata;
  if (getCondition(nodeClass, "Ready")?.observedGeneration === generation) return;
  const problems = mixedTermProblems(nodeClass.spec ?? {});
  if (problems.length === 0) return;
  context.recordEvent(nodeClass, {
    type: "Warning",
    reason: "SelectorTermFieldsIgnored",
    message: problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("; "),
    dedupe: { values: [uid, String(generation)] },
  });
}

/** How long AWS may take before people are told why a class is not ready yet. */
const slowMs = 15_000;

/** A part that fails leaves its condition as it was, because nothing new is known. */
async function attempt(
  part: NodeClassPart,
  nodeClass: Ec2NodeClassObject,
  context: ControllerContext,
): Promise<PartResult> {
  const onSlow = (): void => recordSlow(part, nodeClass, context);
  const timer = context.clock.setTimer(slowMs, onSlow);
  try {
    return await part.resolve(nodeClass, context);
  } catch (error) {
    return { error };
  } finally {
    timer.cancel();
  }
}

function recordUnresolved(
  { condition }: NodeClassPart,
  nodeClass: Ec2NodeClassObject,
  { error, context }: { readonly error: unknown; readonly context: ControllerContext },
): void {
  const code = error instanceof AwsError ? error.code : "";
  context.recordEvent(nodeClass, {
    type: "Warning",
    reason: "NodeClassResolutionFailed",
    message: `${condition} cannot be determined: ${awsErrorAdvice(error)}`,
    dedupe: { values: [nodeClass.metadata.uid ?? "", condition, code] },
  });
}

function recordSlow({ condition }: NodeClassPart, nodeClass: Ec2NodeClassObject, context: ControllerContext): void {
  context.recordEvent(nodeClass, {
    type: "Warning",
    reason: "NodeClassResolutionSlow",
    message: `${condition} is not known yet: AWS has not answered for ${slowMs / 1_000} s; check that the controller's network reaches AWS (${networkHint})`,
    dedupe: { values: [nodeClass.metadata.uid ?? "", condition] },
  });
}

function withFields(before: Ec2NodeClassStatus = {}, changes: NonNullable<PartResult["status"]>): Ec2NodeClassStatus {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(merged) as Ec2NodeClassStatus;
}
