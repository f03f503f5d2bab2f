import { resources } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { type HostPort, hostPortConflict, hostPortsOf } from "../host-ports.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { amountOf, maxResources, mergeResources, minResources, noResources, type Resources } from "../resources.ts";
import { type CandidateVerdict, requirementsWithHostname } from "./candidate-verdict.ts";
import type { NodeCandidate, PodAttempt } from "./fit-on-planned-node.ts";
import type { Pass, PoolTemplate, QueuedPod } from "./pass-state.ts";
import type { InstanceTypesCause } from "./refusal.ts";

/** Reserved capacity would do, but all of it is in use. (02:Y-3) */
export const reservedCapacityVerdict: CandidateVerdict = {
  cause: { code: "reserved-capacity", lost: false },
  text: "one or more instance types with compatible reserved offerings are available, but could not be reserved",
};

/** Why no instance type is left. (02:F-3) */
export function instanceTypesVerdict(
  pass: Pass,
  { queuedPod }: PodAttempt,
  candidate: NodeCandidate,
): CandidateVerdict {
  const { poolTemplate, requirementState } = candidate;
  const ports = hostPortsOf(queuedPod.pod);
  const overheads = daemonOverheads(poolTemplate, ports);
  const { flags, survivors } = checkInstanceTypes(queuedPod, candidate, ports);
  const requirements = requirementsWithHostname(candidate);
  if (!survivors.isEmpty()) {
    const flexible = checkMinValues(poolTemplate.typeTable.typesIn(survivors), requirementState.requirements);
    if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
      const { achieved } = flexible;
      const text = `${describeMinValues(achieved)}, requirements=${requirements}, resources=${resourcesText(queuedPod, overheads)}`;
      return { cause: { code: "min-values", achieved, requirements }, text };
    }
    return reservedCapacityVerdict;
  }
  const totals = (overheads.length === 0 ? [noResources] : overheads).map((one) =>
    mergeResources(one, queuedPod.podClass.requests),
  );
  const cause: InstanceTypesCause = {
    code: "instance-types",
    ...flags,
    requirements,
    resources: { least: minResources(...totals), most: maxResources(...totals) },
    largest: maxResources(...poolTemplate.typeTable.typesIn(candidate.columns).map(({ capacity }) => capacity)),
  };
  const typo =
    isProbableCpuTypo(queuedPod.podClass.requests) && !flags.fits && flags.matches && flags.offered
      ? " (CPU request >= 1 Million, m vs M typo?)"
      : "";
  return {
    cause,
    text: `${instanceTypesText(flags)}, requirements=${requirements}, resources=${resourcesText(queuedPod, overheads)}${typo}`,
  };
}

type InstanceTypeFlags = Pick<
  InstanceTypesCause,
  "matches" | "fits" | "offered" | "matchesAndFits" | "matchesAndOffered" | "fitsAndOffered"
>;

/** Evaluates match, size and offering for all types, without stopping at the first refusal. (02:F-1) */
function checkInstanceTypes(
  { podClass }: QueuedPod,
  { poolTemplate, requirementState, columns, used }: NodeCandidate,
  ports: readonly HostPort[],
): { flags: InstanceTypeFlags; survivors: Bitset } {
  const { typeTable } = poolTemplate;
  const possibleColumns = typeTable.allColumnsOfTypes(columns); // flags are about types, whatever their columns
  const matches = typeTable.columnsMatching(requirementState.byKey).and(possibleColumns);
  const offered = typeTable.columnsOffered(requirementState.byKey).and(possibleColumns);
  const fits = Bitset.empty(typeTable.size);
  const eligible = Bitset.empty(typeTable.size);
  for (const group of poolTemplate.daemonGroups) {
    if (hostPortConflict(ports, group.hostPorts) !== undefined) continue;
    eligible.or(group.columns);
    const total = Float64Array.from(
      podClass.requestRow,
      (asked, index) => asked + (used[index] ?? 0) + (group.overheadRow[index] ?? 0),
    );
    fits.or(typeTable.keepFitting(offered.intersection(group.columns), total));
  }
  matches.and(eligible);
  offered.and(eligible);
  const flags = {
    matches: !matches.isEmpty(),
    fits: !fits.isEmpty(),
    offered: !offered.isEmpty(),
    matchesAndFits: !matches.intersection(fits).andNot(offered).isEmpty(),
    matchesAndOffered: !matches.intersection(offered).andNot(fits).isEmpty(),
    fitsAndOffered: !fits.intersection(offered).andNot(matches).isEmpty(),
  };
  return { flags, survivors: matches.and(fits).and(offered) };
}

/** The first text that applies. (02:F-3) */
function instanceTypesText({
  matches,
  fits,
  offered,
  matchesAndFits,
  matchesAndOffered,
  fitsAndOffered,
}: InstanceTypeFlags): string {
  if (!matches && !fits && !offered)
    return "no instance type met the scheduling requirements or had enough resources or had a required offering";
  if (!matches && !fits) return "no instance type met the scheduling requirements or had enough resources";
  if (!matches && !offered) return "no instance type met the scheduling requirements or had a required offering";
  if (!fits && !offered) return "no instance type had enough resources or had a required offering";
  if (!matches) return "no instance type met all requirements";
  if (!fits) return "no instance type has enough resources";
  if (!offered) return "no instance type has the required offering";
  if (matchesAndFits)
    return "no instance type which met the scheduling requirements and had enough resources, had a required offering";
  if (fitsAndOffered)
    return "no instance type which had enough resources and the required offering met the scheduling requirements";
  if (matchesAndOffered)
    return "no instance type which met the scheduling requirements and the required offering had the required resources";
  return "no instance type met the requirements/resources/offering tuple";
}

/** The pod with the daemons on its node; a range where groups differ. Types without daemons do not count. */
function resourcesText({ podClass }: QueuedPod, overheads: readonly Resources[]): string {
  const least = requestsJson(mergeResources(minResources(...overheads), podClass.requests));
  const most = requestsJson(mergeResources(maxResources(...overheads), podClass.requests));
  if (Object.keys(minResources(...overheads)).length === 0) return requestsJson(podClass.requests);
  return least === most ? least : `min=${least}, max=${most}`;
}

/** Daemon overheads of the types whose host ports do not conflict with the pod's. */
function daemonOverheads({ daemonGroups }: PoolTemplate, ports: readonly HostPort[]): readonly Resources[] {
  return daemonGroups
    .filter(
      ({ hostPorts, overhead }) => hostPortConflict(ports, hostPorts) === undefined && Object.keys(overhead).length > 0,
    )
    .map(({ overhead }) => overhead);
}

function requestsJson(list: Resources): string {
  const sorted = Object.keys(list)
    .sort()
    .map((name) => [name, amountOf(list, name).toString()]);
  return JSON.stringify(Object.fromEntries(sorted));
}

function isProbableCpuTypo(requests: Resources): boolean {
  return amountOf(requests, resources.cpu).value() >= 1_000_000n;
}
