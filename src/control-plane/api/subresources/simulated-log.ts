import type { KubeObject } from "../../../api/object.ts";
import type { Clock } from "../../../util/clock.ts";
import { formatDurationMs } from "../../../util/duration.ts";
import { listAt, numberOrZero, recordAt, textAt } from "../../object-fields.ts";
import { badRequest } from "../api-errors.ts";
import { firstLogLine, formatLogLine, type LogLine, type LogRequest } from "./log.ts";

interface SimulatedLogOptions {
  readonly clock: Clock;
  /** The pod as it is now; undefined once it is gone. */
  readonly current: () => KubeObject | undefined;
}

/** A simulated container says this often that it runs. */
const heartbeatMs = 60_000;
/** How often a followed log is looked at again. */
const followMs = 1_000;

/** What a container would have logged if it had run: when it started, that it runs, and how it ended. */
export function simulatedLog(
  pod: KubeObject,
  request: LogRequest,
  { clock, current }: SimulatedLogOptions,
): AsyncIterable<string> {
  const run = containerRun(pod, request);
  if (run === undefined) return followLog([], request, { clock, next: () => undefined });
  const next = () => {
    const now = current();
    const latest = now && runOf(now, request);
    return latest?.startedAt === run.startedAt ? latest : undefined;
  };
  return followLog(linesOf(run, clock.now()), request, {
    clock,
    next: () => {
      const latest = next();
      return latest && { lines: linesOf(latest, clock.now()), isOver: latest.exit !== undefined };
    },
  });
}

interface FollowOptions {
  readonly clock: Clock;
  /** All lines by now; undefined when there will be no more. */
  readonly next: () => { readonly lines: readonly LogLine[]; readonly isOver: boolean } | undefined;
}

async function* followLog(
  lines: readonly LogLine[],
  request: LogRequest,
  { clock, next }: FollowOptions,
): AsyncIterable<string> {
  for (const line of lines.slice(firstLogLine(lines, request, clock.now()))) yield formatLogLine(line, request);
  let shown = lines.length;
  while (request.follow === true && request.signal?.aborted !== true) {
    const latest = next();
    if (latest === undefined) return;
    for (const line of latest.lines.slice(shown)) yield formatLogLine(line, request);
    shown = Math.max(shown, latest.lines.length);
    if (latest.isOver) return;
    await clock.sleep(followMs, request.signal);
  }
}

/** One run of a container, from its status. */
interface ContainerRun {
  readonly name: string;
  readonly image: string;
  readonly node: string;
  readonly startedAt: number;
  readonly restarts: number;
  readonly exit?: { readonly code: number; readonly at: number } | undefined;
}

/** Undefined for a pod without a node; refused, as a kubelet does, for a container that has not run. */
function containerRun(pod: KubeObject, request: LogRequest): ContainerRun | undefined {
  const { container = "" } = request;
  const run = runOf(pod, request);
  if (run !== undefined || textAt(pod.spec, "nodeName") === "") return run;
  const podName = pod.metadata.name ?? "";
  if (request.previous === true)
    throw badRequest(`previous terminated container "${container}" in pod "${podName}" not found`);
  const reason = textAt(statusOf(pod, container), "state", "waiting", "reason") || "ContainerCreating";
  throw badRequest(`container "${container}" in pod "${podName}" is waiting to start: ${reason}`);
}

function runOf(pod: KubeObject, { container = "", previous }: LogRequest): ContainerRun | undefined {
  const status = statusOf(pod, container);
  const state = recordAt(status, previous === true ? "lastState" : "state");
  const last = previous === true ? undefined : recordAt(status, "lastState");
  // Between two runs the last one is shown, as by a kubelet.
  const described = recordAt(state, "running") ?? recordAt(state, "terminated") ?? recordAt(last, "terminated");
  const startedAt = Date.parse(textAt(described, "startedAt"));
  if (described === undefined || Number.isNaN(startedAt)) return undefined;
  const finishedAt = Date.parse(textAt(described, "finishedAt"));
  return {
    name: container,
    image: textAt(status, "image"),
    node: textAt(pod.spec, "nodeName"),
    startedAt,
    restarts: numberOrZero(status, "restartCount"),
    exit: Number.isNaN(finishedAt) ? undefined : { code: numberOrZero(described, "exitCode"), at: finishedAt },
  };
}

function statusOf(pod: KubeObject, container: string): Record<string, unknown> | undefined {
  const all = [...listAt(pod.status, "initContainerStatuses"), ...listAt(pod.status, "containerStatuses")];
  return all.find((status) => textAt(status, "name") === container);
}

function linesOf({ name, image, node, startedAt, restarts, exit }: ContainerRun, now: number): readonly LogLine[] {
  const again = restarts === 0 ? "" : `, restart ${restarts}`;
  const first = `container ${name} (${image}) started on ${node}${again}; it is simulated: no process runs in it`;
  const until = exit?.at ?? now;
  const beats = Math.max(0, Math.ceil((until - startedAt) / heartbeatMs) - 1);
  return [
    { at: startedAt, text: first },
    ...Array.from({ length: beats }, (_, index) => {
      const passedMs = (index + 1) * heartbeatMs;
      return { at: startedAt + passedMs, text: `container ${name} has run for ${formatDurationMs(passedMs)}` };
    }),
    ...(exit === undefined
      ? []
      : [
          {
            at: exit.at,
            text: `container ${name} exited with code ${exit.code} after ${formatDurationMs(until - startedAt)}`,
          },
        ]),
  ];
}
