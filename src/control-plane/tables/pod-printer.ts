import type { KubeObject } from "../../api/object.ts";
import { fieldAt, hasTrueCondition, itemsAt, numberOrZero, textAt } from "../object-fields.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, nameColumn, type Printer, type RowCondition, wideColumn } from "./table-column.ts";

export const podPrinter: Printer = {
  columns: [
    nameColumn,
    column("Ready", (pod) => readiness(pod)),
    column("Status", (pod) => statusWord(pod)),
    column("Restarts", (pod, now) => restartsPhrase(pod, now)),
    ageColumn,
    wideColumn("IP", (pod) => textAt(itemsAt(pod, "status", "podIPs")[0], "ip") || "<none>"),
    wideColumn("Node", (pod) => textAt(pod, "spec", "nodeName") || "<none>"),
    wideColumn("Nominated Node", (pod) => textAt(pod, "status", "nominatedNodeName") || "<none>"),
    wideColumn("Readiness Gates", (pod) => readinessGates(pod)),
  ],
  conditions: (pod) => completion(textAt(pod, "status", "phase")),
};

function completion(phase: string): readonly RowCondition[] {
  if (phase !== "Succeeded" && phase !== "Failed") return [];
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function isSidecar(pod: KubeObject, name: string): boolean {
  const container = itemsAt(pod, "spec", "initContainers").find((one) => textAt(one, "name") === name);
  return textAt(container, "restartPolicy") === "Always";
}

const statuses = (pod: KubeObject) => itemsAt(pod, "status", "containerStatuses");
const initStatuses = (pod: KubeObject) => itemsAt(pod, "status", "initContainerStatuses");
const nameOf = (status: unknown) => textAt(status, "name");

/** Sidecars count as containers. */
function readiness(pod: KubeObject): string {
  const sidecars = itemsAt(pod, "spec", "initContainers").filter((one) => textAt(one, "restartPolicy") === "Always");
  const total = itemsAt(pod, "spec", "containers").length + sidecars.length;
  const readySidecars = initProgress(pod).passed.filter(
    (status) =>
      isSidecar(pod, nameOf(status)) && fieldAt(status, "started") === true && fieldAt(status, "ready") === true,
  ).length;
  const counted = isInitializing(pod) ? [] : statuses(pod);
  const ready = counted.filter(
    (status) =>
      fieldAt(status, "ready") === true && fieldAt(status, "state", "running") !== undefined && !hasStopped(status),
  ).length;
  return `${ready + readySidecars}/${total}`;
}

function hasStopped(status: unknown): boolean {
  return textAt(status, "state", "waiting", "reason") !== "" || fieldAt(status, "state", "terminated") !== undefined;
}

interface InitProgress {
  /** Init containers that are done, or sidecars that have started. */
  readonly passed: readonly unknown[];
  /** The init container the others wait for. */
  readonly current: unknown;
}

function initProgress(pod: KubeObject): InitProgress {
  const all = initStatuses(pod);
  const firstPending = all.findIndex((status) => !hasPassed(pod, status));
  return firstPending === -1
    ? { passed: all, current: undefined }
    : { passed: all.slice(0, firstPending), current: all[firstPending] };
}

function hasPassed(pod: KubeObject, status: unknown): boolean {
  const terminated = fieldAt(status, "state", "terminated");
  if (terminated !== undefined && numberOrZero(terminated, "exitCode") === 0) return true;
  return isSidecar(pod, nameOf(status)) && fieldAt(status, "started") === true;
}

function isInitializing(pod: KubeObject): boolean {
  return initProgress(pod).current !== undefined && !hasTrueCondition(pod, "Initialized");
}

/** The STATUS column, as kubectl computes it. */
function statusWord(pod: KubeObject): string {
  const phase = textAt(pod, "status", "phase");
  if (fieldAt(pod, "metadata", "deletionTimestamp") !== undefined) {
    if (textAt(pod, "status", "reason") === "NodeLost") return "Unknown";
    if (phase !== "Succeeded" && phase !== "Failed") return "Terminating";
  }
  return phaseWord(pod, phase);
}

function phaseWord(pod: KubeObject, phase: string): string {
  let word = textAt(pod, "status", "reason") || phase;
  const isGated = itemsAt(pod, "status", "conditions").some(
    (one) => textAt(one, "type") === "PodScheduled" && textAt(one, "reason") === "SchedulingGated",
  );
  if (isGated) word = "SchedulingGated";
  const { passed, current } = initProgress(pod);
  if (current !== undefined)
    word = initWord(current, `${passed.length}/${itemsAt(pod, "spec", "initContainers").length}`);
  return isInitializing(pod) ? word : containersWord(pod, word);
}

function initWord(status: unknown, progress: string): string {
  const terminated = fieldAt(status, "state", "terminated");
  if (terminated !== undefined) return `Init:${terminatedWord(terminated)}`;
  const waiting = textAt(status, "state", "waiting", "reason");
  return `Init:${waiting !== "" && waiting !== "PodInitializing" ? waiting : progress}`;
}

function terminatedWord(terminated: unknown): string {
  const signal = numberOrZero(terminated, "signal");
  const code = signal === 0 ? `ExitCode:${numberOrZero(terminated, "exitCode")}` : `Signal:${signal}`;
  return textAt(terminated, "reason") || code;
}

/** The first container decides; a running one overrides completed ones. */
function containersWord(pod: KubeObject, fallback: string): string {
  let word = fallback;
  let failure = "";
  let isRunning = false;
  for (const status of [...statuses(pod)].reverse()) {
    const waiting = textAt(status, "state", "waiting", "reason");
    const terminated = fieldAt(status, "state", "terminated");
    if (waiting !== "") word = waiting;
    else if (terminated !== undefined) {
      word = terminatedWord(terminated);
      if (numberOrZero(terminated, "exitCode") !== 0) failure = word;
    } else if (fieldAt(status, "ready") === true && fieldAt(status, "state", "running") !== undefined) isRunning = true;
  }
  if (word !== "Completed") return word;
  if (isRunning && hasTrueCondition(pod, "Ready")) return "Running";
  return failure || (isRunning ? "NotReady" : word);
}

/** Restarts of the init containers while they run, of containers and sidecars afterwards. */
function restartsPhrase(pod: KubeObject, now: number): string {
  const { passed, current } = initProgress(pod);
  const started = current === undefined ? passed : [...passed, current];
  const counted = isInitializing(pod)
    ? started
    : [...started.filter((status) => isSidecar(pod, nameOf(status))), ...statuses(pod)];
  const restarts = counted.reduce<number>((sum, status) => sum + numberOrZero(status, "restartCount"), 0);
  const ends = counted.map((status) => textAt(status, "lastState", "terminated", "finishedAt"));
  const last = ends.sort().at(-1) ?? "";
  return restarts === 0 || last === "" ? String(restarts) : `${restarts} (${ageOf(last, now)} ago)`;
}

function readinessGates(pod: KubeObject): string {
  const gates = itemsAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  return `${gates.filter((gate) => hasTrueCondition(pod, textAt(gate, "conditionType"))).length}/${gates.length}`;
}
