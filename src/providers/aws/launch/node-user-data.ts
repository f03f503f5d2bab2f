import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { CapacityType } from "../../../api/labels.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import type { KubeletConfiguration } from "../../../api/validation/kubelet-decode.ts";
import type { Ec2NodeClassSpec } from "../node-class/node-class-object.ts";
import { renderUserData } from "../user-data/user-data.ts";
import type { ClusterFacts, UserDataResult } from "../user-data/user-data-request.ts";
import { bindsDefaultMounts } from "./bottlerocket-version.ts";
import { registrationLabels, registrationTaints } from "./node-registration.ts";

export interface NodeUserDataRequest {
  readonly spec: Ec2NodeClassSpec;
  readonly claim: Pick<NodeClaim, "metadata" | "spec">;
  readonly capacityType: CapacityType;
  readonly cluster: ClusterFacts;
  /** Resolved for the instance types. */
  readonly kubelet: KubeletConfiguration;
  readonly imageName?: string | undefined;
}

/** What a node for the claim boots with. (04 §1.9) */
export function nodeUserData(request: NodeUserDataRequest): UserDataResult {
  const { spec, claim, capacityType, cluster, kubelet, imageName } = request;
  const amiFamily = resolvedAmiFamily(spec);
  return renderUserData({
    amiFamily,
    cluster,
    custom: spec.userData,
    kubelet,
    labels: registrationLabels(claim, { amiFamily, capacityType }),
    taints: registrationTaints(claim),
    instanceStorePolicy: spec.instanceStorePolicy,
    bindsDefaultMounts: amiFamily === "Bottlerocket" && bindsDefaultMounts(spec, imageName),
  });
}
