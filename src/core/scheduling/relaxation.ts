import type { PodAffinity, PodSpec } from "../../api/kubernetes/pod.ts";
import { withPreferNoScheduleToleration } from "../tolerations.ts";

interface RelaxationOptions {
  /** Some pool has a PreferNoSchedule taint: tolerating it is the last step. (02:T-7) */
  readonly toleratePreferNoSchedule: boolean;
}

/** The pod spec with the next preference dropped; undefined when none is left. (02:Q-40) */
export function relaxPodSpec(spec: PodSpec, options: RelaxationOptions): PodSpec | undefined {
  return (
    withoutFirstRequiredTerm(spec) ??
    withoutHeaviestPodPreference(spec, "podAffinity") ??
    withoutHeaviestPodPreference(spec, "podAntiAffinity") ??
    withoutHeaviestNodePreference(spec) ??
    withoutScheduleAnywaySpread(spec) ??
    (options.toleratePreferNoSchedule ? toleratingPreferNoSchedule(spec) : undefined)
  );
}

/** Required terms are alternatives: the first is dropped while another remains. */
function withoutFirstRequiredTerm(spec: PodSpec): PodSpec | undefined {
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length < 2) return undefined;
  const required = { nodeSelectorTerms: terms.slice(1) };
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
    },
  };
}

function withoutHeaviestPodPreference(spec: PodSpec, kind: "podAffinity" | "podAntiAffinity"): PodSpec | undefined {
  const affinity: PodAffinity | undefined = spec.affinity?.[kind];
  const terms = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return undefined;
  const preferredDuringSchedulingIgnoredDuringExecution = withoutHeaviestTerm(terms);
  return {
    ...spec,
    affinity: { ...spec.affinity, [kind]: { ...affinity, preferredDuringSchedulingIgnoredDuringExecution } },
  };
}

function withoutHeaviestNodePreference(spec: PodSpec): PodSpec | undefined {
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const terms = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return undefined;
  const preferredDuringSchedulingIgnoredDuringExecution = withoutHeaviestTerm(terms);
  return {
    ...spec,
    affinity: { ...spec.affinity, nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution } },
  };
}

/** The last constraint replaces the dropped one, as upstream does. */
function withoutScheduleAnywaySpread(spec: PodSpec): PodSpec | undefined {
  const constraints = [...(spec.topologySpreadConstraints ?? [])];
  const soft = constraints.findIndex(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway");
  const last = constraints.pop();
  if (soft < 0 || last === undefined) return undefined;
  if (soft < constraints.length) constraints[soft] = last;
  return { ...spec, topologySpreadConstraints: constraints };
}

function toleratingPreferNoSchedule(spec: PodSpec): PodSpec | undefined {
  const tolerations = withPreferNoScheduleToleration(spec.tolerations);
  return tolerations === spec.tolerations ? undefined : { ...spec, tolerations };
}

/** Of equal weights the first as written. */
function withoutHeaviestTerm<T extends { readonly weight: number }>(terms: readonly T[]): readonly T[] {
  let heaviest = 0;
  for (const [index, { weight }] of terms.entries()) if (weight > (terms[heaviest]?.weight ?? 0)) heaviest = index;
  return terms.filter((_, index) => index !== heaviest);
}
