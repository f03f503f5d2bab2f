import { labels } from "../../api/labels.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { Requirement } from "../requirement.ts";
import type { Pass } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";
import { type Variant, variantAt } from "./variants.ts";

/** Values used instead of a zone. */
const flexibleZone = "flexible";
const noZone = "none";

/**
 * Counts pending pods by the one zone that their requirements, volumes and topology constraints leave them, before
 * anything is placed; `flexible` where several are left, `none` where there is none. (02:Q-53)
 */
export function* pendingByZone(pass: Pass): Steps<ReadonlyMap<string, number>> {
  const own = new Set(pass.topology.groups);
  const zones = new Map<PodClass, string>();
  const counts = new Map<string, number>();
  yield* forEachInSteps(pass.queue, ({ pod, podClass }) => {
    if (pod.status?.phase !== "Pending") return;
    const zone = zones.get(podClass) ?? effectiveZone(pass, podClass, own);
    zones.set(podClass, zone);
    counts.set(zone, (counts.get(zone) ?? 0) + 1);
  });
  return counts;
}

/** `own` holds the groups made from the pods' own constraints. */
function effectiveZone(pass: Pass, podClass: PodClass, own: ReadonlySet<TopologyGroup>): string {
  const variant = podClass.volumeError === undefined ? variantAt(podClass, 0, pass.variantContext) : undefined;
  if (variant === undefined) return flexibleZone;
  const asked = [
    variant.strictRequirements.get(labels.zone),
    volumeZones(podClass),
    ...topologyZones(pass, variant, own),
  ];
  const limits = asked.filter((one): one is Requirement => one !== undefined);
  const named = limits.find(({ operator }) => operator === "In" || operator === "DoesNotExist");
  if (named === undefined) return flexibleZone;
  const [zone, ...others] = [...named.values].filter((value) => limits.every((limit) => limit.has(value)));
  if (zone === undefined) return noZone;
  return others.length === 0 ? zone : flexibleZone;
}

/** The zones that any volume alternative allows; undefined where one does not restrict zones. */
function volumeZones({ volumeAlternatives }: PodClass): Requirement | undefined {
  const named = volumeAlternatives.map(({ requirements }) => requirements.get(labels.zone));
  if (named.length === 0 || named.some(({ operator }) => operator !== "In")) return undefined;
  return Requirement.in(
    labels.zone,
    named.flatMap(({ values }) => [...values]),
  );
}

/** One for each of the pod's own constraints on zones. */
function topologyZones(
  { table }: Pass,
  { rules, incoming }: Variant,
  own: ReadonlySet<TopologyGroup>,
): readonly Requirement[] {
  const { requirements } = incoming;
  const zoneRequirement = requirements.has(labels.zone) ? table.idOf(requirements.get(labels.zone)) : undefined;
  return rules
    .filter(({ group }) => group.spec.key === labels.zone && own.has(group))
    .map(({ group, selectsSelf }) =>
      Requirement.in(labels.zone, group.validDomains({ selectsSelf, podDomains: zoneRequirement })),
    );
}
