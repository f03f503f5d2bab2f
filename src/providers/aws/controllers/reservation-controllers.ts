import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { awsLabels, labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import type { Ec2Instances } from "../instances/ec2-instances.ts";
import { ec2CapacityType, ec2ProviderId } from "../instances/instance-details.ts";

type NodeClaimObject = KubeObject & NodeClaim;
type NodeObject = KubeObject & Node;

const periodMs = 60_000;
const everyMinute = { withinMs: periodMs, because: "it looks at everything" };

/** What an instance loses with its reservation. */
const demotion = {
  [labels.capacityType]: "on-demand",
  [awsLabels.capacityReservationId]: null,
  [awsLabels.capacityReservationType]: null,
  [awsLabels.capacityReservationInterruptible]: null,
};

/** Instances that outlived their reservation run on demand: claims and Nodes are relabelled. (04 §3.8) */
export function reservationCapacityTypeController(instances: Pick<Ec2Instances, "list">): Controller {
  return reconcileController({
    name: "capacityreservation.capacitytype",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    initialKeys: ["all"],
    reads: [karpenterTypes.NodeClaim, builtInTypes.Node, "cloud"].map((of) => ({ of, ...everyMinute })),
    start: ({ view }) => view<NodeObject>(builtInTypes.Node).addIndex("provider-id", ({ spec }) => spec?.providerID),
    reconcile: async (_, context) => {
      await demoteOutlived(context, instances);
      return { afterMs: periodMs };
    },
  });
}

async function demoteOutlived(context: ControllerContext, instances: Pick<Ec2Instances, "list">): Promise<void> {
  const isReserved = ({ metadata }: KubeObject): boolean => metadata.labels?.[labels.capacityType] === "reserved";
  const claims = context.view<NodeClaimObject>(karpenterTypes.NodeClaim).all().filter(isReserved);
  if (claims.length === 0) return;
  const onDemand = new Set(
    (await instances.list())
      .filter((instance) => ec2CapacityType(instance, true) === "on-demand")
      .map(({ InstanceId = "", Placement }) => ec2ProviderId(Placement?.AvailabilityZone ?? "", InstanceId)),
  );
  const patch = { kind: "merge", body: { metadata: { labels: demotion } } } as const;
  for (const { metadata, status } of claims) {
    const { providerID = "", nodeName } = status ?? {};
    if (!onDemand.has(providerID)) continue;
    const { name = "" } = metadata;
    await ignoreKubeErrors(context.client.patch(karpenterTypes.NodeClaim, { name }, patch), "not-found");
    if (!nodeName) continue; // only registered nodes carry the labels
    for (const node of context.view<NodeObject>(builtInTypes.Node).byIndex("provider-id", providerID)) {
      if (!isReserved(node)) continue;
      const write = context.client.patch(builtInTypes.Node, { name: node.metadata.name ?? "" }, patch);
      await ignoreKubeErrors(write, "not-found");
    }
  }
}

/** Claims in capacity blocks that end soon are deleted while there is time to drain. (04 §3.8) */
export function reservationExpirationController(): Controller {
  return reconcileController({
    name: "capacityreservation.expiration",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, karpenterTypes.EC2NodeClass],
    initialKeys: ["all"],
    reads: [karpenterTypes.NodeClaim, karpenterTypes.EC2NodeClass].map((of) => ({ of, ...everyMinute })),
    reconcile: async (_, context) => {
      await deleteExpiring(context);
      return { afterMs: periodMs };
    },
  });
}

async function deleteExpiring({ view, client, log }: ControllerContext): Promise<void> {
  const expiring = new Set(
    view<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass)
      .all()
      .flatMap(({ status }) => status?.capacityReservations ?? [])
      .filter(({ reservationType, state }) => reservationType === "capacity-block" && state === "expiring")
      .map(({ id }) => id),
  );
  if (expiring.size === 0) return;
  for (const { metadata } of view<NodeClaimObject>(karpenterTypes.NodeClaim).all()) {
    const id = metadata.labels?.[awsLabels.capacityReservationId];
    if (id === undefined || !expiring.has(id) || metadata.deletionTimestamp !== undefined) continue;
    const { name = "", uid } = metadata;
    log.info("deleting a NodeClaim whose capacity block ends soon", { NodeClaim: { name }, reservation: id });
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await ignoreKubeErrors(client.delete(karpenterTypes.NodeClaim, { name }, preconditions), "not-found", "conflict");
  }
}
