import type { Condition, Observation } from "../../../api/conditions/condition.ts";
import {
  type Ec2NodeClassDependent,
  ec2NodeClassConditions,
  ec2Validation,
} from "../../../api/conditions/ec2-node-class.ts";
import { setCondition, withConditions } from "../../../api/conditions/engine.ts";
import { hash64 } from "../../../api/hash/hash64.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { Problem } from "../../../api/problem.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import { tagProblems } from "../../../api/validation/ec2-node-class.ts";
import { familyProblems, kubeletProblems } from "../../../api/validation/kubelet.ts";
import { expressionsOf } from "../../../api/validation/kubelet-expressions.ts";
import type { Region } from "../../aws/regions.ts";
import { imagesFor } from "../images.ts";
import { securityGroupsFor, subnetsFor } from "../vpc.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;
export type Ec2Status = NonNullable<Ec2NodeClass["status"]>;

const set = ec2NodeClassConditions({ reservedCapacity: true });

/** What the simulated account makes of a class: what its selectors find there, and whether it can be launched from. (04 §1.4) */
export function resolvedStatus(
  nodeClass: Ec2NodeClass,
  { region, nowMs }: { readonly region: Region; readonly nowMs: number },
): Ec2Status {
  const { spec } = nodeClass;
  if (spec === undefined) return nodeClass.status ?? {};
  const found = {
    subnets: subnetsFor(spec.subnetSelectorTerms, region),
    securityGroups: securityGroupsFor(spec.securityGroupSelectorTerms),
    amis: imagesFor(spec),
    instanceProfile: spec.instanceProfile ?? `simulated_${hash64(`${nodeClass.metadata.uid}/${spec.role}`)}`,
  };
  const judged = findings(spec, found).reduce(
    (object, [type, finding]) => withConditions(object, setCondition(object, { set, type, nowMs, ...finding })),
    nodeClass,
  );
  const conditions = judged.status?.conditions ?? [];
  const validation = { set, type: "ValidationSucceeded", nowMs, ...validated(spec, conditions) } as const;
  return { ...found, conditions: setCondition(judged, validation) as Ec2Status["conditions"] };
}

type Found = Pick<Ec2Status, "subnets" | "securityGroups" | "amis">;

/** In upstream's order. (04 §1.4) */
function findings(spec: Spec, found: Found): readonly (readonly [Ec2NodeClassDependent, Observation])[] {
  const { placementGroupSelector: group } = spec;
  return [
    ["AMIsReady", some(found.amis, "AMIsReady", { reason: "AMINotFound", what: "image" })],
    ["CapacityReservationsReady", fine("CapacityReservationsReady")],
    [
      "PlacementGroupReady",
      group?.id === undefined
        ? fine("PlacementGroupReady")
        : missing("PlacementGroupNotFound", `no placement group ${group.id}`),
    ],
    ["SubnetsReady", some(found.subnets, "SubnetsReady", { reason: "SubnetsNotFound", what: "subnet" })],
    [
      "SecurityGroupsReady",
      some(found.securityGroups, "SecurityGroupsReady", { reason: "SecurityGroupsNotFound", what: "security group" }),
    ],
    ["InstanceProfileReady", fine("InstanceProfileReady")],
  ];
}

function validated(spec: Spec, conditions: readonly Condition[]): Observation {
  const amiFamily = resolvedAmiFamily(spec);
  const verdict = ec2Validation({
    amiFamily,
    conditions,
    kubelet: text(kubeletProblems(spec.kubelet)),
    ...(expressionsOf(spec.kubelet).length > 0 && {
      expressionsDisabled: "the simulated account evaluates no expressions",
    }),
    unsupportedKubelet: text(familyProblems(spec.kubelet, amiFamily)),
    tags: text(tagProblems(spec.tags)),
    dryRun: { kind: "passed" },
  });
  return verdict.kind === "decided" ? verdict.finding : fine("ValidationSucceeded");
}

function some(
  found: readonly unknown[] | undefined,
  type: string,
  { reason, what }: { readonly reason: string; readonly what: string },
): Observation {
  return found !== undefined && found.length > 0
    ? fine(type)
    : missing(reason, `no ${what} of the simulated account matches the selector terms`);
}

function fine(type: string): Observation {
  return { status: "True", reason: type, message: "" };
}

function missing(reason: string, message: string): Observation {
  return { status: "False", reason, message };
}

function text(problems: readonly Problem[]): string | undefined {
  return problems.length === 0 ? undefined : problems.map(({ message }) => message).join("; ");
}
