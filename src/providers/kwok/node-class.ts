import { get, setTrue } from "../../api/conditions/engine.ts";
import { kwokNodeClassConditions } from "../../api/conditions/kwok-node-class.ts";
import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import type { KubeObject } from "../../api/object.ts";
import { type Loop, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";

type Class = KubeObject & KwokNodeClass;

/** A KWOKNodeClass that says nothing of itself is ready: there is nothing to resolve. (02:K-10) */
export function kwokNodeClassLoop(): Loop {
  return reconcileLoop({
    name: "kwoknodeclass.status",
    triggers: [
      on<Class>(custom.KWOKNodeClass, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""])),
    ],
    reconcile: async (name, { view, client, clock }) => {
      const nodeClass = view<Class>(custom.KWOKNodeClass).get(name);
      if (nodeClass === undefined || get(nodeClass, "Ready") !== undefined) return undefined;
      const conditions = setTrue(nodeClass, { set: kwokNodeClassConditions, type: "Ready", nowMs: clock.now() });
      const body = { metadata: { resourceVersion: nodeClass.metadata.resourceVersion }, status: { conditions } };
      await client.patch(custom.KWOKNodeClass, { name }, { kind: "merge", body }, { subresource: "status" });
      return undefined;
    },
  });
}
