import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespaceOf } from "../../api/object.ts";
import { forEachInSteps, mapInSteps, type Steps } from "../../util/steps.ts";
import { podRequests, type QuantityReader } from "../pod-requests.ts";
import type { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { Resources } from "../resources.ts";
import { podVolumesByDriver, volumeRequirementAlternatives } from "../volumes.ts";
import type { SchedulingProblem } from "./problem.ts";
import type { RequirementSet, RequirementTable } from "./requirement-table.ts";

/** Pods that scheduling cannot tell apart: what is computed for one holds for all. (02 §10.3-1) */
export interface PodClass {
  readonly index: number;
  readonly namespace: string;
  /** Only labels that some selector reads. */
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly requests: Resources;
  /** The requests as a row of the resource space, which is made once all classes are known. */
  requestRow: Float64Array;
  readonly volumeAlternatives: readonly VolumeAlternative[];
  /** Its volumes cannot be resolved: the pods are left out of this round. (02 §12.2-7) */
  readonly volumeError: string | undefined;
  readonly volumes: ReadonlyMap<string, ReadonlySet<string>>;
  readonly hasHostPorts: boolean;
  readonly usesDra: boolean;
}

/** Requirements under which all volumes can be used; the hostname is compared by name. (02:W-1) */
interface VolumeAlternative extends RequirementSet {
  readonly hostname: Requirement | undefined;
}

interface PodClassInput {
  readonly problem: SchedulingProblem;
  /** Bound pods that are among the pods to classify: their specs need no second look. */
  readonly classifiedBoundPods?: ReadonlySet<Pod> | undefined;
  readonly table: RequirementTable;
  readonly reader: QuantityReader;
}

export interface PodClasses {
  readonly all: readonly PodClass[];
  /** By position of the pod in the problem. */
  readonly classOf: readonly PodClass[];
  /** Label keys that some selector reads. */
  readonly selectedKeys: ReadonlySet<string>;
}

export function* classifyPods(pods: readonly Pod[], input: PodClassInput): Steps<PodClasses> {
  const specs = new SpecIndex();
  const specOf = yield* mapInSteps(pods, ({ spec }) => specs.of(spec));
  const selectedKeys = new Set<string>();
  yield* forEachInSteps(specs.distinct, (spec) => collectSelectorKeys(spec, selectedKeys));
  yield* forEachInSteps(input.problem.boundPods, (pod) => {
    if (pod.spec.affinity?.podAntiAffinity === undefined || input.classifiedBoundPods?.has(pod)) return;
    collectSelectorKeys(pod.spec, selectedKeys);
  });
  const sortedKeys = [...selectedKeys].sort();
  const byText = new Map<string, PodClass>();
  const classOf = yield* mapInSteps(pods, (pod, index) => {
    const { metadata } = pod;
    const text = `${specOf[index]}\n${namespaceOf(metadata)}\n${labelsText(metadata.labels, sortedKeys)}${podSpecificText(pod)}${claimsText(pod, input.problem)}`;
    const known = byText.get(text);
    if (known !== undefined) return known;
    const selected = pickLabels(metadata.labels ?? {}, sortedKeys);
    const made = makePodClass(pod, { ...input, index: byText.size, labels: selected });
    byText.set(text, made);
    return made;
  });
  return { all: [...byText.values()], classOf, selectedKeys };
}

/** Numbers for pod specs; specs that scheduling cannot tell apart get the same number. */
class SpecIndex {
  /** The first spec of each number. */
  readonly distinct: PodSpec[] = [];
  readonly #bySpec = new Map<PodSpec, number>();
  readonly #byText = new Map<string, number>();

  of(spec: PodSpec): number {
    const known = this.#bySpec.get(spec) ?? this.#byTextOf(spec);
    this.#bySpec.set(spec, known);
    return known;
  }

  #byTextOf(spec: PodSpec): number {
    const text = specText(spec);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    this.#byText.set(text, this.distinct.length);
    return this.distinct.push(spec) - 1;
  }
}

function makePodClass(
  pod: Pod,
  input: PodClassInput & { index: number; labels: Readonly<Record<string, string>> },
): PodClass {
  const { problem, table, reader, index } = input;
  const alternatives = volumeRequirementAlternatives(pod, problem.volumes, problem.labelPolicy);
  const found = "alternatives" in alternatives ? alternatives.alternatives : [];
  return {
    index,
    namespace: namespaceOf(pod.metadata),
    labels: input.labels,
    spec: pod.spec,
    requests: podRequests(pod, reader),
    requestRow: new Float64Array(),
    volumeAlternatives: found.map((requirements) => {
      const { rest, hostname } = splitHostname(requirements);
      return { ...table.setOf(rest), hostname };
    }),
    volumeError: "problem" in alternatives ? alternatives.problem : undefined,
    volumes: podVolumesByDriver(pod, problem.volumes),
    hasHostPorts: pod.spec.containers?.some(({ ports }) => ports?.some(({ hostPort }) => hostPort)) ?? false,
    usesDra: usesDra(pod.spec),
  };
}

/** Everything in a spec that scheduling reads. */
function specText(spec: PodSpec): string {
  const container = ({ resources, ports, restartPolicy, name }: NonNullable<PodSpec["containers"]>[number]) => [
    resources,
    ports?.filter(({ hostPort }) => hostPort),
    restartPolicy,
    name,
  ];
  return JSON.stringify([
    spec.nodeSelector,
    spec.affinity,
    spec.tolerations,
    spec.topologySpreadConstraints,
    spec.containers?.map(container),
    spec.initContainers?.map(container),
    spec.resources,
    spec.overhead,
    spec.volumes?.filter(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral),
    spec.resourceClaims,
  ]);
}

/** What sets pods of one spec apart: volumes named after the pod, and sizes changed in place. */
function podSpecificText(pod: Pod): string {
  const named = pod.spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) ? pod.metadata.name : undefined;
  const { containerStatuses, initContainerStatuses } = pod.status ?? {};
  if (named === undefined && containerStatuses === undefined && initContainerStatuses === undefined) return "";
  const statuses = [...(containerStatuses ?? []), ...(initContainerStatuses ?? [])].filter(
    ({ resources, allocatedResources }) => resources ?? allocatedResources,
  );
  if (named === undefined && statuses.length === 0) return "";
  return JSON.stringify([named, statuses, pod.status?.conditions?.filter(({ type }) => type === "PodResizePending")]);
}

/** Claims that were made for the pod have names of their own. */
function claimsText({ spec, status }: Pod, { policy }: SchedulingProblem): string {
  if (policy.ignoreDra || spec.resourceClaims === undefined) return "";
  return JSON.stringify(status?.resourceClaimStatuses ?? []);
}

/** Spread constraints and pod affinity terms, required and preferred. */
export function topologyConstraintsOf({ topologySpreadConstraints = [], affinity }: PodSpec) {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return [...topologySpreadConstraints, ...terms];
}

function collectSelectorKeys(spec: PodSpec, keys: Set<string>): void {
  for (const term of topologyConstraintsOf(spec)) {
    for (const key of Object.keys(term.labelSelector?.matchLabels ?? {})) keys.add(key);
    for (const { key } of term.labelSelector?.matchExpressions ?? []) keys.add(key);
    for (const key of term.matchLabelKeys ?? []) keys.add(key);
    if ("mismatchLabelKeys" in term) for (const key of term.mismatchLabelKeys ?? []) keys.add(key);
  }
}

function pickLabels(
  podLabels: Readonly<Record<string, string>>,
  sortedKeys: readonly string[],
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const key of sortedKeys) if (Object.hasOwn(podLabels, key)) kept[key] = podLabels[key] ?? "";
  return kept;
}

/** The labels that some selector reads. No label has a zero byte. */
function labelsText(podLabels: Readonly<Record<string, string>> | undefined, sortedKeys: readonly string[]): string {
  let text = "";
  if (podLabels === undefined) return text;
  for (const key of sortedKeys) if (Object.hasOwn(podLabels, key)) text += `${key}=${podLabels[key]}\0`;
  return text;
}

/** Whether the pod, or one of its containers, has resource claims (Dynamic Resource Allocation). (02:D-1) */
export function usesDra({ resourceClaims = [], containers = [], initContainers = [] }: PodSpec): boolean {
  return (
    resourceClaims.length > 0 ||
    [...containers, ...initContainers].some(({ resources }) => (resources?.claims?.length ?? 0) > 0)
  );
}

export function splitHostname(requirements: Requirements): { rest: Requirements; hostname: Requirement | undefined } {
  const hostname = requirements.has(labels.hostname) ? requirements.get(labels.hostname) : undefined;
  return { rest: requirements.without(labels.hostname), hostname };
}
