import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { type HostPort, hostPortsOf } from "../../src/core/host-ports.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { Requirements } from "../../src/core/requirements.ts";
import type { Resources } from "../../src/core/resources.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { podVolumesByDriver, volumeRequirementAlternatives } from "../../src/core/volumes.ts";

/** A pod as one attempt sees it, with the preferences it still has. (02:T-8) */
export interface PodView {
  readonly pod: Pod;
  readonly uid: string;
  readonly requests: Resources;
  /** With the heaviest preference, unless preferences are ignored. */
  readonly requirements: Requirements;
  readonly strict: Requirements;
  /** Never empty: a pod without volumes has one alternative that asks for nothing. (02:N-3) */
  readonly alternatives: readonly Requirements[];
  readonly ports: readonly HostPort[];
  readonly volumes: ReadonlyMap<string, ReadonlySet<string>>;
}

export function viewPod(pod: Pod, problem: SchedulingProblem): PodView {
  const { labelPolicy, policy, volumes } = problem;
  const strict = Requirements.fromPodStrictly(pod.spec, labelPolicy);
  const found = volumeRequirementAlternatives(pod, volumes, labelPolicy).alternatives ?? [];
  return {
    pod,
    uid: uidOf(pod),
    requests: podRequests(pod),
    requirements: policy.preferences === "Respect" ? Requirements.fromPod(pod.spec, labelPolicy) : strict,
    strict,
    alternatives: found.length === 0 ? [Requirements.none] : found,
    ports: hostPortsOf(pod),
    volumes: podVolumesByDriver(pod, volumes),
  };
}

export function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? `${metadata.namespace ?? "default"}/${metadata.name}`;
}

/** The pod of the problem, without the preferences that were dropped. */
export function asGiven(pod: Pod, { pods }: SchedulingProblem): Pod {
  return pods.find((one) => uidOf(one) === uidOf(pod)) ?? pod;
}

/** 02:D-1. */
export function usesDynamicResources({ spec }: Pod): boolean {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return (
    (spec.resourceClaims ?? []).length > 0 || containers.some(({ resources }) => (resources?.claims ?? []).length > 0)
  );
}
