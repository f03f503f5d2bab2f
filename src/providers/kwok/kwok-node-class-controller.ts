import { kwokNodeClassConditions } from "../../api/conditions/kwok-node-class.ts";
import { getCondition, setConditionTrue } from "../../api/conditions/set-condition.ts";
import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import type { KubeObject } from "../../api/object.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";

type KwokNodeClassObject = KubeObject & KwokNodeClass;

/** Marks KWOKNodeClasses ready: there is nothing to resolve. (02:K-10) */
export function kwokNodeClassController(): Controller {
  return reconcileController({
    name: "kwoknodeclass.status",
    triggers: [
      triggerOn<KwokNodeClassObject>(karpenterTypes.KWOKNodeClass, ({ object }) =>
        object === undefined ? [] : [object.metadata.name ?? ""],
      ),
    ],
    reconcile: async (name, { view, client, clock }) => {
      const nodeClass = view<KwokNodeClassObject>(karpenterTypes.KWOKNodeClass).get(name);
      if (nodeClass === undefined || getCondition(nodeClass, "Ready") !== undefined) return undefined;
      const conditions = setConditionTrue(nodeClass, {
        set: kwokNodeClassConditions,
        type: "Ready",
        nowMs: clock.now(),
      });
      const body = { metadata: { resourceVersion: nodeClass.metadata.resourceVersion }, status: { conditions } };
      await client.patch(karpenterTypes.KWOKNodeClass, { name }, { kind: "merge", body }, { subresource: "status" });
      return undefined;
    },
  });
}
