import type { Instance as Ec2Instance } from "@aws-sdk/client-ec2";
import { hashAnnotationKeys, isDriftedByHash } from "../../api/hash/hash-drift.ts";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { awsLabels, labels } from "../../api/labels.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { ec2CapacityType } from "./instances/instance-details.ts";
import { amiFor } from "./node-class/ami-requirements.ts";

/** Why an EC2 instance no longer is what its node class asks for, in the order they are looked for. (04 §1.13) */
export type Ec2DriftReason =
  | "NodeClassDrift"
  | "AMIDrift"
  | "SecurityGroupDrift"
  | "SubnetDrift"
  | "CapacityReservationDrift"
  | "PlacementGroupDrift";

export interface DriftSource {
  readonly nodeClass: Ec2NodeClass;
  readonly instanceTypes: () => readonly InstanceType[];
  /** A cached answer will do, except where drift is about to be declared by it. */
  readonly instance: (options: { readonly skipCache: boolean }) => Promise<Ec2Instance>;
  readonly placementGroupId: string | undefined;
  readonly usesReservations: boolean;
}

/** What cannot be judged is an error, not drift. */
export async function ec2DriftReason(claim: NodeClaim, source: DriftSource): Promise<Ec2DriftReason | undefined> {
  const { nodeClass } = source;
  const hashes = { claim: claim.metadata.annotations, owner: nodeClass.metadata.annotations };
  if (isDriftedByHash(hashAnnotationKeys.ec2NodeClass, hashes)) return "NodeClassDrift";
  if (isAmiDrifted(claim, source)) return "AMIDrift";
  const instance = await source.instance({ skipCache: false });
  if (areGroupsDrifted(instance, nodeClass)) return "SecurityGroupDrift";
  if (isSubnetDrifted(instance, nodeClass)) return "SubnetDrift";
  if (await isReservationDrifted(instance, source)) return "CapacityReservationDrift";
  const group = claim.metadata.labels?.[awsLabels.placementGroupId] ?? "";
  return group === (source.placementGroupId ?? "") ? undefined : "PlacementGroupDrift";
}

function isAmiDrifted({ metadata, status }: NodeClaim, { nodeClass, instanceTypes }: DriftSource): boolean {
  const typeName = metadata.labels?.[labels.instanceType];
  const type = instanceTypes().find(({ name }) => name === typeName);
  if (type === undefined) throw new Error(`NodeClaim ${metadata.name} has an unknown instance type ${typeName}`);
  const amis = nodeClass.status?.amis ?? [];
  if (amis.length === 0) throw new Error(`EC2NodeClass ${nodeClass.metadata.name} has no images`);
  if (!status?.imageID) throw new Error(`NodeClaim ${metadata.name} does not say which image it has`);
  return amiFor(type, amis)?.id !== status.imageID;
}

function areGroupsDrifted({ SecurityGroups = [] }: Ec2Instance, { metadata, status }: Ec2NodeClass): boolean {
  const wanted = new Set((status?.securityGroups ?? []).map(({ id }) => id));
  if (wanted.size === 0) throw new Error(`EC2NodeClass ${metadata.name} has no security groups`);
  const own = new Set(SecurityGroups.map(({ GroupId }) => GroupId));
  return own.size !== wanted.size || [...wanted].some((id) => !own.has(id));
}

function isSubnetDrifted({ SubnetId }: Ec2Instance, { metadata, status }: Ec2NodeClass): boolean {
  const subnets = status?.subnets ?? [];
  if (subnets.length === 0) throw new Error(`EC2NodeClass ${metadata.name} has no subnets`);
  return subnets.every(({ id }) => id !== SubnetId);
}

/** An instance may have moved from its reservation to on demand since it was last read. (04 §1.13) */
async function isReservationDrifted(cached: Ec2Instance, source: DriftSource): Promise<boolean> {
  const isOutside = (instance: Ec2Instance): boolean =>
    ec2CapacityType(instance, source.usesReservations) === "reserved" &&
    (source.nodeClass.status?.capacityReservations ?? []).every(({ id }) => id !== instance.CapacityReservationId);
  return isOutside(cached) && isOutside(await source.instance({ skipCache: true }));
}
