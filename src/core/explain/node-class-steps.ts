import type { Ec2NodeClassDependent } from "../../api/conditions/ec2-node-class.ts";

interface NodeClassName {
  readonly kind: string;
  readonly name: string;
}

/** What to look at for each condition of an EC2NodeClass. */
const conditionSteps: Readonly<Record<Ec2NodeClassDependent, string>> = {
  AMIsReady: "check that an image matches spec.amiSelectorTerms (aws ec2 describe-images --owners self amazon)",
  SubnetsReady: "check that a subnet matches spec.subnetSelectorTerms (aws ec2 describe-subnets)",
  SecurityGroupsReady:
    "check that a security group matches spec.securityGroupSelectorTerms (aws ec2 describe-security-groups)",
  InstanceProfileReady:
    "check that spec.role or spec.instanceProfile exists and that the controller may read and pass it (aws iam get-role)",
  PlacementGroupReady: "check that the group of spec.placementGroupSelector exists (aws ec2 describe-placement-groups)",
  CapacityReservationsReady:
    "check that a reservation matches spec.capacityReservationSelectorTerms (aws ec2 describe-capacity-reservations)",
  ValidationSucceeded: "correct what its message names, or give the controller's role the permission it lacks",
};

/** What to do about a class that has a condition that is not True. */
export function nodeClassStep({ kind, name, condition }: NodeClassName & { readonly condition: string }): string {
  const look = `kubectl describe ${kind.toLowerCase()} ${name}`;
  const step = (conditionSteps as Readonly<Record<string, string>>)[condition];
  return step === undefined ? `look at its conditions: ${look}` : `${step}, then correct it: ${editOf({ kind, name })}`;
}

function editOf({ kind, name }: NodeClassName): string {
  return `kubectl edit ${kind.toLowerCase()} ${name}`;
}

/** What to do about a class that does not exist. */
export function missingClassStep({ kind, name }: NodeClassName): string {
  return `create ${kind} ${name}, or use one of those that exist: kubectl get ${kind.toLowerCase()}`;
}
