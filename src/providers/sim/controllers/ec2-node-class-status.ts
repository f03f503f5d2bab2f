import type { Condition, ConditionObservation } from "../../../api/conditions/condition.ts";
import {
  type Ec2NodeClassDependent,
  ec2NodeClassConditions,
  ec2Validation,
} from "../../../api/conditions/ec2-node-class.ts";
import { setCondition, withConditions } from "../../../api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { Problem } from "../../../api/problem.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import { tagProblems } from "../../../api/validation/ec2-node-class.ts";
import { amiFamilyKubeletProblems, kubeletProblems } from "../../../api/validation/kubelet.ts";
import { kubeletExpressionsOf } from "../../../api/validation/kubelet-expressions.ts";
import { hash64 } from "../../../util/hash.ts";
import type { Ec2NodeClassSpec, Ec2NodeClassStatus } from "../../aws/node-class/node-class-object.ts";
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
    ["CapacityReservationsReady", conditionTrue("CapacityReservationsReady")],
    [
      "PlacementGroupReady",
      group?.id === undefined
        ? conditionTrue("PlacementGroupReady")
        : conditionFalse("PlacementGroupNotFound", `no placement group ${group.id}`),
    ],
    ["SubnetsReady", foundOrMissing(found.subnets, "SubnetsReady", { reason: "SubnetsNotFound", what: "subnet" })],
    [
      "SecurityGroupsReady",
      foundOrMissing(found.securityGroups, "SecurityGroupsReady", {
        reason: "SecurityGroupsNotFound",
        what: "security group",
      }),
    ],
    ["InstanceProfileReady", conditionTrue("InstanceProfileReady")],
  ];
}

function validationCondition(spec: Ec2NodeClassSpec, conditions: readonly Condition[]): ConditionObservation {
  const amiFamily = resolvedAmiFamily(spec);
  const verdict = ec2Validation({
    amiFamily,
    conditions,
    kubelet: joinedMessages(kubeletProblems(spec.kubelet)),
    ...(kubeletExpressionsOf(spec.kubelet).length > 0 && {
      expressionsDisabled: "expressions are not supported by the simulated account",
    }),
    unsupportedKubelet: joinedMessages(amiFamilyKubeletProblems(spec.kubelet, amiFamily)),
    tags: joinedMessages(tagProblems(spec.tags)),
    dryRun: { kind: "passed" },
  });
  return verdict.kind === "decided" ? verdict.finding : conditionTrue("ValidationSucceeded");
}

function foundOrMissing(
  found: readonly unknown[] | undefined,
  type: string,
  { reason, what }: { readonly reason: string; readonly what: string },
): ConditionObservation {
  return found !== undefined && found.length > 0
    ? conditionTrue(type)
    : conditionFalse(reason, `no ${what} of the simulated account matches the selector terms`);
}

function conditionTrue(type: string): ConditionObservation {
  return { status: "True", reason: type, message: "" };
}

function conditionFalse(reason: string, message: string): ConditionObservation {
  return { status: "False", reason, message };
}

function joinedMessages(problems: readonly Problem[]): string | undefined {
  return problems.length === 0 ? undefined : problems.map(({ message }) => message).join("; ");
}
