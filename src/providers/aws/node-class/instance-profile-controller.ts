import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { annotations } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../../util/concurrent.ts";
import type { InstanceProfiles } from "./instance-profiles.ts";
import type { Ec2NodeClassObject } from "./node-class-object.ts";

const periodMs = 30 * 60_000;

/** Deletes instance profiles of the cluster that no class and no claim uses any more. (04 §3.8) */
export function instanceProfileController(profiles: InstanceProfiles): Controller {
  const { EC2NodeClass, NodeClaim: claimType } = karpenterTypes;
  return reconcileController({
    name: "instanceprofile.garbagecollection",
    triggers: [],
    kinds: [EC2NodeClass, claimType],
    initialKeys: ["profiles"],
    reads: [EC2NodeClass, claimType, "cloud"].map((of) => ({
      of,
      withinMs: periodMs,
      because: "it looks at everything",
    })),
    reconcile: async (_, context) => {
      // The cluster is read after the account: a profile made in between is not in the list.
      const found = (await profiles.list()).map(({ InstanceProfileName = "" }) => InstanceProfileName);
      const used = usedProfiles(context);
      const unused = found.filter((name) => !used.has(name) && !profiles.isProtected(name));
      const errors = await forEachConcurrent(unused, { limit: 10, run: (name) => profiles.delete(name) });
      throwIfAny(errors, "deleting instance profiles");
      return { afterMs: periodMs };
    },
  });
}

function usedProfiles({ view }: ControllerContext): ReadonlySet<string | undefined> {
  const classes = view<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass).all();
  const claims = view<KubeObject & NodeClaim>(karpenterTypes.NodeClaim).all();
  return new Set([
    ...classes.map(({ status }) => status?.instanceProfile),
    ...claims.map(({ metadata }) => metadata.annotations?.[annotations.awsInstanceProfileName]),
  ]);
}
