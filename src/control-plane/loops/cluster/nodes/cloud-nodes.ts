import type { InstanceSource } from "../../../../cloud/instance-source.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { type Loop, on, reconcileLoop } from "../../../../kube/loop.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { conditionOf, type LiveNode } from "../live.ts";

/** Takes out Nodes whose machine the cloud no longer has, as a cloud's controller does. (05:CP-L11) */
export function cloudNodeLoop(instances: InstanceSource): Loop {
  return reconcileLoop({
    name: "cloud-node-lifecycle-controller",
    triggers: [on<LiveNode>(builtIn.Node, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""]))],
    // A Node whose kubelet fell silent long ago does not change any more when its machine goes.
    wake: (enqueue) =>
      instances.subscribe(({ state, nodeName }) => {
        if (state === "terminated") enqueue(nodeName);
      }),
    reconcile: async (name, { client, view, tell }) => {
      const node = view<LiveNode>(builtIn.Node).get(name);
      const providerId = node?.spec?.providerID ?? "";
      if (node === undefined || conditionOf(node, "Ready")?.status === "True" || !instances.owns(providerId)) return;
      if (instances.list().some((instance) => instance.providerId === providerId)) return;
      tell(node, { type: "Normal", reason: "DeletingNode", message: `Deleting node ${name}: its machine is gone` });
      const { uid } = node.metadata;
      try {
        await client.delete(builtIn.Node, { name }, uid === undefined ? {} : { preconditions: { uid } });
      } catch (error) {
        if (!isKubeError(error, "not-found")) throw error; // after a conflict the view knows which node it is by now
      }
    },
  });
}
