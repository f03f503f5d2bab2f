import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../../api/kubernetes/pod.ts";
import { namespacedName, namespaceOf } from "../../../api/object.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { compileSelector, termNamespaces } from "../../label-selector.ts";
import type { Pool, SchedulingProblem } from "../../scheduling/problem.ts";
import type { TopologyCause } from "../../scheduling/refusal.ts";
import { podController } from "../edit.ts";
import { addOperation, type PatchPath, removeOperation, replaceOperation } from "../json-patch.ts";
import { type CandidateChange, changeOf, changeWeights, combineChanges, editedPod } from "./candidate-change.ts";
import { domainChanges } from "./label-changes.ts";

interface TopologyChangeInput {
  readonly problem: SchedulingProblem;
  readonly pod: Pod;
  readonly pool: Pool;
}

/** Changes that satisfy a topology constraint. */
export function topologyChanges(cause: TopologyCause, input: TopologyChangeInput): readonly CandidateChange[] {
  const { pod, pool, problem } = input;
  const widened = domainChanges(cause.key, { pod, pool, policy: problem.labelPolicy });
  switch (cause.kind) {
    case "spread":
      return [...spreadChanges(cause, pod), ...defaultChanges(cause, input), ...widened];
    case "affinity":
      return [...affinityTermChanges("podAffinity", cause.key, pod), ...widened];
    case "anti-affinity":
      return [...antiAffinityChanges(cause.key, input), ...widened, ...opposingPodChanges(cause.key, input)];
  }
}

function spreadChanges({ key, counts }: TopologyCause, pod: Pod): readonly CandidateChange[] {
  const constraints = pod.spec.topologySpreadConstraints ?? [];
  return constraints.flatMap((constraint, index) => {
    if (constraint.topologyKey !== key || constraint.whenUnsatisfiable === "ScheduleAnyway") return [];
    return spreadRelaxations(constraint, { pod, counts, path: ["spec", "topologySpreadConstraints", index] });
  });
}

/** A pod with constraints of its own gets no default ones, so these become its preferences. (02:X-51) */
function defaultChanges({ key }: TopologyCause, { pod, problem }: TopologyChangeInput): readonly CandidateChange[] {
  const own = pod.spec.topologySpreadConstraints ?? [];
  const added = problem.policy.defaultConstraints ?? [];
  if (own.length > 0 || !added.some(({ topologyKey }) => topologyKey === key)) return [];
  const preferences = added.map((constraint) => ({ ...constraint, whenUnsatisfiable: "ScheduleAnyway" }));
  return [
    changeOf(editedPod(pod), {
      text: `override the cluster's default spread over ${key} with a preference in the pod`,
      weight: changeWeights.makePreference,
      operations: [addOperation(pod, ["spec", "topologySpreadConstraints"], preferences)],
    }),
  ];
}

function spreadRelaxations(
  { topologyKey, maxSkew, minDomains }: TopologySpreadConstraint,
  { pod, counts, path }: { pod: Pod; counts: TopologyCause["counts"]; path: PatchPath },
): readonly CandidateChange[] {
  const object = editedPod(pod);
  const domains = Object.keys(counts).length;
  const skews = skewsAbove(maxSkew, Object.values(counts));
  return [
    ...(minDomains !== undefined && minDomains > domains && domains > 0
      ? [
          changeOf(object, {
            text: `lower minDomains of the spread over ${topologyKey} from ${minDomains} to ${domains}`,
            weight: changeWeights.relaxSpread,
            operations: [replaceOperation([...path, "minDomains"], domains)],
          }),
        ]
      : []),
    ...skews.map((skew) =>
      changeOf(object, {
        text: `raise maxSkew of the spread over ${topologyKey} from ${maxSkew} to ${skew}`,
        weight: changeWeights.relaxSpread + Math.min(0.9, (skew - maxSkew) / 10),
        operations: [replaceOperation([...path, "maxSkew"], skew)],
      }),
    ),
    changeOf(object, {
      text: `make the spread over ${topologyKey} a preference (whenUnsatisfiable: ScheduleAnyway)`,
      weight: changeWeights.makePreference,
      operations: [replaceOperation([...path, "whenUnsatisfiable"], "ScheduleAnyway")],
    }),
    changeOf(object, {
      text: `drop the spread over ${topologyKey}`,
      weight: changeWeights.dropConstraint,
      operations: [removeOperation(path)],
    }),
  ];
}

/** Skews that would allow one more pod in some domain, smallest first; the minimum may be zero. (02:X-25) */
function skewsAbove(maxSkew: number, counts: readonly number[]): readonly number[] {
  const skews = counts
    .flatMap((count) => [count + 1 - Math.min(...counts), count + 1])
    .filter((skew) => skew > maxSkew);
  return [...new Set(skews)].sort((a, b) => a - b).slice(0, 3);
}

/** Turns a required term into a preference, or drops it. */
function affinityTermChanges(
  kind: "podAffinity" | "podAntiAffinity",
  key: string,
  pod: Pod,
): readonly CandidateChange[] {
  const terms = pod.spec.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.flatMap((term, index) => {
    if (term.topologyKey !== key) return [];
    const name = kind === "podAffinity" ? "affinity" : "anti-affinity";
    return [
      changeOf(editedPod(pod), {
        text: `make the pod ${name} over ${key} a preference`,
        weight: changeWeights.makePreference,
        operations: preferenceOperations(pod, { kind, term, index }),
      }),
      changeOf(editedPod(pod), {
        text: `drop the pod ${name} over ${key}`,
        weight: changeWeights.dropConstraint,
        operations: [removeOperation([...requiredPath(kind), index])],
      }),
    ];
  });
}

/** Changes of the pod's own terms. Its siblings that run have the same terms: unless they change too, they refuse it. */
function antiAffinityChanges(key: string, { pod, problem }: TopologyChangeInput): readonly CandidateChange[] {
  const own = affinityTermChanges("podAntiAffinity", key, pod);
  const siblings = problem.boundPods.filter((other) => areSiblings(pod, other)).slice(0, maxSiblings);
  if (siblings.length === 0) return own;
  return own.map(({ edits, text, ...change }) => ({
    ...change,
    text: `${text}, for all pods of its workload`,
    edits: [pod, ...siblings].flatMap((one) => edits.map((edit) => ({ ...edit, object: editedPod(one) }))),
  }));
}

/** If there are more, they are not changed. */
const maxSiblings = 100;

/** Pods of one controller with the same anti-affinity. */
function areSiblings(pod: Pod, other: Pod): boolean {
  const [one, another] = [podController(pod), podController(other)];
  const isSameOwner = one !== undefined && one.uid === another?.uid && one.name === another.name;
  if (!isSameOwner || namespaceOf(pod.metadata) !== namespaceOf(other.metadata)) return false;
  return canonicalJson(pod.spec.affinity?.podAntiAffinity) === canonicalJson(other.spec.affinity?.podAntiAffinity);
}

function requiredPath(kind: "podAffinity" | "podAntiAffinity"): PatchPath {
  return ["spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"];
}

const maxPreferenceWeight = 100;

function preferenceOperations(
  pod: Pod,
  { kind, term, index }: { kind: "podAffinity" | "podAntiAffinity"; term: PodAffinityTerm; index: number },
) {
  const path = ["spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution", "-"];
  return [
    addOperation(pod, path, { weight: maxPreferenceWeight, podAffinityTerm: term }),
    removeOperation([...requiredPath(kind), index]),
  ];
}

/** Anti-affinity of other pods: makes it a preference, or drops the label it selects. (02:X-41) */
function opposingPodChanges(key: string, { problem, pod }: TopologyChangeInput): readonly CandidateChange[] {
  const found = [...problem.pods, ...problem.boundPods].flatMap((other) =>
    namespacedName(other.metadata) === namespacedName(pod.metadata) || areSiblings(pod, other)
      ? []
      : opposingTerms(pod, { other, key, problem }),
  );
  if (found.length === 0) return [];
  return [
    ...dropSelectedLabels(
      pod,
      found.map(({ term }) => term),
    ),
    ...preferenceForOpposingPods(found),
  ];
}

interface OpposingTerm {
  readonly other: Pod;
  readonly term: PodAffinityTerm;
  readonly index: number;
}

function opposingTerms(
  pod: Pod,
  { other, key, problem }: { other: Pod; key: string; problem: SchedulingProblem },
): readonly OpposingTerm[] {
  const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.flatMap((term, index) => {
    if (term.topologyKey !== key) return [];
    const { matchLabelKeys, mismatchLabelKeys } = term;
    const selector = compileSelector(term.labelSelector, {
      labels: other.metadata.labels,
      matchLabelKeys,
      mismatchLabelKeys,
    });
    const namespaces = termNamespaces(term, namespaceOf(other.metadata), problem.namespaces);
    const isOpposing = namespaces.has(namespaceOf(pod.metadata)) && selector.matches(pod.metadata.labels ?? {});
    return isOpposing ? [{ other, term, index }] : [];
  });
}

/** If there are more, they are not changed one by one. */
const maxOpposingPods = 8;

function preferenceForOpposingPods(found: readonly OpposingTerm[]): readonly CandidateChange[] {
  if (found.length > maxOpposingPods) return [];
  const all = combineChanges(
    found.map(({ other, term, index }) =>
      changeOf(editedPod(other), {
        text: `make the pod anti-affinity of ${namespacedName(other.metadata)} over ${term.topologyKey} a preference`,
        weight: changeWeights.makePreference,
        operations: preferenceOperations(other, { kind: "podAntiAffinity", term, index }),
      }),
    ),
  );
  return all === undefined
    ? []
    : [{ ...all, weight: all.weight + changeWeights.changeOthers - changeWeights.makePreference }];
}

/** Drops the labels the other pods select. */
function dropSelectedLabels(pod: Pod, terms: readonly PodAffinityTerm[]): readonly CandidateChange[] {
  const keys = new Set(terms.flatMap(({ labelSelector }) => Object.keys(labelSelector?.matchLabels ?? {}).slice(0, 1)));
  const own = [...keys].filter((key) => Object.hasOwn(pod.metadata.labels ?? {}, key));
  const all = combineChanges(
    own.map((key) =>
      changeOf(editedPod(pod), {
        text: `remove the label ${key} from the pod (other pods' anti-affinity selects it)`,
        weight: changeWeights.changeOthers,
        operations: [removeOperation(["metadata", "labels", key])],
      }),
    ),
  );
  return all === undefined || own.length === 0 ? [] : [all];
}
