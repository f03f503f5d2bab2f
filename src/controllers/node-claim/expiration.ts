import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import { never, parseNillableMs } from "../../util/duration.ts";
import type { Parts } from "../parts.ts";
import { quietly } from "../writes.ts";
import { disruptClaim } from "./disrupt.ts";
import { claimsIn, isManaged } from "./lookups.ts";
import { sceneOf } from "./scene.ts";
import { ownName } from "./triggers.ts";

const controller = "nodeclaim.expiration";

/** Ends claims that have reached their age, whatever runs on them: no budget is asked. (03 §1.11) */
export function expiration(parts: Parts): Loop {
  return reconcileLoop({
    name: controller,
    triggers: [on<NodeClaim>(custom.NodeClaim, ownName)],
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const claim = claimsIn(world).get(name);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
      const expiresAt = isManaged(claim, parts.cloud) ? expiryOf(claim) : undefined;
      if (expiresAt === undefined) return undefined;
      const leftMs = expiresAt - world.clock.now();
      if (leftMs > 0) return { afterMs: leftMs };
      await expire(claim, world, parts);
      return undefined;
    }),
  });
}

/** Upstream sleeps a second after it, lest it delete and count twice; our views show the deletion at once. (03:E-4) */
async function expire(claim: NodeClaim, world: LoopWorld, parts: Parts): Promise<void> {
  const pods = parts.cluster.nodeOfClaim(claim.metadata.name ?? "")?.pods;
  const isDone = await disruptClaim(claim, { reason: "expired", world, parts, pods });
  if (isDone) sceneOf(claim, { controller, world, parts }).log.debug("deleting expired nodeclaim");
}

/** By the age of the claim, not that of its Node. (03:E-1) */
function expiryOf({ metadata, spec }: NodeClaim): number | undefined {
  const lifeMs = parseNillableMs(spec.expireAfter) ?? never;
  return lifeMs === never ? undefined : Date.parse(metadata.creationTimestamp ?? "") + lifeMs;
}
