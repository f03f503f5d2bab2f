import { type Ec2NodeClassDependent, ec2NodeClassReasons } from "../../../api/conditions/ec2-node-class.ts";
import { aliasProblem } from "../../../api/validation/ec2-node-class.ts";
import { awsErrorAdvice } from "../api/aws-error-advice.ts";
import type { Amis } from "./amis.ts";
import type { CapacityReservations } from "./capacity-reservations.ts";
import type { InstanceProfiles } from "./instance-profiles.ts";
import type { Ec2NodeClassObject, Ec2NodeClassStatus } from "./node-class-object.ts";
import type { PlacementGroups } from "./placement-groups.ts";
import { type NodeClassPart, type PartResult, partNotReady, partReady } from "./resolve-node-class.ts";
import type { SecurityGroups } from "./security-groups.ts";
import type { Subnets } from "./subnets.ts";

const minute = 60_000;

/** Whatever resolves a part of a class. */
export interface NodeClassResolvers {
  readonly amis: Amis;
  readonly subnets: Subnets;
  readonly securityGroups: SecurityGroups;
  readonly capacityReservations: CapacityReservations;
  readonly placementGroups: PlacementGroups;
  readonly instanceProfiles: InstanceProfiles;
  /** Major and minor, such as 1.33. */
  readonly kubernetesVersion: () => string;
}

/** The parts of a class before its validation, in order. (04 §1.4) */
export function nodeClassParts(
  resolvers: NodeClassResolvers,
  { usesReservations }: { readonly usesReservations: boolean },
): readonly NodeClassPart[] {
  const reservations: NodeClassPart = {
    condition: "CapacityReservationsReady",
    resolve: (nodeClass, { clock }) => resolveReservations(nodeClass, resolvers, clock.now()),
  };
  return [
    { condition: "AMIsReady", resolve: (nodeClass) => resolveAmis(nodeClass, resolvers) },
    ...(usesReservations ? [reservations] : []),
    { condition: "PlacementGroupReady", resolve: (nodeClass) => resolvePlacementGroup(nodeClass, resolvers) },
    { condition: "SubnetsReady", resolve: (nodeClass) => resolveSubnets(nodeClass, resolvers) },
    { condition: "SecurityGroupsReady", resolve: (nodeClass) => resolveSecurityGroups(nodeClass, resolvers) },
    { condition: "InstanceProfileReady", resolve: (nodeClass) => resolveInstanceProfile(nodeClass, resolvers) },
  ];
}

async function resolveAmis(
  nodeClass: Ec2NodeClassObject,
  { amis, kubernetesVersion }: NodeClassResolvers,
): Promise<PartResult> {
  const minor = Number(kubernetesVersion().split(".")[1]);
  const problem = nodeClass.spec && aliasProblem(nodeClass.spec, { minor });
  if (problem !== undefined) return { finding: partNotReady("UnsupportedAlias", problem.message) };
  const { amis: found, unread } = await amis.resolve(nodeClass);
  const result = listResult("AMIsReady", { field: "amis", found, what: "image", afterMs: 5 * minute });
  return unread === undefined ? result : { ...result, note: unread };
}

async function resolveSubnets(nodeClass: Ec2NodeClassObject, { subnets }: NodeClassResolvers): Promise<PartResult> {
  const found = await subnets.resolve(nodeClass);
  return listResult("SubnetsReady", { field: "subnets", found, what: "subnet", afterMs: minute });
}

async function resolveSecurityGroups(
  nodeClass: Ec2NodeClassObject,
  { securityGroups }: NodeClassResolvers,
): Promise<PartResult> {
  const found = await securityGroups.resolve(nodeClass);
  const what = "security group";
  return listResult("SecurityGroupsReady", { field: "securityGroups", found, what, afterMs: 5 * minute });
}

interface FoundList {
  readonly field: "amis" | "subnets" | "securityGroups";
  readonly found: readonly unknown[];
  readonly what: string;
  /** When to look again if something was found. */
  readonly afterMs: number;
}

function listResult(
  condition: Extract<Ec2NodeClassDependent, "AMIsReady" | "SubnetsReady" | "SecurityGroupsReady">,
  { field, found, what, afterMs }: FoundList,
): PartResult {
  if (found.length > 0) return { status: { [field]: found }, finding: partReady(condition), afterMs };
  const message = `no ${what} of this account and region matches the selector terms; check tags, ids and names in spec.${selectorFields[field]}`;
  return {
    status: { [field]: undefined },
    finding: partNotReady(ec2NodeClassReasons[condition][0], message),
    afterMs: minute,
  };
}

const selectorFields: Readonly<Record<FoundList["field"], string>> = {
  amis: "amiSelectorTerms",
  subnets: "subnetSelectorTerms",
  securityGroups: "securityGroupSelectorTerms",
};

/** No reservation is no problem. One that ends soon is looked at when it does. */
async function resolveReservations(
  nodeClass: Ec2NodeClassObject,
  { capacityReservations }: NodeClassResolvers,
  nowMs: number,
): Promise<PartResult> {
  const found = await capacityReservations.resolve(nodeClass);
  const ends = found.flatMap(({ endTime }) => (endTime === undefined ? [] : [Date.parse(endTime) - nowMs]));
  return {
    status: { capacityReservations: found.length === 0 ? undefined : asStatus(found) },
    finding: partReady("CapacityReservationsReady"),
    afterMs: Math.max(0, Math.min(minute, ...ends)),
  };
}

function asStatus(found: Awaited<ReturnType<CapacityReservations["resolve"]>>) {
  return [...found] satisfies Ec2NodeClassStatus["capacityReservations"];
}

async function resolvePlacementGroup(
  { spec }: Ec2NodeClassObject,
  { placementGroups }: NodeClassResolvers,
): Promise<PartResult> {
  const selector = spec?.placementGroupSelector;
  if (selector === undefined) return { finding: partReady("PlacementGroupReady") };
  const result = await placementGroups.resolve(selector);
  if (result.kind === "found") return { finding: partReady("PlacementGroupReady"), afterMs: minute };
  if (result.kind === "error") {
    const finding = partNotReady("PlacementGroupResolutionFailed", awsErrorAdvice(result.error));
    return { finding, error: result.error };
  }
  const message = `no placement group ${selector.id ?? selector.name} is available in this account and region`;
  return { finding: partNotReady("PlacementGroupNotFound", message), afterMs: minute };
}

async function resolveInstanceProfile(
  nodeClass: Ec2NodeClassObject,
  { instanceProfiles }: NodeClassResolvers,
): Promise<PartResult> {
  const instanceProfile = await instanceProfiles.resolve(nodeClass);
  return { status: { instanceProfile }, finding: partReady("InstanceProfileReady") };
}
