import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { deletionCost } from "../../core/disruption-cost.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import type { Logger } from "../../util/logger.ts";
import { claimsIn } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import { referred } from "../provisioning/words.ts";
import { remove } from "../writes.ts";
import { hasNewReplicas, type StaticPool, staticPool, staticPoolOf } from "./pools.ts";
import { type Candidate, victims } from "./victims.ts";

const recheckMs = 60_000;
const unsyncedMs = 1_000;

/** Removes the nodes a static pool has too many of, whatever budgets say. (02:Z-3, 03:SP-4) */
export function staticDeprovisioning(parts: Parts): Loop {
  return reconcileLoop({
    name: "static.deprovisioning",
    concurrency: 10,
    triggers: [
      on<NodePool>(custom.NodePool, (change) => (hasNewReplicas(change) ? [change.object?.metadata.name ?? ""] : [])),
      on<NodeClaim>(custom.NodeClaim, (change, world) => (change.old ? [] : staticPoolOf(change, world))),
    ],
    reconcile: async (name, world) => {
      const pool = staticPool(name, world, parts);
      if (pool === undefined) return undefined;
      // No need for a synced state: it may know too few nodes, never too many, and learns of pods together with them.
      const surplus = parts.cluster.poolNodes.counts(name).active - pool.spec.replicas;
      if (surplus > 0) return shrink(pool, world, { parts, surplus });
      return { afterMs: parts.cluster.hasSynced ? recheckMs : unsyncedMs };
    },
  });
}

async function shrink(
  pool: StaticPool,
  world: LoopWorld,
  { parts, surplus }: { readonly parts: Parts; readonly surplus: number },
): Promise<LookAgain> {
  const { name = "" } = pool.metadata;
  const { active } = parts.cluster.poolNodes.counts(name);
  const log = parts.log.with({ NodePool: referred(pool.metadata) });
  log.info("deprovisioning nodeclaims to satisfy replica count", {
    current: active,
    desired: pool.spec.replicas,
    "deprovision-count": surplus,
  });
  const candidates = candidatesOf(name, world, parts);
  for (const pod of candidates.flatMap(({ pods = [] }) => pods)) reportCost(pod, log);
  const chosen = victims(candidates, { count: surplus, nowMs: world.clock.now() });
  const ended = await Promise.allSettled(chosen.map((claim) => end(claim, world, log)));
  const errors = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `deleting node claims of ${name}`);
  return { afterMs: recheckMs };
}

/** A deletion cost nobody can read counts for nothing, and somebody should know. (03:D-5) */
function reportCost(pod: Pod, log: Logger): void {
  const told = deletionCost(pod);
  if (told.kind !== "invalid") return;
  log.error("failed parsing pod deletion cost", { Pod: referred(pod.metadata), value: told.value });
}

/** Those that count as active: what is being replaced or on its way out is somebody else's business. */
function candidatesOf(pool: string, world: LoopWorld, { cluster }: Parts): readonly Candidate[] {
  return cluster.poolNodes.activeNames(pool).flatMap((name): readonly Candidate[] => {
    const claim = claimsIn(world).get(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return [];
    if (!claim.status?.providerID) return [{ claim, pods: undefined }];
    const node = cluster.nodeOfClaim(name);
    return node === undefined || node.isLeaving ? [] : [{ claim, pods: node.pods }];
  });
}

/** The view shows the deletion at once, and state counts the claim as deleting with it. */
async function end(claim: NodeClaim, { client }: LoopWorld, log: Logger): Promise<void> {
  await remove(client, custom.NodeClaim, claim);
  log.debug("deleting nodeclaim", { NodeClaim: referred(claim.metadata) });
}
