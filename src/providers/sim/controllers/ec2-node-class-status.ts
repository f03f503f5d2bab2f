import type { Condition, ConditionObservation } from "../../../api/conditions/condition.ts";
import {
  type Ec2NodeClassDependent,
  ec2NodeClassConditions,
  ec2Validation,
} from "../../../api/conditions/ec2-node-class.ts";
import { setCondition, withConditions } from "../../../api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { hash64 } from "../../../util/hash.ts";
import type { Ec2NodeClassSpec, Ec2NodeClassStatus } from "../../aws/node-class/node-class-object.ts";
import { partNotReady, partReady } from "../../aws/node-class/resolve-node-class.ts";
import { noExpressions, validationFactsOf } from "../../aws/node-class/validation-facts.ts";
import type { Region } from "../../aws/regions.ts";
import { amisFor } from "../amis.ts";
import { securityGroupsFor, subnetsFor } from "../vpc.ts";

const conditionSet = ec2NodeClassConditions({ reservedCapacity: true });

/** Resolves a class in the simulated account: subnets, security groups, AMIs, and conditions. (04 §1.4) */
export function resolveEc2NodeClassStatus(
  nodeClass: Ec2NodeClass,
  { region, nowMs }: { readonly region: Region; readonly nowMs: number },
): Ec2NodeClassStatus {
  const { spec } = nodeClass;
  if (spec === undefined) return nodeClass.status ?? {};
  const found = {
    subnets: subnetsFor(spec.subnetSelectorTerms, region),
    securityGroups: securityGroupsFor(spec.securityGroupSelectorTerms),
    amis: amisFor(spec),
    instanceProfile: spec.instanceProfile ?? `simulated_${hash64(`${nodeClass.metadata.uid}/${spec.role}`)}`,
  };
  const withFindings = resolvedConditions(spec, found).reduce(
    (object, [type, finding]) =>
      withConditions(object, setCondition(object, { set: conditionSet, type, nowMs, ...finding })),
    nodeClass,
  );
  const conditions = withFindings.status?.conditions ?? [];
  const validation = {
    set: conditionSet,
    type: "ValidationSucceeded",
    nowMs,
    ...validationCondition(spec, conditions),
  } as const;
  return { ...found, conditions: setCondition(withFindings, validation) as Ec2NodeClassStatus["conditions"] };
}

type ResolvedResources = Pick<Ec2NodeClassStatus, "subnets" | "securityGroups" | "amis">;

/** In upstream's order. (04 §1.4) */
function resolvedConditions(
  spec: Ec2NodeClassSpec,
  found: ResolvedResources,
): readonly (readonly [Ec2NodeClassDependent, ConditionObservation])[] {
  const { placementGroupSelector: group } = spec;
  return [
    ["AMIsReady", foundOrMissing(found.amis, "AMIsReady", { reason: "AMINotFound", what: "image" })],
    ["CapacityReservationsReady", partReady("CapacityReservationsReady")],
    [
      "PlacementGroupReady",
      group?.id === undefined
        ? partReady("PlacementGroupReady")
        : partNotReady("PlacementGroupNotFound", `no placement group ${group.id}`),
    ],
    ["SubnetsReady", foundOrMissing(found.subnets, "SubnetsReady", { reason: "SubnetsNotFound", what: "subnet" })],
    [
      "SecurityGroupsReady",
      foundOrMissing(found.securityGroups, "SecurityGroupsReady", {
        reason: "SecurityGroupsNotFound",
        what: "security group",
      }),
    ],
    ["InstanceProfileReady", partReady("InstanceProfileReady")],
  ];
}

function validationCondition(spec: Ec2NodeClassSpec, conditions: readonly Condition[]): ConditionObservation {
  const facts = validationFactsOf(spec, noExpressions);
  const verdict = ec2Validation({ ...facts, conditions, dryRun: { kind: "passed" } });
  return verdict.kind === "decided" ? verdict.finding : partReady("ValidationSucceeded");
}

function foundOrMissing(
  found: readonly unknown[] | undefined,
  type: Ec2NodeClassDependent,
  { reason, what }: { readonly reason: string; readonly what: string },
): ConditionObservation {
  return found !== undefined && found.length > 0
    ? partReady(type)
    : partNotReady(reason, `no ${what} of the simulated account matches the selector terms`);
}
