import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labelPolicy } from "../../src/api/label-policy.ts";
import { labels } from "../../src/api/labels.ts";
import { isCompatible } from "../../src/core/compatibility.ts";
import { offeringCapacityType, offeringZone } from "../../src/core/instance-type.ts";
import type { Decision, PlannedNode } from "../../src/core/scheduling/decision.ts";
import { labelKey } from "./keys.ts";

/** As much of a decision as the readers read. */
export type Read = Pick<Decision, "placements" | "newNodes"> & {
  readonly refusals: readonly { readonly pod: Pod; readonly message: string }[];
};

/** How many pods of new nodes are where; several possible domains are joined, and unknown ones are `any`. */
export function podsPer(key: string, { newNodes }: Read): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { requirements, pods } of newNodes) {
    const requirement = requirements.get(labelKey(key));
    const domain = requirement.complement ? "any" : requirement.sortedValues().join("|");
    counts[domain] = (counts[domain] ?? 0) + pods.length;
  }
  return counts;
}

export function podsPerZone(decision: Read): Readonly<Record<string, number>> {
  return podsPer(labels.zone, decision);
}

/** Names of the pods of each new node, in the order nodes were opened. */
export function podsPerNewNode({ newNodes }: Read): readonly (readonly string[])[] {
  return newNodes.map(({ pods }) => pods.map(podName));
}

/** Names of the pods on each existing node. */
export function podsOnNodes({ placements }: Read): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(placements.map(({ node, pods }) => [node, pods.map(podName)]));
}

/** Names of the instance types of each new node, cheapest first. */
export function typesPerNewNode({ newNodes }: Read): readonly (readonly string[])[] {
  return newNodes.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name));
}

export function poolsOfNewNodes({ newNodes }: Read): readonly string[] {
  return newNodes.map(({ pool }) => pool);
}

/** Where each new node can still be bought, `zone/capacity type` by name. */
export function placesPerNewNode({ newNodes }: Read): readonly (readonly string[])[] {
  return newNodes.map((node) =>
    [...new Set(offeringsLeft(node).map((one) => `${offeringZone(one)}/${offeringCapacityType(one)}`))].sort(),
  );
}

/** Offerings of a new node's types that its requirements leave and that are there to be had. */
export function offeringsLeft({ instanceTypes, requirements }: PlannedNode) {
  const allowUndefined = labelPolicy("kwok").wellKnown;
  return instanceTypes.flatMap(({ offerings }) =>
    offerings.filter((one) => one.available && isCompatible(requirements, one.requirements, { allowUndefined })),
  );
}

/** What each new node asks for, as written. */
export function requestsPerNewNode({ newNodes }: Read): readonly Readonly<Record<string, string>>[] {
  return newNodes.map(({ requests }) =>
    Object.fromEntries(Object.entries(requests).map(([name, quantity]) => [name, quantity.toString()])),
  );
}

/** How many pods each new node has, in the order nodes were opened. */
export function sizesOfNewNodes({ newNodes }: Read): readonly number[] {
  return newNodes.map(({ pods }) => pods.length);
}

/** The code of each refusal, by pod. */
export function codes({ refusals }: Pick<Decision, "refusals">): Readonly<Record<string, string>> {
  return Object.fromEntries(refusals.map(({ pod, code }) => [podName(pod), code]));
}

/** Why each pod was refused, by name. */
export function messages({ refusals }: Read): Readonly<Record<string, string>> {
  return Object.fromEntries(refusals.map(({ pod, message }) => [podName(pod), message]));
}

/** Without the namespace where it is the default one. */
export function podName({ metadata }: Pod): string {
  const { namespace = "default", name = "" } = metadata;
  return namespace === "default" ? name : `${namespace}/${name}`;
}
