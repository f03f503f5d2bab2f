import { labels } from "../../api/labels.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { Requirement } from "../requirement.ts";
import type { Pass } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";
import { type Variant, variantAt } from "./variants.ts";

/** What takes the place of a zone's name. */
const flexibleZone = "flexible";
const noZone = "none";

/**
 * Pending pods by the one zone that their own requirements, their volumes and their topology constraints leave them;
 * `flexible` where there are several, `none` where there is none. Before anything is placed. (02:Q-53)
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

/** `own` are the groups that pods belong to by what they say of themselves. */
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

/** All zones that some way of using the volumes names; undefined where one names none. */
function volumeZones({ volumeAlternatives }: PodClass): Requirement | undefined {
  const named = volumeAlternatives.map(({ requirements }) => requirements.get(labels.zone));
  if (named.length === 0 || named.some(({ operator }) => operator !== "In")) return undefined;
  return Requirement.in(
    labels.zone,
    named.flatMap(({ values }) => [...values]),
  );
}

/** One for each constraint of its own that is about zones. */
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
