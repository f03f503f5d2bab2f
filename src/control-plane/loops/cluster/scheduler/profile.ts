import type {
  Pod,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from "../../../../api/kubernetes/pod.ts";
import { resources } from "../../../../api/labels.ts";
import { namespacedName, namespaceOf } from "../../../../api/object.ts";
import { hostPortsOf } from "../../../../core/host-ports.ts";
import { compileSelector, type Labels, type Selector } from "../../../../core/label-selector.ts";
import type { HostPort } from "../../../../core/scheduling/problem.ts";
import { claimKeys } from "../../../../core/volumes.ts";
import { sameJson } from "../../../kinds/draft.ts";
import { isFinished, isTerminating, type LivePod } from "../live.ts";
import { type NodeTest, oneTerm, requiredNodes } from "../node-terms.ts";
import type { AmountReader, Amounts } from "./amounts.ts";

/** A pod made ready to be compared with many nodes and many other pods. */
export interface PodProfile {
  /** namespace/name. */
  readonly key: string;
  readonly uid: string;
  readonly pod: LivePod;
  readonly namespace: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly isTerminating: boolean;
  readonly requests: Amounts;
  /** What scores count for pods that ask for nothing: nothing would make a node that runs hundreds of them look empty. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly ports: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** Undefined where any node will do. */
  readonly nodes: NodeTest | undefined;
  readonly preferredNodes: readonly { readonly weight: number; readonly test: NodeTest }[];
  readonly spread: readonly Spread[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** Wishes; a negative weight keeps away. */
  readonly preferredPods: readonly { readonly weight: number; readonly term: AffinityTerm }[];
  /** namespace/name of its volume claims. */
  readonly claims: readonly string[];
}

export interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly isHard: boolean;
  readonly selector: Selector;
  readonly honoursAffinity: boolean;
  readonly honoursTaints: boolean;
}

export interface AffinityTerm {
  readonly topologyKey: string;
  readonly selector: Selector;
  /** Namespaces named, or the pod's own where the term names none. */
  readonly namespaces: ReadonlySet<string>;
  /** Further namespaces by their labels. */
  readonly namespaceSelector: Selector | undefined;
}

/** kube-scheduler's stand-ins for pods without requests. */
const assumedCpu = 100;
const assumedMemory = 200 * 1024 * 1024;

export function profileOf(pod: LivePod, reader: AmountReader): PodProfile {
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
    isTerminating: isTerminating(pod),
    requests,
    scored: {
      cpu: requests.get(resources.cpu) || assumedCpu,
      memory: requests.get(resources.memory) || assumedMemory,
    },
    ports: hostPortsOf(pod),
    tolerations: spec.tolerations ?? [],
    nodes: requiredNodes(spec),
    preferredNodes: (spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ weight, preference }) => ({ weight, test: oneTerm(preference) }),
    ),
    spread: (spec.topologySpreadConstraints ?? []).map((written) => spreadOf(written, labels)),
    affinity: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    antiAffinity: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    preferredPods: [
      ...wishes(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1, term),
      ...wishes(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1, term),
    ],
    claims: claimKeys(pod),
  };
}

/** Whether a profile still says what the pod says: most changes of a pod are changes of its status. */
export function isStillOf(profile: PodProfile, pod: LivePod): boolean {
  const before = profile.pod;
  return (
    before.metadata.uid === pod.metadata.uid &&
    sameSpec(before, pod) &&
    profile.isTerminating === isTerminating(pod) &&
    isFinished(before) === isFinished(pod) &&
    sameLabels(profile.labels, pod.metadata.labels ?? {})
  );
}

/** Servers count the changes of a spec; older ones do not count those of pods. */
function sameSpec(before: LivePod, pod: LivePod): boolean {
  const { generation } = pod.metadata;
  if (generation !== undefined) return before.metadata.generation === generation;
  const { nodeName: _before, ...old } = before.spec;
  const { nodeName: _now, ...spec } = pod.spec;
  return sameJson(old, spec);
}

/** Whether the term is about pods like this one. */
export function termSelects(
  term: AffinityTerm,
  pod: Pick<PodProfile, "namespace" | "labels">,
  namespaceLabels: ReadonlyMap<string, Labels>,
): boolean {
  const others = namespaceLabels.get(pod.namespace);
  const isInNamespace =
    term.namespaces.has(pod.namespace) || (others !== undefined && term.namespaceSelector?.matches(others) === true);
  return isInNamespace && term.selector.matches(pod.labels);
}

function spreadOf(written: TopologySpreadConstraint, labels: Labels): Spread {
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

function wishes(
  written: readonly WeightedPodAffinityTerm[] | undefined,
  sign: 1 | -1,
  term: (written: PodAffinityTerm) => AffinityTerm,
): PodProfile["preferredPods"] {
  return (written ?? []).map(({ weight, podAffinityTerm }) => ({ weight: sign * weight, term: term(podAffinityTerm) }));
}

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
