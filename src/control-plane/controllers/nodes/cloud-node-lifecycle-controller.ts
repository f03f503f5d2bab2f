import type { InstanceSource } from "../../../cloud/instance-source.ts";
import { type Controller, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { type ApiNode, conditionOfType } from "../api-pod-and-node.ts";
import { deleteIfExists } from "../workloads/ownership.ts";

/** Deletes Nodes whose instance no longer exists, as a cloud controller manager does. (05:CP-L11) */
export function cloudNodeLifecycleController(instances: InstanceSource): Controller {
  return reconcileController({
    name: "cloud-node-lifecycle-controller",
    triggers: [
      triggerOn<ApiNode>(builtInTypes.Node, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""])),
    ],
    // A Node with a silent kubelet no longer changes, so its instance's termination must trigger this.
    subscribe: (enqueue) =>
      instances.subscribe(({ state, nodeName }) => {
        if (state === "terminated") enqueue(nodeName);
      }),
    reconcile: async (name, context) => {
      const { view, recordEvent } = context;
      const node = view<ApiNode>(builtInTypes.Node).get(name);
      const providerId = node?.spec?.providerID ?? "";
      if (node === undefined || conditionOfType(node, "Ready")?.status === "True" || !instances.owns(providerId))
        return;
      if (instances.list().some((instance) => instance.providerId === providerId)) return;
      recordEvent(node, {
        type: "Normal",
        reason: "DeletingNode",
        message: `Deleting node ${name} because it does not exist in the cloud provider`,
      });
      await deleteIfExists(context, builtInTypes.Node, node);
    },
  });
}
