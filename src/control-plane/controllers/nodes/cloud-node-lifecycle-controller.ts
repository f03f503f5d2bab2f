import type { InstanceSource } from "../../../cloud/instance-source.ts";
import { type Controller, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { type ApiNode, conditionOfType } from "../api-pod-and-node.ts";

/** Takes out Nodes whose machine the cloud no longer has, as a cloud's controller does. (05:CP-L11) */
export function cloudNodeLifecycleController(instances: InstanceSource): Controller {
  return reconcileController({
    name: "cloud-node-lifecycle-controller",
    triggers: [
      triggerOn<ApiNode>(builtInTypes.Node, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""])),
    ],
    // A Node whose kubelet fell silent long ago does not change any more when its machine goes.
    subscribe: (enqueue) =>
      instances.subscribe(({ state, nodeName }) => {
        if (state === "terminated") enqueue(nodeName);
      }),
    reconcile: async (name, { client, view, recordEvent }) => {
      const node = view<ApiNode>(builtInTypes.Node).get(name);
      const providerId = node?.spec?.providerID ?? "";
      if (node === undefined || conditionOfType(node, "Ready")?.status === "True" || !instances.owns(providerId))
        return;
      if (instances.list().some((instance) => instance.providerId === providerId)) return;
      recordEvent(node, {
        type: "Normal",
        reason: "DeletingNode",
        message: `Deleting node ${name}: its machine is gone`,
      });
      const { uid } = node.metadata;
      try {
        await client.delete(builtInTypes.Node, { name }, uid === undefined ? {} : { preconditions: { uid } });
      } catch (error) {
        if (!isKubeError(error, "not-found")) throw error; // after a conflict the view knows which node it is by now
      }
    },
  });
}
