import { rfc3339 } from "../../../util/timestamp.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { listAt, textAt } from "../../object-fields.ts";
import { type ApiPod, conditionOfType } from "../api-pod-and-node.ts";

/** The state of all containers of a pod; simulated containers change state together. */
export type ContainersState =
  | { readonly kind: "creating" }
  | { readonly kind: "running"; readonly since: string; readonly isReady: boolean }
  /** Between two restarts. */
  | { readonly kind: "backing-off"; readonly last: ContainerExit }
  | { readonly kind: "exited"; readonly exit: ContainerExit };

export interface ContainerExit {
  readonly exitCode: number;
  readonly startedAt: string;
  readonly finishedAt: string;
}

export interface PodStatusInput {
  readonly now: number;
  readonly containers: ContainersState;
  readonly restarts: number;
  readonly hostIP: string;
  /** Once it is allocated. */
  readonly podIP?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** The status a kubelet writes, as a strategic merge patch: conditions of others stay. */
export function kubeletPodStatus(pod: ApiPod, phase: PodPhase, facts: PodStatusInput): JsonObject {
  const { now, containers, hostIP, podIP, reason, message } = facts;
  const address = podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };
  return {
    phase,
    startTime: pod.status?.startTime ?? rfc3339(now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...address,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    conditions: podConditions(pod, phase, facts),
    containerStatuses: listAt(pod.spec, "containers").map((one) => containerStatus(one, facts)),
    ...initContainerStatuses(pod, containers, facts),
  };
}

function podConditions(pod: ApiPod, phase: PodPhase, { now, containers }: PodStatusInput): readonly JsonObject[] {
  const isDone = phase === "Succeeded";
  const isStarted = containers.kind !== "creating";
  const areReady = containers.kind === "running" && containers.isReady;
  const why = isDone ? { reason: "PodCompleted" } : { reason: "ContainersNotReady", message: unreadyMessage(pod) };
  const reported: readonly (readonly [type: string, isTrue: boolean, why: JsonObject])[] = [
    ["PodReadyToStartContainers", isStarted && containers.kind !== "exited", {}],
    ["Initialized", true, isDone ? { reason: "PodCompleted" } : {}],
    ["Ready", areReady && areReadinessGatesMet(pod), why],
    ["ContainersReady", areReady, why],
  ];
  return reported.map(([type, isTrue, because]) => {
    const status = isTrue ? "True" : "False";
    const before = conditionOfType(pod, type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(now);
    // Conditions are merged by type: old reasons must be cleared explicitly.
    const texts = { reason: null, message: null, ...(isTrue && !isDone ? {} : because) };
    return { type, status, lastProbeTime: null, lastTransitionTime, ...texts };
  });
}

function unreadyMessage({ spec }: ApiPod): string {
  const names = listAt(spec, "containers").map((one) => textAt(one, "name"));
  return `containers with unready status: [${names.join(" ")}]`;
}

/** Whether all readiness gates are True. */
export function areReadinessGatesMet(pod: ApiPod): boolean {
  return listAt(pod.spec, "readinessGates").every(
    (gate) => conditionOfType(pod, textAt(gate, "conditionType"))?.status === "True",
  );
}

function containerStatus(container: JsonObject, { containers, restarts }: PodStatusInput): JsonObject {
  const name = textAt(container, "name");
  const image = textAt(container, "image");
  const isRunning = containers.kind === "running";
  const id = containers.kind === "creating" ? {} : { containerID: `simulated://${name}-${restarts}` };
  return {
    name,
    image,
    imageID: containers.kind === "creating" ? "" : `simulated://${image}`,
    ...id,
    ready: isRunning && containers.isReady,
    started: isRunning,
    restartCount: restarts,
    state: stateOf(containers),
    lastState: containers.kind === "backing-off" ? { terminated: terminated(containers.last) } : {},
  };
}

function stateOf(containers: ContainersState): JsonObject {
  switch (containers.kind) {
    case "creating":
      return { waiting: { reason: "ContainerCreating" } };
    case "running":
      return { running: { startedAt: containers.since } };
    case "backing-off":
      return { waiting: { reason: "CrashLoopBackOff", message: "back-off restarting failed container" } };
    case "exited":
      return { terminated: terminated(containers.exit) };
  }
}

function terminated({ exitCode, startedAt, finishedAt }: ContainerExit): JsonObject {
  return { exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt, finishedAt };
}

/** Init containers are done once the main containers run; sidecars keep running. */
function initContainerStatuses(pod: ApiPod, containers: ContainersState, facts: PodStatusInput): JsonObject {
  const init = listAt(pod.spec, "initContainers");
  if (init.length === 0) return {};
  const time = rfc3339(facts.now);
  const finished: ContainersState = { kind: "exited", exit: { exitCode: 0, startedAt: time, finishedAt: time } };
  const before = listAt(pod.status, "initContainerStatuses");
  return {
    initContainerStatuses: init.map((one, at) => {
      const isSidecar = textAt(one, "restartPolicy") === "Always";
      if (isSidecar || containers.kind === "creating") return containerStatus(one, facts);
      const known = before[at];
      const wasDone = known !== undefined && textAt(known, "state", "terminated", "finishedAt") !== "";
      return wasDone ? known : { ...containerStatus(one, { ...facts, containers: finished }), ready: true };
    }),
  };
}
