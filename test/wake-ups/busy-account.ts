import type { Controller } from "../../src/kube/controller.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { awsPool, awsWorld, inLarge, joined } from "../aws/aws-world.ts";
import { RecordedReads } from "./recorded-reads.ts";

const overlay = {
  apiVersion: "karpenter.sh/v1alpha1",
  kind: "NodeOverlay",
  metadata: { name: "dear" },
  spec: {
    requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] }],
    price: "1",
  },
};

/** All controllers of the AWS provider, in an account where each has something to do; what they read is recorded. */
export async function busyAccount() {
  const recorded = new RecordedReads();
  const controllers: Controller[] = [];
  const world = await awsWorld({
    types: (name) => name === "m5.large",
    settings: { hasZonalShift: true, interruptionQueue: "demo" },
    nodeClass: { capacityReservationSelectorTerms: [{ id: "cr-1" }] },
    account: (aws) => {
      aws.queues.set("demo", []);
      aws.capacityReservations.push({
        CapacityReservationId: "cr-1",
        OwnerId: "123456789012",
        InstanceType: "m5.large",
        AvailabilityZone: "us-west-2a",
        State: "active",
        ReservationType: "capacity-block",
        AvailableInstanceCount: 2,
        InstanceMatchCriteria: "targeted",
      });
    },
    wrapApi: (api) => recorded.account(api),
    wrapController: (controller) => {
      controllers.push(controller);
      return recorded.recorded(controller);
    },
  });
  await world.store(awsPool("pool"), overlay);
  const providerId = await joined(world, inLarge("us-west-2a", "reserved"));
  world.aws.shiftedZoneIds = ["usw2-az2"];
  await world.pass(120);
  const detail = { "instance-id": providerId.split("/").at(-1), "instance-action": "terminate" };
  const envelope = { version: "0", source: "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning" };
  world.aws.queues
    .get("demo")
    ?.push({ MessageId: "1", ReceiptHandle: "1", Body: JSON.stringify({ ...envelope, detail }) });
  const [block] = world.aws.capacityReservations;
  if (block !== undefined) block.EndDate = new Date(world.clock.now() + 30 * 60_000);
  await world.pass(60);
  await world.client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
  await world.pass(1_900);
  await world.stop();
  return { recorded, controllers };
}
