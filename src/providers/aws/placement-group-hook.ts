import { awsLabels } from "../../api/labels.ts";
import type { RegistrationHook } from "../../cloud/cloud-provider.ts";
import type { Ec2Instances } from "./instances/ec2-instances.ts";
import { instanceIdOfProviderId } from "./interruption/instance-id.ts";

const retryMs = 5_000;

/** Registration waits until the partition is known that EC2 picked for a node. (04 §2.8) */
export function placementGroupHook(instances: Pick<Ec2Instances, "get">): RegistrationHook {
  return {
    name: "PlacementGroupRegistrationHook",
    registered: async ({ metadata, status }) => {
      if (metadata.labels?.[awsLabels.placementGroupPartition] !== "") return { isPending: false };
      const id = instanceIdOfProviderId(status?.providerID);
      if (id === undefined) return { isPending: true, afterMs: retryMs };
      const { Placement } = await instances.get(id, { skipCache: true });
      const partition = Placement?.PartitionNumber;
      if (partition === undefined) return { isPending: true, afterMs: retryMs };
      return { isPending: false, labels: { [awsLabels.placementGroupPartition]: String(partition) } };
    },
  };
}
