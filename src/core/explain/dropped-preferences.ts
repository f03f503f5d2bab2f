import type { PodSpec } from "../../api/kubernetes/pod.ts";

/** A preference the pod does without. */
export interface DroppedPreference {
  /** Which one, as short text. */
  readonly text: string;
  /** What refused it, as a clause; absent where the pod has no place without it either. */
  readonly because?: string;
}

/** Preferences that a relaxed spec no longer has, as short texts. (02:Q-40) */
export function preferencesBetween(spec: PodSpec, relaxed: PodSpec): readonly string[] {
  const left = new Set(preferencesOf(relaxed));
  return preferencesOf(spec).filter((one) => !left.has(one));
}

/** The spec with the heaviest preference for nodes as a requirement, which is how it is tried. (02:Q-40) */
export function withPreferenceRequired(spec: PodSpec): PodSpec {
  const { nodeAffinity } = spec.affinity ?? {};
  const preferred = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const heaviest = preferred.reduce<(typeof preferred)[number] | undefined>(
    (best, one) => (best === undefined || one.weight > best.weight ? one : best),
    undefined,
  );
  if (heaviest === undefined) return spec;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const matchExpressions = [...(terms[0]?.matchExpressions ?? []), ...(heaviest.preference.matchExpressions ?? [])];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
    },
  };
}

function preferencesOf({ affinity, topologySpreadConstraints = [] }: PodSpec): readonly string[] {
  const nodeTerms = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const podTerms = affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const apartTerms = affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...nodeTerms.map(({ weight, preference }) => {
      const keys = (preference.matchExpressions ?? []).map(({ key, values = [] }) => [key, ...values].join(" "));
      return `node affinity of weight ${weight} (${keys.join(", ")})`;
    }),
    ...podTerms.map(
      ({ weight, podAffinityTerm }) => `pod affinity of weight ${weight} over ${podAffinityTerm.topologyKey}`,
    ),
    ...apartTerms.map(
      ({ weight, podAffinityTerm }) => `pod anti-affinity of weight ${weight} over ${podAffinityTerm.topologyKey}`,
    ),
    ...topologySpreadConstraints
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway")
      .map(({ topologyKey }) => `spread over ${topologyKey}`),
  ];
}
