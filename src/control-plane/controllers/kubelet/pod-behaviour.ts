import { simulationAnnotations } from "../../../api/labels.ts";
import type { Random } from "../../../util/random.ts";
import { listAt, numberAt, recordAt } from "../../object-fields.ts";
import type { ApiPod } from "../api-pod-and-node.ts";

/** How long things take on a simulated node, unless a pod's annotations say otherwise. */
export interface PodDelays {
  /** From binding to running containers: random between the two, per pod. */
  readonly startMs: readonly [least: number, most: number];
  /** How long containers take to stop. */
  readonly stopMs: readonly [least: number, most: number];
  /** How long the pods of a Job run. */
  readonly jobMs: number;
}

export const defaultPodDelays: PodDelays = { startMs: [1_000, 3_000], stopMs: [500, 2_000], jobMs: 30_000 };

/** How one pod behaves; always the same for the same pod and seed. */
export interface PodBehaviour {
  readonly startMs: number;
  readonly readyMs: number;
  /** Undefined: runs until stopped. */
  readonly runMs: number | undefined;
  readonly exitCode: number;
  /** Including pre-stop hooks. */
  readonly stopMs: number;
}

const slowKubeletFactor = 10;

export interface PodBehaviourOptions {
  readonly delays: PodDelays;
  /** Each pod uses its own fork. */
  readonly random: Random;
  readonly isSlow: boolean;
}

export function podBehaviour(pod: ApiPod, { delays, random, isSlow }: PodBehaviourOptions): PodBehaviour {
  const own = random.fork(pod.metadata.uid ?? "");
  const factor = isSlow ? slowKubeletFactor : 1;
  const startMs = annotatedMs(pod, simulationAnnotations.startSeconds) ?? randomMs(own, delays.startMs);
  const stopMs = annotatedMs(pod, simulationAnnotations.stopSeconds) ?? randomMs(own, delays.stopMs);
  const annotatedExit = Number(pod.metadata.annotations?.[simulationAnnotations.exitCode] ?? 0);
  return {
    startMs: startMs * factor,
    readyMs: (annotatedMs(pod, simulationAnnotations.readySeconds) ?? probeMs(pod)) * factor,
    runMs: annotatedMs(pod, simulationAnnotations.runSeconds) ?? (isOfJob(pod) ? delays.jobMs : undefined),
    exitCode: Number.isSafeInteger(annotatedExit) ? annotatedExit : 0,
    stopMs: (preStopMs(pod) + stopMs) * factor,
  };
}

function annotatedMs({ metadata }: ApiPod, annotation: string): number | undefined {
  const written = metadata.annotations?.[annotation];
  const seconds = written === undefined || written.trim() === "" ? Number.NaN : Number(written);
  return seconds >= 0 && seconds < Number.POSITIVE_INFINITY ? seconds * 1000 : undefined;
}

function randomMs(random: Random, [least, most]: readonly [number, number]): number {
  return Math.round(least + random.next() * (most - least));
}

/** A readiness probe succeeds on its first try. */
function probeMs({ spec }: ApiPod): number {
  const waits = listAt(spec, "containers").map((one) => numberAt(one, "readinessProbe", "initialDelaySeconds") ?? 0);
  return Math.max(0, ...waits) * 1000;
}

/** Sleep hooks take as long as they say; others take no time. */
function preStopMs({ spec }: ApiPod): number {
  const sleeps = listAt(spec, "containers").map((one) => {
    const sleep = recordAt(one, "lifecycle", "preStop", "sleep");
    return sleep === undefined ? 0 : (numberAt(sleep, "seconds") ?? 0);
  });
  return Math.max(0, ...sleeps) * 1000;
}

function isOfJob({ metadata }: ApiPod): boolean {
  return metadata.ownerReferences?.some(({ kind, controller }) => kind === "Job" && controller === true) === true;
}
