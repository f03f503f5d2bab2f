import type { Pod } from "../../api/kubernetes/pod.ts";
import { Bitset } from "../../util/bitset.ts";
import { Requirements } from "../requirements.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import { type PodClass, splitHostname } from "../scheduling/pod-class.ts";
import { firstUntoleratedTaint, withPreferNoScheduleToleration } from "../tolerations.ts";

/** Pods the lower bound cannot tell apart. */
export interface BoundProfile {
  readonly count: number;
  readonly request: Float64Array;
  /** Offerings its requirements allow, by pool. */
  readonly offerings: ReadonlyMap<PoolTemplate, Bitset>;
  readonly perHostLimits: readonly PerHostLimit[];
}

/** A limit on how many pods of one topology group a host takes. */
interface PerHostLimit {
  readonly identity: string;
  readonly maxPods: number;
}

/** Groups pods by what the bound reads: requests, required node constraints, tolerations, per-host limits. */
export function boundProfilesOf(pass: Pass, pods: ReadonlySet<Pod>): readonly BoundProfile[] {
  const counts = new Map<PodClass, number>();
  for (const { pod, podClass } of pass.queue) {
    if (pods.has(pod)) counts.set(podClass, (counts.get(podClass) ?? 0) + 1);
  }
  const found = new Map<string, BoundProfile>();
  const offerings = new Map<string, ReadonlyMap<PoolTemplate, Bitset>>();
  for (const [podClass, count] of counts) {
    const { nodeSelector, tolerations, affinity } = podClass.spec;
    const nodeConstraints = JSON.stringify([nodeSelector, tolerations, affinity?.nodeAffinity]);
    const allowed = offerings.get(nodeConstraints) ?? allowedOfferings(pass, podClass);
    offerings.set(nodeConstraints, allowed);
    const perHostLimits = perHostLimitsOf(pass, podClass);
    const { requestRow: request } = podClass;
    const key = JSON.stringify([nodeConstraints, [...request], perHostLimits.map(({ identity }) => identity)]);
    const known = found.get(key);
    found.set(key, { count: count + (known?.count ?? 0), request, offerings: allowed, perHostLimits });
  }
  return [...found.values()];
}

/** Offerings that match any required term. PreferNoSchedule taints are ignored: a lower bound may be too low. */
function allowedOfferings(
  { poolTemplates, table, problem }: Pass,
  { spec }: PodClass,
): ReadonlyMap<PoolTemplate, Bitset> {
  const tolerations = withPreferNoScheduleToleration(spec.tolerations);
  const alternatives = Requirements.alternativesFromPod(spec, problem.labelPolicy);
  const found = new Map<PoolTemplate, Bitset>();
  for (const poolTemplate of poolTemplates) {
    const { typeTable, nodeClaimTemplate } = poolTemplate;
    if (firstUntoleratedTaint(tolerations, nodeClaimTemplate.taints) !== undefined) continue;
    let allowed: Bitset | undefined;
    for (const requirements of alternatives) {
      const requirementState = poolTemplate.requirementStates.merge(
        poolTemplate.initialState,
        table.setOf(splitHostname(requirements).rest),
      );
      if (requirementState === null) continue;
      const matching = typeTable.offeringsMatching(requirementState.byKey);
      const matchingOfferings = Bitset.from(
        matching
          .toArray()
          .filter((index) => requirementState.instanceTypeOptions.columns.has(typeTable.columnOfOffering(index))),
        matching.size,
      );
      allowed = allowed === undefined ? matchingOfferings : allowed.or(matchingOfferings);
    }
    if (allowed !== undefined) found.set(poolTemplate, allowed);
  }
  return found;
}

/** Required constraints by host that count the pod itself. */
function perHostLimitsOf(
  { topology, variantContext }: Pass,
  { namespace, labels, spec }: PodClass,
): readonly PerHostLimit[] {
  const { affinity, topologySpreadConstraints = [] } = spec;
  const requiredSpec = {
    ...spec,
    affinity: { podAntiAffinity: requiredOnly(affinity?.podAntiAffinity) },
    topologySpreadConstraints: topologySpreadConstraints.filter(
      ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
    ),
  };
  return topology
    .groupsOf({ namespace, labels, spec: requiredSpec })
    .filter((group) => group.isHostname && group.selects(namespace, labels))
    .map((group) => ({
      identity: `${variantContext.topology.groups.indexOf(group)}`,
      maxPods: group.spec.kind === "spread" ? group.spec.maxSkew : 1,
    }));
}

function requiredOnly<T extends { readonly requiredDuringSchedulingIgnoredDuringExecution?: unknown }>(
  affinity: T | undefined,
): Pick<T, "requiredDuringSchedulingIgnoredDuringExecution"> | undefined {
  if (affinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined) return undefined;
  return { requiredDuringSchedulingIgnoredDuringExecution: affinity.requiredDuringSchedulingIgnoredDuringExecution };
}
