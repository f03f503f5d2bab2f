import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Loop, type LoopWorld, reconcileLoop } from "../../kube/loop.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { disruptClaim } from "./disrupt.ts";
import { claimsIn, indexMachines, isManaged, isReady, nodesOf } from "./lookups.ts";
import { sceneOf } from "./scene.ts";

const controller = "nodeclaim.garbagecollection";
const everyMs = 2 * 60_000;
const atATime = 20;

/** Ends claims whose machine is gone without anybody saying so. (03:G-1) */
export function garbageCollection(parts: Parts): Loop {
  return reconcileLoop({
    name: controller,
    triggers: [],
    initial: ["all"],
    kinds: [custom.NodeClaim, builtIn.Node],
    prepare: indexMachines,
    reconcile: async (_, world: LoopWorld) => {
      const gone = await abandonedClaims(world, parts);
      for (let at = 0; at < gone.length; at += atATime) {
        await Promise.all(gone.slice(at, at + atATime).map((claim) => collect(claim, world, parts)));
      }
      return { afterMs: everyMs };
    },
  });
}

/**
 * Claims first, then the cloud: a machine bought in between is in neither list. An answer that failed says nothing, so
 * it ends the look. Claims that never registered are given up on by liveness. (03:G-1)
 */
async function abandonedClaims(world: LoopWorld, { cloud }: Parts): Promise<readonly NodeClaim[]> {
  const claims = claimsIn(world)
    .all()
    .filter((claim) => isManaged(claim, cloud) && isTrue(claim, "Registered"))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const instances = await cloud.list();
  const living = new Set(instances.filter((one) => !one.isTerminating).map(({ providerId }) => providerId));
  // A kubelet that reports lives on a machine, whatever the cloud says. (03:G-2)
  return claims
    .filter(({ status }) => !living.has(status?.providerID ?? ""))
    .filter((claim) => !nodesOf(claim, world).some(isReady));
}

async function collect(claim: NodeClaim, world: LoopWorld, parts: Parts): Promise<void> {
  const pods = parts.cluster.nodeOfClaim(claim.metadata.name ?? "")?.pods;
  const isDone = await disruptClaim(claim, { reason: "garbage_collected", world, parts, pods });
  if (!isDone) return;
  const { log } = sceneOf(claim, { controller, world, parts });
  log.debug("garbage collecting nodeclaim with no cloudprovider representation");
}
