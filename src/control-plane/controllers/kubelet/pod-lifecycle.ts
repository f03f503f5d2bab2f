import { isTerminalPod } from "../../../core/pod-predicates.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { listAt, numberAt, textAt } from "../../object-fields.ts";
import { type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import type { PodBehaviour } from "./pod-behaviour.ts";
import {
  areReadinessGatesMet,
  type ContainerExit,
  type ContainersState,
  kubeletPodStatus,
  type PodPhase,
  type PodStatusInput,
} from "./pod-status.ts";

/** The next step of a kubelet for a pod. */
export type PodStep =
  | { readonly kind: "none" }
  | { readonly kind: "wait"; readonly afterMs: number }
  /** A status to write, as a strategic merge patch; writing it triggers the next step. */
  | { readonly kind: "write"; readonly status: JsonObject; readonly event?: ContainerEvent | undefined }
  /** The containers have stopped: delete the object. */
  | { readonly kind: "remove" };

export type ContainerEvent = "started" | "backing-off";

export interface PodStepInput {
  readonly now: number;
  readonly behaviour: PodBehaviour;
  readonly hostIP: string;
  /** Called once, when the containers start. */
  readonly podIP: () => string;
  /** Whether its volumes can be mounted. */
  readonly hasVolumes: boolean;
}

const nothingToDo: PodStep = { kind: "none" };
/** The exit code of containers stopped by SIGTERM. */
const stoppedExitCode = 143;
const crashBackOff = { baseMs: 10_000, maxMs: 300_000 };

/**
 * Computes the next step from the object alone, so that a restarted kubelet continues where it left off. (05:CP-L10)
 */
export function nextPodStep(pod: ApiPod, facts: PodStepInput): PodStep {
  if (pod.metadata.deletionTimestamp !== undefined) return whileTerminating(pod, facts);
  if (isTerminalPod(pod)) return nothingToDo;
  const startTime = timeOf(pod.status?.startTime);
  if (startTime === undefined)
    return writeStatusStep(pod, "Pending", { ...commonStatusInput(pod, facts), containers: { kind: "creating" } });
  const seconds = numberAt(pod.spec, "activeDeadlineSeconds");
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : startTime + seconds * 1000;
  if (facts.now >= deadline) return deadlineExceeded(pod, facts);
  return noLaterThan(
    deadline,
    pod.status?.phase === "Running" ? whileRunning(pod, facts) : whilePending(pod, facts, startTime),
    facts,
  );
}

function whilePending(pod: ApiPod, facts: PodStepInput, startTime: number): PodStep {
  if (!facts.hasVolumes) return nothingToDo; // attaching a volume triggers a reconcile
  const dueAt = startTime + facts.behaviour.startMs;
  return facts.now < dueAt ? { kind: "wait", afterMs: dueAt - facts.now } : startContainers(pod, facts, 0);
}

function startContainers(pod: ApiPod, facts: PodStepInput, restarts: number): PodStep {
  const { now, behaviour } = facts;
  const containers: ContainersState = { kind: "running", since: rfc3339(now), isReady: behaviour.readyMs === 0 };
  const podIP = pod.status === undefined ? "" : textAt(pod.status, "podIP");
  const address = podIP === "" ? facts.podIP() : podIP;
  return {
    ...writeStatusStep(pod, "Running", { ...commonStatusInput(pod, facts), containers, restarts, podIP: address }),
    event: "started",
  };
}

function whileRunning(pod: ApiPod, facts: PodStepInput): PodStep {
  const state = listAt(pod.status, "containerStatuses")[0];
  const since = timeOf(textAt(state, "state", "running", "startedAt"));
  return since === undefined ? whileBackingOff(pod, facts, state) : whileContainersRun(pod, facts, since);
}

function whileContainersRun(pod: ApiPod, facts: PodStepInput, since: number): PodStep {
  const { now, behaviour } = facts;
  const exitAt = behaviour.runMs === undefined ? Number.POSITIVE_INFINITY : since + behaviour.runMs;
  if (now >= exitAt) return containersExited(pod, facts, since);
  const readyAt = since + behaviour.readyMs;
  const isReady = now >= readyAt;
  const expectedStatus = isReady && areReadinessGatesMet(pod) ? "True" : "False";
  const areReady = listAt(pod.status, "containerStatuses").every((one) => one["ready"] === isReady);
  if (conditionOfType(pod, "Ready")?.status !== expectedStatus || !areReady) {
    const containers: ContainersState = { kind: "running", since: rfc3339(since), isReady };
    return writeStatusStep(pod, "Running", { ...commonStatusInput(pod, facts), containers });
  }
  const next = Math.min(exitAt, isReady ? Number.POSITIVE_INFINITY : readyAt);
  return next === Number.POSITIVE_INFINITY ? nothingToDo : { kind: "wait", afterMs: next - now };
}

function containersExited(pod: ApiPod, facts: PodStepInput, since: number): PodStep {
  const { now, behaviour } = facts;
  const { exitCode } = behaviour;
  const ended: ContainerExit = { exitCode, startedAt: rfc3339(since), finishedAt: rfc3339(now) };
  const policy = textAt(pod.spec, "restartPolicy") || "Always";
  const isOver = policy === "Never" || (policy === "OnFailure" && exitCode === 0);
  if (isOver) {
    const containers: ContainersState = { kind: "exited", exit: ended };
    return writeStatusStep(pod, exitCode === 0 ? "Succeeded" : "Failed", {
      ...commonStatusInput(pod, facts),
      containers,
    });
  }
  const containers: ContainersState = { kind: "backing-off", last: ended };
  return { ...writeStatusStep(pod, "Running", { ...commonStatusInput(pod, facts), containers }), event: "backing-off" };
}

function whileBackingOff(pod: ApiPod, facts: PodStepInput, state: JsonObject | undefined): PodStep {
  const restarts = restartsOf(pod);
  const finishedAt = timeOf(textAt(state, "lastState", "terminated", "finishedAt")) ?? facts.now;
  const dueAt = finishedAt + Math.min(crashBackOff.maxMs, crashBackOff.baseMs * 2 ** restarts);
  return facts.now < dueAt ? { kind: "wait", afterMs: dueAt - facts.now } : startContainers(pod, facts, restarts + 1);
}

function deadlineExceeded(pod: ApiPod, facts: PodStepInput): PodStep {
  const message = "Pod was active on the node longer than the specified deadline";
  return writeStatusStep(pod, "Failed", { ...stoppedStatusInput(pod, facts), reason: "DeadlineExceeded", message });
}

/** Running containers get their grace period; a pod that never started is removed at once. */
function whileTerminating(pod: ApiPod, facts: PodStepInput): PodStep {
  const { now, behaviour } = facts;
  const graceMs = (numberAt(pod.metadata, "deletionGracePeriodSeconds") ?? 0) * 1000;
  const lastAt = timeOf(pod.metadata.deletionTimestamp) ?? now;
  const wasStarted = pod.status?.phase === "Running";
  const dueAt = wasStarted ? Math.min(lastAt, lastAt - graceMs + behaviour.stopMs) : lastAt - graceMs;
  if (now < dueAt) return { kind: "wait", afterMs: dueAt - now };
  const isHeld = (pod.metadata.finalizers ?? []).length > 0;
  if (isHeld && !isTerminalPod(pod)) return writeStatusStep(pod, "Failed", stoppedStatusInput(pod, facts));
  return isHeld && graceMs === 0 ? nothingToDo : { kind: "remove" };
}

function noLaterThan(deadline: number, step: PodStep, { now }: PodStepInput): PodStep {
  if (deadline === Number.POSITIVE_INFINITY || step.kind === "write" || step.kind === "remove") return step;
  const afterMs = deadline - now;
  return step.kind === "wait" ? { kind: "wait", afterMs: Math.min(step.afterMs, afterMs) } : { kind: "wait", afterMs };
}

function writeStatusStep(pod: ApiPod, phase: PodPhase, facts: PodStatusInput): PodStep & { kind: "write" } {
  return { kind: "write", status: kubeletPodStatus(pod, phase, facts) };
}

function commonStatusInput(pod: ApiPod, { now, hostIP }: PodStepInput): Omit<PodStatusInput, "containers"> {
  return { now, hostIP, restarts: restartsOf(pod) };
}

/** The kubelet has stopped the containers. */
function stoppedStatusInput(pod: ApiPod, facts: PodStepInput): PodStatusInput {
  const startedAt = startedAtOf(pod, facts);
  const exit: ContainerExit = { exitCode: stoppedExitCode, startedAt, finishedAt: rfc3339(facts.now) };
  return { ...commonStatusInput(pod, facts), containers: { kind: "exited", exit } };
}

function restartsOf({ status }: ApiPod): number {
  return numberAt(listAt(status, "containerStatuses")[0], "restartCount") ?? 0;
}

function startedAtOf(pod: ApiPod, { now }: PodStepInput): string {
  const state = listAt(pod.status, "containerStatuses")[0];
  return textAt(state, "state", "running", "startedAt") || pod.status?.startTime || rfc3339(now);
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}
