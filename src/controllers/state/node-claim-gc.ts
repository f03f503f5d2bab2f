import { type Controller, triggerOn } from "../../kube/controller.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { ownName } from "../node-claim/triggers.ts";

/** By then the API server either has the claim, or it is gone. */
const graceMs = 15_000;

/**
 * Removes claims from cluster state that were deleted before any watch showed them: the state would wait for their
 * launch for ever, and no round would start. (02:S-14, 03:G-5)
 */
export function unlaunchedClaimGcController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "state.nodeclaimgc",
    triggers: [
      triggerOn(karpenterTypes.NodeClaim, (change) => (change.old === undefined ? ownName(change) : []), {
        settleMs: graceMs,
      }),
    ],
    reads: [{ of: "cluster state", because: "it is asked once, when a claim has been there for a while" }],
    reconcile: async (name, { client, cluster }) => {
      if (!cluster.unlaunchedClaims().includes(name)) return undefined;
      const claim = await ignoreKubeErrors(client.get(karpenterTypes.NodeClaim, { name }), "not-found");
      if (claim === undefined) cluster.forgetUnlaunched(name);
      return undefined;
    },
  });
}
