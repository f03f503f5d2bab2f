import { resources as resourceNames } from "../../src/api/labels.ts";
import { intersects, isCompatible } from "../../src/core/compatibility.ts";
import { type HostPort, hostPortConflict } from "../../src/core/host-ports.ts";
import { type InstanceType, type Offering, offeringGroups } from "../../src/core/instance-type.ts";
import { checkMinValues, describeMinValues } from "../../src/core/min-values.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import {
  amountOf,
  maxResources,
  mergeResources,
  minResources,
  type Resources,
  resourcesFit,
} from "../../src/core/resources.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { type DaemonGroup, type Refused, refused } from "./world.ts";

/** What the instance-type filter is asked. (02:F-1) */
export interface FilterQuestion {
  readonly types: readonly InstanceType[];
  readonly requirements: Requirements;
  readonly wellKnown: ReadonlySet<string>;
  /** Of the pod alone: what texts speak of. */
  readonly podRequests: Resources;
  readonly podPorts: readonly HostPort[];
  /** Of everything on the claim, this pod included, daemons not. */
  readonly totalRequests: Resources;
  readonly daemonGroups: readonly DaemonGroup[];
  /** Taken ports, one list a group. */
  readonly groupPorts: readonly (readonly HostPort[])[];
  readonly relaxMinValues: boolean;
}

export interface Survivors {
  readonly kind: "survivors";
  readonly types: readonly InstanceType[];
  /** What minValues must be lowered to, by key. (02:F-2) */
  readonly lowered: ReadonlyMap<string, number>;
}

/** 02:F-1 to F-4. */
export function filterTypes(question: FilterQuestion): (Survivors & { becauseOfMinValues?: never }) | FilterRefusal {
  const { requirements, wellKnown, totalRequests } = question;
  const verdicts: Verdict[] = [];
  const overheads: Resources[] = [];
  for (const [index, group] of question.daemonGroups.entries()) {
    if (hostPortConflict(question.podPorts, question.groupPorts[index] ?? []) !== undefined) continue;
    if (Object.keys(group.overhead).length > 0) overheads.push(group.overhead);
    const requests = mergeResources(totalRequests, group.overhead);
    for (const type of group.types) {
      if (question.types.includes(type)) verdicts.push(judge(type, { requirements, requests, wellKnown }));
    }
  }

  const types = verdicts.filter((one) => one.matches && one.fits && one.offered).map(({ type }) => type);
  const outcome = checkMinValues(types, requirements);
  if (outcome.kind === "unsatisfied" && !question.relaxMinValues) {
    const text = describeMinValues(outcome.achieved) + suffix(question, overheads);
    return { ...refused(text), becauseOfMinValues: true };
  }
  if (types.length === 0) {
    return { ...refused(failureText(verdicts, { question, overheads })), becauseOfMinValues: false };
  }
  return { kind: "survivors", types, lowered: outcome.kind === "unsatisfied" ? outcome.achieved : new Map() };
}

export type FilterRefusal = Refused & { readonly becauseOfMinValues: boolean };

interface Verdict {
  readonly type: InstanceType;
  readonly matches: boolean;
  readonly offered: boolean;
  readonly fits: boolean;
}

interface Demands {
  readonly requirements: Requirements;
  readonly requests: Resources;
  readonly wellKnown: ReadonlySet<string>;
}

/** 02:F-1: nothing is cut short, so that texts can tell what was missing. */
function judge(type: InstanceType, { requirements, requests, wellKnown }: Demands): Verdict {
  const suits = (offering: Offering): boolean =>
    offering.available && isCompatible(requirements, offering.requirements, { allowUndefined: wellKnown });
  return {
    type,
    matches: intersects(type.requirements, requirements),
    offered: type.offerings.some(suits),
    fits: offeringGroups(type).some(
      (group) => resourcesFit(requests, group.allocatable) && group.offerings.some(suits),
    ),
  };
}

interface Failure {
  readonly question: FilterQuestion;
  readonly overheads: readonly Resources[];
}

/** 02:F-3, in the order of its table. */
function failureText(verdicts: readonly Verdict[], { question, overheads }: Failure): string {
  const c = verdicts.some((one) => one.matches);
  const f = verdicts.some((one) => one.fits);
  const h = verdicts.some((one) => one.offered);
  const tail = suffix(question, overheads);
  const say = (text: string): string => `no instance type ${text}${tail}`;
  if (!c && !f && !h) return say("met the scheduling requirements or had enough resources or had a required offering");
  if (!c && !f) return say("met the scheduling requirements or had enough resources");
  if (!c && !h) return say("met the scheduling requirements or had a required offering");
  if (!f && !h) return say("had enough resources or had a required offering");
  if (!c) return say("met all requirements");
  if (!f) return say("has enough resources") + typoHint(question.podRequests);
  if (!h) return say("has the required offering");
  if (verdicts.some((one) => one.matches && one.fits && !one.offered)) {
    return say("which met the scheduling requirements and had enough resources, had a required offering");
  }
  if (verdicts.some((one) => one.fits && one.offered && !one.matches)) {
    return say("which had enough resources and the required offering met the scheduling requirements");
  }
  if (verdicts.some((one) => one.matches && one.offered && !one.fits)) {
    return say("which met the scheduling requirements and the required offering had the required resources");
  }
  return say("met the requirements/resources/offering tuple");
}

function suffix({ requirements, podRequests }: FilterQuestion, overheads: readonly Resources[]): string {
  return `, requirements=${requirements}, resources=${resourcesText(podRequests, overheads)}`;
}

/** Groups without daemons have no say in it. (02:F-3) */
function resourcesText(podRequests: Resources, overheads: readonly Resources[]): string {
  if (overheads.length === 0) return json(podRequests);
  const least = json(mergeResources(minResources(...overheads), podRequests));
  const most = json(mergeResources(maxResources(...overheads), podRequests));
  return least === most ? least : `min=${least}, max=${most}`;
}

function json(list: Resources): string {
  const names = Object.keys(list).sort();
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, amountOf(list, name).toString()])));
}

function typoHint(podRequests: Resources): string {
  const isHuge = amountOf(podRequests, resourceNames.cpu).cmp(Quantity.of(1_000_000)) >= 0;
  return isHuge ? " (CPU request >= 1 Million, m vs M typo?)" : "";
}
