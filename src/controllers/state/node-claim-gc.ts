import type { KubeObject } from "../../api/object.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { ignoreKubeErrors } from "../writes.ts";

/** By then a claim is either there for everybody to see, or it is gone. */
const graceMs = 15_000;

/**
 * Forgets claims that were deleted before anybody was told that they exist: state would wait for their machines for
 * ever, and nothing would be decided any more. (02:S-14, 03:G-5)
 */
export function unlaunchedClaimGcController({ cluster }: ControllerDependencies): Controller {
  return reconcileController({
    name: "state.nodeclaimgc",
    triggers: [
      triggerOn(karpenterTypes.NodeClaim, ({ object, old }) => (old === undefined ? namesOf(object) : []), {
        settleMs: graceMs,
      }),
    ],
    reconcile: async (name, { client }) => {
      if (!cluster.unlaunchedClaims().includes(name)) return undefined;
      const claim = await ignoreKubeErrors(client.get(karpenterTypes.NodeClaim, { name }), "not-found");
      if (claim === undefined) cluster.forgetUnlaunched(name);
      return undefined;
    },
  });
}

function namesOf(object: KubeObject | undefined): readonly string[] {
  return object?.metadata.name === undefined ? [] : [object.metadata.name];
}
