import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";

/** Preferences of the pod that a relaxed spec no longer has, as short texts. (02:Q-40) */
export function droppedPreferences({ spec }: Pod, relaxed: PodSpec): readonly string[] {
  const left = new Set(preferencesOf(relaxed));
  return preferencesOf(spec).filter((one) => !left.has(one));
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
