import type { KubeObject } from "../../api/object.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, nameColumn, type Printer, type RowCondition, wide } from "./column.ts";
import { at, hasTrueCondition, listAt, numberAt, textAt } from "./read.ts";

export const podPrinter: Printer = {
  columns: [
    nameColumn,
    column("Ready", (pod) => readiness(pod)),
    column("Status", (pod) => statusWord(pod)),
    column("Restarts", (pod, now) => restartsPhrase(pod, now)),
    ageColumn,
    wide("IP", (pod) => textAt(listAt(pod, "status", "podIPs")[0], "ip") || "<none>"),
    wide("Node", (pod) => textAt(pod, "spec", "nodeName") || "<none>"),
    wide("Nominated Node", (pod) => textAt(pod, "status", "nominatedNodeName") || "<none>"),
    wide("Readiness Gates", (pod) => readinessGates(pod)),
  ],
  conditions: (pod) => completion(textAt(pod, "status", "phase")),
};

function completion(phase: string): readonly RowCondition[] {
  if (phase !== "Succeeded" && phase !== "Failed") return [];
  const message = phase === "Succeeded" ? "All containers ended with success." : "At least one container failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function isSidecar(pod: KubeObject, name: string): boolean {
  const container = listAt(pod, "spec", "initContainers").find((one) => textAt(one, "name") === name);
  return textAt(container, "restartPolicy") === "Always";
}

const statuses = (pod: KubeObject) => listAt(pod, "status", "containerStatuses");
const initStatuses = (pod: KubeObject) => listAt(pod, "status", "initContainerStatuses");
const nameOf = (status: unknown) => textAt(status, "name");

/** Sidecars count as containers. */
function readiness(pod: KubeObject): string {
  const sidecars = listAt(pod, "spec", "initContainers").filter((one) => textAt(one, "restartPolicy") === "Always");
  const total = listAt(pod, "spec", "containers").length + sidecars.length;
  const readySidecars = initProgress(pod).passed.filter(
    (status) => isSidecar(pod, nameOf(status)) && at(status, "started") === true && at(status, "ready") === true,
  ).length;
  const counted = isInitializing(pod) ? [] : statuses(pod);
  const ready = counted.filter(
    (status) => at(status, "ready") === true && at(status, "state", "running") !== undefined && !hasStopped(status),
  ).length;
  return `${ready + readySidecars}/${total}`;
}

function hasStopped(status: unknown): boolean {
  return textAt(status, "state", "waiting", "reason") !== "" || at(status, "state", "terminated") !== undefined;
}

interface InitProgress {
  /** Those that are done, or started and meant to stay. */
  readonly passed: readonly unknown[];
  /** The one that holds up the rest. */
  readonly current: unknown;
}

function initProgress(pod: KubeObject): InitProgress {
  const all = initStatuses(pod);
  const stuck = all.findIndex((status) => !hasPassed(pod, status));
  return stuck === -1 ? { passed: all, current: undefined } : { passed: all.slice(0, stuck), current: all[stuck] };
}

function hasPassed(pod: KubeObject, status: unknown): boolean {
  const terminated = at(status, "state", "terminated");
  if (terminated !== undefined && numberAt(terminated, "exitCode") === 0) return true;
  return isSidecar(pod, nameOf(status)) && at(status, "started") === true;
}

function isInitializing(pod: KubeObject): boolean {
  return initProgress(pod).current !== undefined && !hasTrueCondition(pod, "Initialized");
}

/** The one word that says most about how a pod is. */
function statusWord(pod: KubeObject): string {
  const phase = textAt(pod, "status", "phase");
  if (at(pod, "metadata", "deletionTimestamp") !== undefined) {
    if (textAt(pod, "status", "reason") === "NodeLost") return "Unknown";
    if (phase !== "Succeeded" && phase !== "Failed") return "Terminating";
  }
  return livingWord(pod, phase);
}

function livingWord(pod: KubeObject, phase: string): string {
  let word = textAt(pod, "status", "reason") || phase;
  const isGated = listAt(pod, "status", "conditions").some(
    (one) => textAt(one, "type") === "PodScheduled" && textAt(one, "reason") === "SchedulingGated",
  );
  if (isGated) word = "SchedulingGated";
  const { passed, current } = initProgress(pod);
  if (current !== undefined)
    word = initWord(current, `${passed.length}/${listAt(pod, "spec", "initContainers").length}`);
  return isInitializing(pod) ? word : containersWord(pod, word);
}

function initWord(status: unknown, progress: string): string {
  const terminated = at(status, "state", "terminated");
  if (terminated !== undefined) return `Init:${terminatedWord(terminated)}`;
  const waiting = textAt(status, "state", "waiting", "reason");
  return `Init:${waiting !== "" && waiting !== "PodInitializing" ? waiting : progress}`;
}

function terminatedWord(terminated: unknown): string {
  const signal = numberAt(terminated, "signal");
  const code = signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode")}` : `Signal:${signal}`;
  return textAt(terminated, "reason") || code;
}

/** The first container has the last word; one that still runs outweighs those that completed. */
function containersWord(pod: KubeObject, fallback: string): string {
  let word = fallback;
  let failure = "";
  let isRunning = false;
  for (const status of [...statuses(pod)].reverse()) {
    const waiting = textAt(status, "state", "waiting", "reason");
    const terminated = at(status, "state", "terminated");
    if (waiting !== "") word = waiting;
    else if (terminated !== undefined) {
      word = terminatedWord(terminated);
      if (numberAt(terminated, "exitCode") !== 0) failure = word;
    } else if (at(status, "ready") === true && at(status, "state", "running") !== undefined) isRunning = true;
  }
  if (word !== "Completed") return word;
  if (isRunning && hasTrueCondition(pod, "Ready")) return "Running";
  return failure || (isRunning ? "NotReady" : word);
}

/** Of the init containers while they run, of the containers and sidecars afterwards. */
function restartsPhrase(pod: KubeObject, now: number): string {
  const { passed, current } = initProgress(pod);
  const begun = current === undefined ? passed : [...passed, current];
  const counted = isInitializing(pod)
    ? begun
    : [...begun.filter((status) => isSidecar(pod, nameOf(status))), ...statuses(pod)];
  const restarts = counted.reduce<number>((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const ends = counted.map((status) => textAt(status, "lastState", "terminated", "finishedAt"));
  const last = ends.sort().at(-1) ?? "";
  return restarts === 0 || last === "" ? String(restarts) : `${restarts} (${ageOf(last, now)} ago)`;
}

function readinessGates(pod: KubeObject): string {
  const gates = listAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  return `${gates.filter((gate) => hasTrueCondition(pod, textAt(gate, "conditionType"))).length}/${gates.length}`;
}
