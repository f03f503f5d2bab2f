import { isSameJson } from "../../../api/json.ts";
import type {
  Pod,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from "../../../api/kubernetes/pod.ts";
import { resources } from "../../../api/labels.ts";
import { namespacedName, namespaceOf } from "../../../api/object.ts";
import { type HostPort, hostPortsOf } from "../../../core/host-ports.ts";
import { type CompiledSelector, compileSelector, type LabelSet } from "../../../core/label-selector.ts";
import { isTerminalPod, isTerminatingPod } from "../../../core/pod-predicates.ts";
import { volumeClaimKeys } from "../../../core/volumes.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { type NodeTest, nodeSelectorTermTest, requiredNodeTest } from "../node-selector.ts";
import type { SchedulerAmountReader, SchedulerAmounts } from "./scheduler-amounts.ts";

/** A pod prepared for comparison with many nodes and pods. */
export interface PodProfile {
  /** namespace/name. */
  readonly key: string;
  readonly uid: string;
  readonly pod: ApiPod;
  readonly namespace: string;
  readonly labels: LabelSet;
  readonly priority: number;
  readonly isTerminating: boolean;
  readonly requests: SchedulerAmounts;
  /** Requests for scoring, with stand-ins: a node with hundreds of pods without requests must not look empty. */
  readonly nonZeroRequests: { readonly cpu: number; readonly memory: number };
  readonly hostPorts: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** Undefined if any node matches. */
  readonly matchesNode: NodeTest | undefined;
  readonly preferredNodes: readonly { readonly weight: number; readonly test: NodeTest }[];
  readonly spread: readonly SpreadConstraint[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** Preferred (anti-)affinity; a negative weight repels. */
  readonly preferredPods: readonly { readonly weight: number; readonly term: AffinityTerm }[];
  /** Keys of its volume claims. */
  readonly claims: readonly string[];
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly isHard: boolean;
  readonly selector: CompiledSelector;
  readonly honoursAffinity: boolean;
  readonly honoursTaints: boolean;
}

export interface AffinityTerm {
  readonly topologyKey: string;
  readonly selector: CompiledSelector;
  /** The namespaces of the term, or the pod's own if it names none. */
  readonly namespaces: ReadonlySet<string>;
  /** Selects further namespaces by label. */
  readonly namespaceSelector: CompiledSelector | undefined;
}

/** kube-scheduler's stand-ins for pods without requests. */
const assumedCpu = 100;
const assumedMemory = 200 * 1024 * 1024;

export function podProfile(pod: ApiPod, reader: SchedulerAmountReader): PodProfile {
  const { metadata, spec } = pod;
  const requests = reader.ofPod(pod);
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const { labels = {} } = metadata;
  const term = (written: PodAffinityTerm): AffinityTerm => affinityTerm(pod, written);
  return {
    key: namespacedName(metadata),
    uid: metadata.uid ?? "",
    pod,
    namespace: namespaceOf(metadata),
    labels,
    priority: spec.priority ?? 0,
    isTerminating: isTerminatingPod(pod),
    requests,
    nonZeroRequests: {
      cpu: requests.get(resources.cpu) || assumedCpu,
      memory: requests.get(resources.memory) || assumedMemory,
    },
    hostPorts: hostPortsOf(pod),
    tolerations: spec.tolerations ?? [],
    matchesNode: requiredNodeTest(spec),
    preferredNodes: (spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ weight, preference }) => ({ weight, test: nodeSelectorTermTest(preference) }),
    ),
    spread: (spec.topologySpreadConstraints ?? []).map((written) => spreadConstraint(written, labels)),
    affinity: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    antiAffinity: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    preferredPods: [
      ...preferredTerms(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1, term),
      ...preferredTerms(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1, term),
    ],
    claims: volumeClaimKeys(pod),
  };
}

/** Whether the profile still matches the pod: most pod changes only concern status. */
export function isProfileCurrent(profile: PodProfile, pod: ApiPod): boolean {
  const before = profile.pod;
  return (
    before.metadata.uid === pod.metadata.uid &&
    sameSpec(before, pod) &&
    profile.isTerminating === isTerminatingPod(pod) &&
    isTerminalPod(before) === isTerminalPod(pod) &&
    sameLabels(profile.labels, pod.metadata.labels ?? {})
  );
}

/** Compares metadata.generation, which older servers do not maintain for pods. */
function sameSpec(before: ApiPod, pod: ApiPod): boolean {
  const { generation } = pod.metadata;
  if (generation !== undefined) return before.metadata.generation === generation;
  const { nodeName: _before, ...old } = before.spec;
  const { nodeName: _now, ...spec } = pod.spec;
  return isSameJson(old, spec);
}

/** Whether the term selects the pod. */
export function termSelects(
  term: AffinityTerm,
  pod: Pick<PodProfile, "namespace" | "labels">,
  namespaceLabels: ReadonlyMap<string, LabelSet>,
): boolean {
  const others = namespaceLabels.get(pod.namespace);
  const isInNamespace =
    term.namespaces.has(pod.namespace) || (others !== undefined && term.namespaceSelector?.matches(others) === true);
  return isInNamespace && term.selector.matches(pod.labels);
}

function spreadConstraint(written: TopologySpreadConstraint, labels: LabelSet): SpreadConstraint {
  return {
    topologyKey: written.topologyKey,
    maxSkew: written.maxSkew,
    minDomains: written.minDomains ?? 1,
    isHard: written.whenUnsatisfiable !== "ScheduleAnyway",
    selector: compileSelector(written.labelSelector, { labels, matchLabelKeys: written.matchLabelKeys }),
    honoursAffinity: (written.nodeAffinityPolicy ?? "Honor") === "Honor",
    honoursTaints: (written.nodeTaintsPolicy ?? "Ignore") === "Honor",
  };
}

function affinityTerm(pod: Pod, written: PodAffinityTerm): AffinityTerm {
  const { namespaces = [], namespaceSelector, matchLabelKeys, mismatchLabelKeys } = written;
  const own = namespaces.length === 0 && namespaceSelector === undefined ? [namespaceOf(pod.metadata)] : namespaces;
  return {
    topologyKey: written.topologyKey,
    selector: compileSelector(written.labelSelector, {
      labels: pod.metadata.labels,
      matchLabelKeys,
      mismatchLabelKeys,
    }),
    namespaces: new Set(own),
    namespaceSelector: namespaceSelector === undefined ? undefined : compileSelector(namespaceSelector),
  };
}

function preferredTerms(
  written: readonly WeightedPodAffinityTerm[] | undefined,
  sign: 1 | -1,
  term: (written: PodAffinityTerm) => AffinityTerm,
): PodProfile["preferredPods"] {
  return (written ?? []).map(({ weight, podAffinityTerm }) => ({ weight: sign * weight, term: term(podAffinityTerm) }));
}

function sameLabels(a: LabelSet, b: LabelSet): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
