import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../../api/kubernetes/pod.ts";
import { namespacedName, namespaceOf } from "../../../api/object.ts";
import { compileSelector, termNamespaces } from "../../label-selector.ts";
import type { Pool, SchedulingProblem } from "../../scheduling/problem.ts";
import type { TopologyCause } from "../../scheduling/refusal.ts";
import { adding, type Path, removing, replacing } from "../patch.ts";
import { type Change, change, podObject, together, weights } from "./change.ts";
import { domainChanges } from "./labels.ts";

export interface TopologyQuestion {
  readonly problem: SchedulingProblem;
  readonly pod: Pod;
  readonly pool: Pool;
}

/** What would make a topology constraint content. */
export function topologyChanges(cause: TopologyCause, question: TopologyQuestion): readonly Change[] {
  const { pod, pool, problem } = question;
  const widened = domainChanges(cause.key, { pod, pool, policy: problem.labelPolicy });
  switch (cause.kind) {
    case "spread":
      return [...spreadChanges(cause, pod), ...defaultChanges(cause, question), ...widened];
    case "affinity":
      return [...termChanges("podAffinity", cause.key, pod), ...widened];
    case "anti-affinity":
      return [...termChanges("podAntiAffinity", cause.key, pod), ...widened, ...othersChanges(cause.key, question)];
  }
}

function spreadChanges({ key, counts }: TopologyCause, pod: Pod): readonly Change[] {
  const constraints = pod.spec.topologySpreadConstraints ?? [];
  return constraints.flatMap((constraint, index) => {
    if (constraint.topologyKey !== key || constraint.whenUnsatisfiable === "ScheduleAnyway") return [];
    return relaxations(constraint, { pod, counts, path: ["spec", "topologySpreadConstraints", index] });
  });
}

/** Constraints the cluster adds go where a pod has some of its own, be they only wishes. (02:X-51) */
function defaultChanges({ key }: TopologyCause, { pod, problem }: TopologyQuestion): readonly Change[] {
  const own = pod.spec.topologySpreadConstraints ?? [];
  const added = problem.policy.defaultConstraints ?? [];
  if (own.length > 0 || !added.some(({ topologyKey }) => topologyKey === key)) return [];
  const wishes = added.map((constraint) => ({ ...constraint, whenUnsatisfiable: "ScheduleAnyway" }));
  return [
    change(podObject(pod), {
      text: `write down the spread over ${key}, which the cluster adds by default, as a preference of the pod's own`,
      weight: weights.makePreference,
      operations: [adding(pod, ["spec", "topologySpreadConstraints"], wishes)],
    }),
  ];
}

function relaxations(
  { topologyKey, maxSkew, minDomains }: TopologySpreadConstraint,
  { pod, counts, path }: { pod: Pod; counts: TopologyCause["counts"]; path: Path },
): readonly Change[] {
  const object = podObject(pod);
  const domains = Object.keys(counts).length;
  const skews = skewsAbove(maxSkew, Object.values(counts));
  return [
    ...(minDomains !== undefined && minDomains > domains && domains > 0
      ? [
          change(object, {
            text: `lower minDomains of the spread over ${topologyKey} from ${minDomains} to ${domains}`,
            weight: weights.relaxSpread,
            operations: [replacing([...path, "minDomains"], domains)],
          }),
        ]
      : []),
    ...skews.map((skew) =>
      change(object, {
        text: `raise maxSkew of the spread over ${topologyKey} from ${maxSkew} to ${skew}`,
        weight: weights.relaxSpread + Math.min(0.9, (skew - maxSkew) / 10),
        operations: [replacing([...path, "maxSkew"], skew)],
      }),
    ),
    change(object, {
      text: `make the spread over ${topologyKey} a preference (whenUnsatisfiable: ScheduleAnyway)`,
      weight: weights.makePreference,
      operations: [replacing([...path, "whenUnsatisfiable"], "ScheduleAnyway")],
    }),
    change(object, {
      text: `drop the spread over ${topologyKey}`,
      weight: weights.dropConstraint,
      operations: [removing(path)],
    }),
  ];
}

/** Skews that would let one more pod into some domain, smallest first; the least may count from zero. (02:X-25) */
function skewsAbove(maxSkew: number, counts: readonly number[]): readonly number[] {
  const skews = counts
    .flatMap((count) => [count + 1 - Math.min(...counts), count + 1])
    .filter((skew) => skew > maxSkew);
  return [...new Set(skews)].sort((a, b) => a - b).slice(0, 3);
}

/** Keep a demand as a wish, or drop it. */
function termChanges(kind: "podAffinity" | "podAntiAffinity", key: string, pod: Pod): readonly Change[] {
  const terms = pod.spec.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.flatMap((term, index) => {
    if (term.topologyKey !== key) return [];
    const name = kind === "podAffinity" ? "affinity" : "anti-affinity";
    return [
      change(podObject(pod), {
        text: `make the pod ${name} over ${key} a preference`,
        weight: weights.makePreference,
        operations: asPreference(pod, { kind, term, index }),
      }),
      change(podObject(pod), {
        text: `drop the pod ${name} over ${key}`,
        weight: weights.dropConstraint,
        operations: [removing([...requiredPath(kind), index])],
      }),
    ];
  });
}

function requiredPath(kind: "podAffinity" | "podAntiAffinity"): Path {
  return ["spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"];
}

const strongestWish = 100;

function asPreference(
  pod: Pod,
  { kind, term, index }: { kind: "podAffinity" | "podAntiAffinity"; term: PodAffinityTerm; index: number },
) {
  const path = ["spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution", "-"];
  return [
    adding(pod, path, { weight: strongestWish, podAffinityTerm: term }),
    removing([...requiredPath(kind), index]),
  ];
}

/** Others that keep this pod away: let them wish for it instead, or do not look like one of those. (02:X-41) */
function othersChanges(key: string, { problem, pod }: TopologyQuestion): readonly Change[] {
  const found = [...problem.pods, ...problem.boundPods].flatMap((other) =>
    namespacedName(other.metadata) === namespacedName(pod.metadata) ? [] : termsAgainst(pod, { other, key, problem }),
  );
  if (found.length === 0) return [];
  return [
    ...unlikeness(
      pod,
      found.map(({ term }) => term),
    ),
    ...gentleness(found),
  ];
}

interface Against {
  readonly other: Pod;
  readonly term: PodAffinityTerm;
  readonly index: number;
}

function termsAgainst(
  pod: Pod,
  { other, key, problem }: { other: Pod; key: string; problem: SchedulingProblem },
): readonly Against[] {
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
    const isAgainst = namespaces.has(namespaceOf(pod.metadata)) && selector.matches(pod.metadata.labels ?? {});
    return isAgainst ? [{ other, term, index }] : [];
  });
}

/** More of them than this are not changed one by one. */
const mostOthers = 8;

function gentleness(found: readonly Against[]): readonly Change[] {
  if (found.length > mostOthers) return [];
  const all = together(
    found.map(({ other, term, index }) =>
      change(podObject(other), {
        text: `make the pod anti-affinity of ${namespacedName(other.metadata)} over ${term.topologyKey} a preference`,
        weight: weights.makePreference,
        operations: asPreference(other, { kind: "podAntiAffinity", term, index }),
      }),
    ),
  );
  return all === undefined ? [] : [{ ...all, weight: all.weight + weights.changeOthers - weights.makePreference }];
}

/** Without the labels the others look for. */
function unlikeness(pod: Pod, terms: readonly PodAffinityTerm[]): readonly Change[] {
  const keys = new Set(terms.flatMap(({ labelSelector }) => Object.keys(labelSelector?.matchLabels ?? {}).slice(0, 1)));
  const own = [...keys].filter((key) => Object.hasOwn(pod.metadata.labels ?? {}, key));
  const all = together(
    own.map((key) =>
      change(podObject(pod), {
        text: `drop the label ${key}, by which other pods keep away from it, from the pod`,
        weight: weights.changeOthers,
        operations: [removing(["metadata", "labels", key])],
      }),
    ),
  );
  return all === undefined || own.length === 0 ? [] : [all];
}
