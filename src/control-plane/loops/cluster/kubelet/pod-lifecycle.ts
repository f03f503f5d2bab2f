import { rfc3339 } from "../../../api/times.ts";
import { type Json, listAt, numberAt, textAt } from "../../../kinds/draft.ts";
import { conditionOf, isFinished, type LivePod } from "../live.ts";
import type { Behaviour } from "./pod-behaviour.ts";
import {
  type ContainersState,
  type Exit,
  gatesAreOpen,
  type Phase,
  podStatus,
  type StatusFacts,
} from "./pod-status.ts";

/** What a kubelet does next about a pod. */
export type Step =
  | { readonly kind: "rest" }
  | { readonly kind: "wait"; readonly afterMs: number }
  /** A status to write, a strategic-merge patch; the step after it follows from it. */
  | { readonly kind: "write"; readonly status: Json; readonly news?: News | undefined }
  /** Its containers are gone: so may the object be. */
  | { readonly kind: "remove" };

export type News = "started" | "backing-off";

export interface PodFacts {
  readonly now: number;
  readonly behaviour: Behaviour;
  readonly hostIP: string;
  /** Asked for once, when the containers start. */
  readonly podIP: () => string;
  /** Whether its volumes can be mounted. */
  readonly hasVolumes: boolean;
}

const rest: Step = { kind: "rest" };
/** What containers exit with when told to stop. */
const stoppedExitCode = 143;
const crashBackOff = { baseMs: 10_000, maxMs: 300_000 };

/**
 * From what a pod's object says to what happens next. Everything it goes by is in the object, so that a kubelet that
 * crashed goes on where it was. (05:CP-L10)
 */
export function nextStep(pod: LivePod, facts: PodFacts): Step {
  if (pod.metadata.deletionTimestamp !== undefined) return stopping(pod, facts);
  if (isFinished(pod)) return rest;
  const startTime = timeOf(pod.status?.startTime);
  if (startTime === undefined)
    return write(pod, "Pending", { ...common(pod, facts), containers: { kind: "creating" } });
  const seconds = numberAt(pod.spec, "activeDeadlineSeconds");
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : startTime + seconds * 1000;
  if (facts.now >= deadline) return overdue(pod, facts);
  return noLaterThan(
    deadline,
    pod.status?.phase === "Running" ? running(pod, facts) : starting(pod, facts, startTime),
    facts,
  );
}

function starting(pod: LivePod, facts: PodFacts, startTime: number): Step {
  if (!facts.hasVolumes) return rest; // their arrival is a reason to look
  const dueAt = startTime + facts.behaviour.startMs;
  return facts.now < dueAt ? { kind: "wait", afterMs: dueAt - facts.now } : run(pod, facts, 0);
}

/** The containers run, from now on. */
function run(pod: LivePod, facts: PodFacts, restarts: number): Step {
  const { now, behaviour } = facts;
  const containers: ContainersState = { kind: "running", since: rfc3339(now), isReady: behaviour.readyMs === 0 };
  const podIP = pod.status === undefined ? "" : textAt(pod.status, "podIP");
  const address = podIP === "" ? facts.podIP() : podIP;
  return { ...write(pod, "Running", { ...common(pod, facts), containers, restarts, podIP: address }), news: "started" };
}

function running(pod: LivePod, facts: PodFacts): Step {
  const state = listAt(pod.status, "containerStatuses")[0];
  const since = timeOf(textAt(state, "state", "running", "startedAt"));
  return since === undefined ? backingOff(pod, facts, state) : alive(pod, facts, since);
}

function alive(pod: LivePod, facts: PodFacts, since: number): Step {
  const { now, behaviour } = facts;
  const exitAt = behaviour.runMs === undefined ? Number.POSITIVE_INFINITY : since + behaviour.runMs;
  if (now >= exitAt) return exit(pod, facts, since);
  const readyAt = since + behaviour.readyMs;
  const isReady = now >= readyAt;
  const shouldSay = isReady && gatesAreOpen(pod) ? "True" : "False";
  const areReady = listAt(pod.status, "containerStatuses").every((one) => one["ready"] === isReady);
  if (conditionOf(pod, "Ready")?.status !== shouldSay || !areReady) {
    const containers: ContainersState = { kind: "running", since: rfc3339(since), isReady };
    return write(pod, "Running", { ...common(pod, facts), containers });
  }
  const next = Math.min(exitAt, isReady ? Number.POSITIVE_INFINITY : readyAt);
  return next === Number.POSITIVE_INFINITY ? rest : { kind: "wait", afterMs: next - now };
}

function exit(pod: LivePod, facts: PodFacts, since: number): Step {
  const { now, behaviour } = facts;
  const { exitCode } = behaviour;
  const ended: Exit = { exitCode, startedAt: rfc3339(since), finishedAt: rfc3339(now) };
  const policy = textAt(pod.spec, "restartPolicy") || "Always";
  const isOver = policy === "Never" || (policy === "OnFailure" && exitCode === 0);
  if (isOver) {
    const containers: ContainersState = { kind: "exited", exit: ended };
    return write(pod, exitCode === 0 ? "Succeeded" : "Failed", { ...common(pod, facts), containers });
  }
  const containers: ContainersState = { kind: "backing-off", last: ended };
  return { ...write(pod, "Running", { ...common(pod, facts), containers }), news: "backing-off" };
}

function backingOff(pod: LivePod, facts: PodFacts, state: Json | undefined): Step {
  const restarts = restartsOf(pod);
  const finishedAt = timeOf(textAt(state, "lastState", "terminated", "finishedAt")) ?? facts.now;
  const dueAt = finishedAt + Math.min(crashBackOff.maxMs, crashBackOff.baseMs * 2 ** restarts);
  return facts.now < dueAt ? { kind: "wait", afterMs: dueAt - facts.now } : run(pod, facts, restarts + 1);
}

function overdue(pod: LivePod, facts: PodFacts): Step {
  const message = "Pod was active on the node longer than the specified deadline";
  const ended: Exit = { exitCode: stoppedExitCode, startedAt: startOf(pod, facts), finishedAt: rfc3339(facts.now) };
  return write(pod, "Failed", {
    ...common(pod, facts),
    containers: { kind: "exited", exit: ended },
    reason: "DeadlineExceeded",
    message,
  });
}

/** Containers get their grace period; what was never started needs none. */
function stopping(pod: LivePod, facts: PodFacts): Step {
  const { now, behaviour } = facts;
  const graceMs = (numberAt(pod.metadata, "deletionGracePeriodSeconds") ?? 0) * 1000;
  const lastAt = timeOf(pod.metadata.deletionTimestamp) ?? now;
  const wasStarted = pod.status?.phase === "Running";
  const dueAt = wasStarted ? Math.min(lastAt, lastAt - graceMs + behaviour.stopMs) : lastAt - graceMs;
  if (now < dueAt) return { kind: "wait", afterMs: dueAt - now };
  const isHeld = (pod.metadata.finalizers ?? []).length > 0;
  if (isHeld && !isFinished(pod)) {
    const ended: Exit = { exitCode: stoppedExitCode, startedAt: startOf(pod, facts), finishedAt: rfc3339(now) };
    return write(pod, "Failed", { ...common(pod, facts), containers: { kind: "exited", exit: ended } });
  }
  return isHeld && graceMs === 0 ? rest : { kind: "remove" };
}

function noLaterThan(deadline: number, step: Step, { now }: PodFacts): Step {
  if (deadline === Number.POSITIVE_INFINITY || step.kind === "write" || step.kind === "remove") return step;
  const afterMs = deadline - now;
  return step.kind === "wait" ? { kind: "wait", afterMs: Math.min(step.afterMs, afterMs) } : { kind: "wait", afterMs };
}

function write(pod: LivePod, phase: Phase, facts: StatusFacts): Step & { kind: "write" } {
  return { kind: "write", status: podStatus(pod, phase, facts) };
}

function common(pod: LivePod, { now, hostIP }: PodFacts): Omit<StatusFacts, "containers"> {
  return { now, hostIP, restarts: restartsOf(pod) };
}

function restartsOf({ status }: LivePod): number {
  return numberAt(listAt(status, "containerStatuses")[0], "restartCount") ?? 0;
}

function startOf(pod: LivePod, { now }: PodFacts): string {
  const state = listAt(pod.status, "containerStatuses")[0];
  return textAt(state, "state", "running", "startedAt") || pod.status?.startTime || rfc3339(now);
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}
