import type { Observation } from "../../api/conditions/condition.ts";
import { setCondition } from "../../api/conditions/engine.ts";
import { nodeOverlayConditions, overlayConflict, overlayValidation } from "../../api/conditions/node-overlay.ts";
import type { NodeOverlay } from "../../api/kinds/node-overlay.ts";
import type { KubeObject } from "../../api/object.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { OverlayStore } from "../../cloud/overlay-store.ts";
import type { CloudProvider } from "../../cloud/provider.ts";
import { applyOverlays, type OverlayFault } from "../../core/overlay.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import { isNewGeneration } from "../changes.ts";
import { poolsIn } from "../node-pool/pools.ts";
import type { Parts } from "../parts.ts";
import { writeStatus } from "../status.ts";

export interface OverlayParts extends Parts {
  /** As it is without overlays: what they are held against. (02:O-9) */
  readonly provider: CloudProvider;
  readonly store: OverlayStore;
}

const periodMs = 6 * 3_600_000;
/** Overlays are judged against each other, so there is one thing to look at. */
const everything = "overlays";

/** Holds all overlays against what all pools are sold, and puts those in force that conflict with none. (02 §8.1) */
export function nodeOverlayLoop(parts: OverlayParts): Loop {
  const types = [custom.NodeOverlay, custom.NodePool, ...parts.provider.nodeClasses];
  return reconcileLoop({
    name: "nodeoverlay",
    triggers: types.map((type) => on<KubeObject>(type, (change) => (isNewGeneration(change) ? [everything] : []))),
    reconcile: (_, world) => evaluate(world, parts),
  });
}

async function evaluate(world: LoopWorld, { provider, store, cluster }: OverlayParts): Promise<LookAgain> {
  const overlays = world.view<NodeOverlay>(custom.NodeOverlay).all();
  const { pools, errors } = await sold(world, provider);
  const { faults } = applyOverlays(pools, { overlays, policy: provider.labelPolicy });
  const faultOf = new Map(faults.map((fault) => [fault.overlay, fault]));
  store.replace({
    overlays: overlays.filter((overlay) => !faultOf.has(overlay)),
    pools: new Set(pools.map(({ nodePool }) => nodePool.metadata.name ?? "")),
  });
  cluster.markUnconsolidated();
  const writes = overlays.map((overlay) => judge(overlay, world, faultOf.get(overlay)));
  const again = (await Promise.all(writes)).find((one) => one !== undefined);
  // One pool's trouble is not the others': they are in force by now, and it is tried again. (02:O-8)
  if (errors.length > 0) throw new AggregateError(errors, "listing instance types");
  return again ?? { afterMs: periodMs };
}

/** What each of our pools is sold, and which could not say. */
async function sold(
  world: LoopWorld,
  provider: CloudProvider,
): Promise<{ readonly pools: readonly Pool[]; readonly errors: readonly unknown[] }> {
  const ours = poolsIn(world)
    .all()
    .filter((pool) => isManagedPool(pool, provider.nodeClasses));
  const answers = await Promise.allSettled(ours.map((pool) => provider.instanceTypes(pool)));
  const pools: Pool[] = [];
  const errors: unknown[] = [];
  for (const [at, nodePool] of ours.entries()) {
    const answer = answers[at];
    if (answer?.status === "fulfilled") pools.push({ nodePool, instanceTypes: answer.value });
    else
      errors.push(new Error(`listing instance types of nodepool ${nodePool.metadata.name}`, { cause: answer?.reason }));
  }
  return { pools, errors };
}

async function judge(
  overlay: NodeOverlay,
  world: LoopWorld,
  fault: OverlayFault | undefined,
): Promise<LookAgain | undefined> {
  const set = nodeOverlayConditions;
  const nowMs = world.clock.now();
  const conditions = setCondition(overlay, { set, type: "ValidationSucceeded", nowMs, ...findingOf(fault) });
  if (conditions === overlay.status?.conditions) return undefined;
  return writeStatus(world, custom.NodeOverlay, { object: overlay, status: { conditions } });
}

function findingOf(fault: OverlayFault | undefined): Observation {
  if (fault?.reason === "Conflict") return overlayConflict(fault.message);
  return overlayValidation(fault?.problems ?? []);
}
