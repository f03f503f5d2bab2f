import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { Bitset } from "../../util/bitset.ts";
import type { RequirementItem } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import { type PodClass, splitHostname } from "../scheduling/pod-class.ts";
import { untolerated, withPreferNoScheduleToleration } from "../tolerations.ts";

/** Pods a bound cannot tell apart. */
export interface Profile {
  readonly count: number;
  readonly request: Float64Array;
  /** By pool: offerings its requirements allow. */
  readonly offerings: ReadonlyMap<Shop, Bitset>;
  /** Groups of which a host takes only so many, by identity. */
  readonly crowds: readonly Crowd[];
}

/** Pods that keep their own kind away from their hosts. */
export interface Crowd {
  readonly identity: string;
  /** Most a host takes. */
  readonly most: number;
}

/** The given pods of a pass by what a bound looks at: requests, required node affinity, tolerations, crowds. */
export function profilesOf(pass: Pass, pods: ReadonlySet<Pod>): readonly Profile[] {
  const counts = new Map<PodClass, number>();
  for (const { pod, podClass } of pass.queue) {
    if (pods.has(pod)) counts.set(podClass, (counts.get(podClass) ?? 0) + 1);
  }
  const found = new Map<string, Profile>();
  const offerings = new Map<string, ReadonlyMap<Shop, Bitset>>();
  for (const [podClass, count] of counts) {
    const { nodeSelector, tolerations, affinity } = podClass.spec;
    const wish = JSON.stringify([nodeSelector, tolerations, affinity?.nodeAffinity]);
    const allowed = offerings.get(wish) ?? allowedOfferings(pass, podClass);
    offerings.set(wish, allowed);
    const crowds = crowdsOf(pass, podClass);
    const request = pass.requests.get(podClass) as Float64Array;
    const key = JSON.stringify([wish, [...request], crowds.map(({ identity }) => identity)]);
    const known = found.get(key);
    found.set(key, { count: count + (known?.count ?? 0), request, offerings: allowed, crowds });
  }
  return [...found.values()];
}

/** Any of the required terms will do, and a taint that merely asks is no obstacle: a bound may be too kind. */
function allowedOfferings({ shops, table, problem }: Pass, { spec }: PodClass): ReadonlyMap<Shop, Bitset> {
  const tolerations = withPreferNoScheduleToleration(spec.tolerations);
  const alternatives = requiredAlternatives(spec, problem.labelPolicy);
  const found = new Map<Shop, Bitset>();
  for (const shop of shops) {
    if (untolerated(tolerations, shop.template.nodePool.spec.template.spec.taints ?? []) !== undefined) continue;
    const { catalogue } = shop;
    let allowed: Bitset | undefined;
    for (const requirements of alternatives) {
      const outline = shop.outlines.merge(shop.start, table.setOf(splitHostname(requirements).rest));
      if (outline === null) continue;
      const matching = catalogue.offeringsMatching(outline.byKey);
      const typed = Bitset.from(
        matching.toArray().filter((index) => outline.choice.columns.has(catalogue.columnOfOffering(index))),
        matching.size,
      );
      allowed = allowed === undefined ? typed : allowed.or(typed);
    }
    if (allowed !== undefined) found.set(shop, allowed);
  }
  return found;
}

function requiredAlternatives(spec: PodClass["spec"], policy: LabelPolicy): readonly Requirements[] {
  const selector = Requirements.fromLabels(spec.nodeSelector ?? {}, policy);
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return [selector];
  return terms.map(({ matchExpressions = [] }) =>
    selector.add(...Requirements.fromItems(matchExpressions as readonly RequirementItem[], policy)),
  );
}

/** Required constraints by host that count the pod itself: of all pods like that a host takes only so many. */
function crowdsOf({ topology, tools }: Pass, { namespace, labels, spec }: PodClass): readonly Crowd[] {
  const { affinity, topologySpreadConstraints = [] } = spec;
  const insisted = {
    ...spec,
    affinity: { podAntiAffinity: required(affinity?.podAntiAffinity) },
    topologySpreadConstraints: topologySpreadConstraints.filter(
      ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
    ),
  };
  return topology
    .owned({ namespace, labels, spec: insisted })
    .filter((group) => group.isHostname && group.selects(namespace, labels))
    .map((group) => ({
      identity: `${tools.topology.groups.indexOf(group)}`,
      most: group.spec.kind === "spread" ? group.spec.maxSkew : 1,
    }));
}

function required<T extends { readonly requiredDuringSchedulingIgnoredDuringExecution?: unknown }>(
  affinity: T | undefined,
): Pick<T, "requiredDuringSchedulingIgnoredDuringExecution"> | undefined {
  if (affinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined) return undefined;
  return { requiredDuringSchedulingIgnoredDuringExecution: affinity.requiredDuringSchedulingIgnoredDuringExecution };
}
