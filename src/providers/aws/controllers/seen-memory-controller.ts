import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { SeenMemory } from "../instance-types/seen-memory.ts";

type NodeClaimObject = KubeObject & NodeClaim;
type NodeObject = KubeObject & Node;

/** Learns from registered Nodes how much memory their type really has. (04 §2.3) */
export function seenMemoryController(seenMemory: SeenMemory): Controller {
  return reconcileController({
    name: "providers.instancetype.capacity",
    triggers: [
      triggerOn<NodeObject>(builtInTypes.Node, ({ object }) =>
        object?.metadata.labels?.[labels.registered] === "true" ? [object.metadata.name ?? ""] : [],
      ),
    ],
    kinds: [karpenterTypes.NodeClaim, karpenterTypes.EC2NodeClass],
    reads: [karpenterTypes.NodeClaim, karpenterTypes.EC2NodeClass].map((of) => ({
      of,
      because: "a Node changes often, and one that was missed is seen with the next",
    })),
    start: ({ view }) =>
      view<NodeClaimObject>(karpenterTypes.NodeClaim).addIndex("provider-id", ({ status }) => status?.providerID),
    reconcile: async (name, context) => recordMemory(name, context, seenMemory),
  });
}

/** Only of Nodes with a current image: another may report another amount. */
function recordMemory(name: string, { view }: ControllerContext, seenMemory: SeenMemory): undefined {
  const node = view<NodeObject>(builtInTypes.Node).get(name);
  const [claim] = view<NodeClaimObject>(karpenterTypes.NodeClaim).byIndex("provider-id", node?.spec?.providerID ?? "");
  const type = node?.metadata.labels?.[labels.instanceType];
  const memory = Quantity.tryParse(String(node?.status?.capacity?.["memory"] ?? ""));
  if (claim === undefined || type === undefined || memory === undefined || memory.sign() <= 0) return undefined;
  const { kind, name: className } = claim.spec.nodeClassRef;
  if (kind !== karpenterTypes.EC2NodeClass.kind) return undefined;
  const nodeClass = view<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass).get(className);
  const amiIds = (nodeClass?.status?.amis ?? []).map(({ id }) => id).sort();
  if (claim.status?.imageID !== undefined && amiIds.includes(claim.status.imageID)) {
    seenMemory.record(type, amiIds, memory);
  }
  return undefined;
}
