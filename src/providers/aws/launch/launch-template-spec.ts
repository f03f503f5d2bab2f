import type { RequestLaunchTemplateData } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { CapacityType } from "../../../api/labels.ts";
import type { InstanceType } from "../../../core/instance-type.ts";

/** Before it is encoded. (04 §1.9) */
export const maxUserDataBytes = 16_384;

/** A placement group nodes are launched into. */
export interface TargetPlacementGroup {
  readonly id: string;
  /** The partition to launch into, for groups that have partitions. */
  readonly partition?: number | undefined;
}

/** What is to be launched, as decided before there are launch templates for it. (04 §3.4) */
export interface LaunchTemplateRequest {
  /** With its status. */
  readonly nodeClass: Ec2NodeClass;
  readonly claim: Pick<NodeClaim, "metadata" | "spec">;
  /** With only the offerings to launch from: of a reserved launch, those of its reservations. */
  readonly instanceTypes: readonly InstanceType[];
  readonly capacityType: CapacityType;
  readonly tenancy: "default" | "dedicated";
  /** Of everything the launch creates. (04 §1.11) */
  readonly tags: Readonly<Record<string, string>>;
  readonly placementGroup?: TargetPlacementGroup | undefined;
  /** The gate ReservedCapacity: without it nothing is said about reservations. */
  readonly usesReservations: boolean;
}

/** One launch template, and the instance types it is for. */
export interface LaunchTemplateSpec {
  readonly imageId: string;
  /** Everything but name and tags of the template itself. */
  readonly data: RequestLaunchTemplateData;
  readonly instanceTypes: readonly InstanceType[];
  /** The reservation it launches into. */
  readonly reservationId?: string | undefined;
  /** Before it is encoded. */
  readonly userDataBytes: number;
  /** What of the user's data is not used. */
  readonly warnings: readonly string[];
}
