import type { Affinity, Pod, PodSpec } from "../../src/api/kubernetes/pod.ts";
import { withPreferNoScheduleToleration } from "../../src/core/tolerations.ts";

/** The pod with one preference less, or nothing when only required constraints are left. (02:Q-40) */
export function relax(pod: Pod, { toleratePreferNoSchedule }: { toleratePreferNoSchedule: boolean }): Pod | undefined {
  const steps = [
    withoutFirstRequiredTerm,
    withoutPreferred("podAffinity"),
    withoutPreferred("podAntiAffinity"),
    withoutPreferred("nodeAffinity"),
    withoutScheduleAnyway,
    ...(toleratePreferNoSchedule ? [withToleration] : []),
  ];
  for (const step of steps) {
    const spec = step(pod.spec);
    if (spec !== undefined) return { ...pod, spec };
  }
  return undefined;
}

/** Step 1: the terms are alternatives, and the last one stays. */
function withoutFirstRequiredTerm(spec: PodSpec): PodSpec | undefined {
  const [, ...rest] =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (rest.length === 0) return undefined;
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: rest };
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity } };
}

/** Steps 2 to 4: the heaviest goes; of equal weights the first. (02 §12.1-5) */
function withoutPreferred(kind: keyof Affinity) {
  return (spec: PodSpec): PodSpec | undefined => {
    const terms = spec.affinity?.[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0) return undefined;
    const heaviest = Math.max(...terms.map(({ weight }) => weight));
    const at = terms.findIndex(({ weight }) => weight === heaviest);
    const preferredDuringSchedulingIgnoredDuringExecution = [...terms.slice(0, at), ...terms.slice(at + 1)];
    const relaxed = { ...spec.affinity?.[kind], preferredDuringSchedulingIgnoredDuringExecution };
    return { ...spec, affinity: { ...spec.affinity, [kind]: relaxed } };
  };
}

/** Step 5: the last constraint takes the slot of the first that may be dropped. */
function withoutScheduleAnyway(spec: PodSpec): PodSpec | undefined {
  const constraints = [...(spec.topologySpreadConstraints ?? [])];
  const at = constraints.findIndex(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway");
  if (at < 0) return undefined;
  const last = constraints.pop();
  if (last !== undefined && at < constraints.length) constraints[at] = last;
  return { ...spec, topologySpreadConstraints: constraints };
}

/** Step 6. */
function withToleration(spec: PodSpec): PodSpec | undefined {
  const tolerations = withPreferNoScheduleToleration(spec.tolerations);
  return tolerations === spec.tolerations ? undefined : { ...spec, tolerations };
}
