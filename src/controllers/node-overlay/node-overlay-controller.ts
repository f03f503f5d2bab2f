import type { ConditionObservation } from "../../api/conditions/condition.ts";
import {
  nodeOverlayConditions,
  overlayConflictObservation,
  overlayValidationObservation,
} from "../../api/conditions/node-overlay.ts";
import { setCondition } from "../../api/conditions/set-condition.ts";
import type { NodeOverlay } from "../../api/kinds/node-overlay.ts";
import type { KubeObject } from "../../api/object.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { OverlayStore } from "../../cloud/overlay-store.ts";
import { applyOverlays, type OverlayFault } from "../../core/overlay.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { hasGenerationChanged } from "../generation-changed.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { patchLockedStatus } from "../patch-locked-status.ts";

export interface NodeOverlayDependencies extends ControllerDependencies {
  /** As it is without overlays: what they are held against. (02:O-9) */
  readonly provider: CloudProvider;
  readonly store: OverlayStore;
}

const periodMs = 6 * 3_600_000;
/** Overlays are judged against each other, so there is one thing to look at. */
const singletonKey = "overlays";

/** Holds all overlays against what all pools are sold, and puts those in force that conflict with none. (02 §8.1) */
export function nodeOverlayController(dependencies: NodeOverlayDependencies): Controller {
  const types = [karpenterTypes.NodeOverlay, karpenterTypes.NodePool, ...dependencies.provider.nodeClasses];
  return reconcileController({
    name: "nodeoverlay",
    triggers: types.map((type) =>
      triggerOn<KubeObject>(type, (change) => (hasGenerationChanged(change) ? [singletonKey] : [])),
    ),
    reconcile: (_, context) => evaluateOverlays(context, dependencies),
  });
}

async function evaluateOverlays(
  context: ControllerContext,
  { provider, store, cluster }: NodeOverlayDependencies,
): Promise<RequeueAfter> {
  const overlays = context.view<NodeOverlay>(karpenterTypes.NodeOverlay).all();
  const { pools, errors } = await instanceTypesByPool(context, provider);
  const { faults } = applyOverlays(pools, { overlays, policy: provider.labelPolicy });
  const faultOf = new Map(faults.map((fault) => [fault.overlay, fault]));
  store.replace({
    overlays: overlays.filter((overlay) => !faultOf.has(overlay)),
    pools: new Set(pools.map(({ nodePool }) => nodePool.metadata.name ?? "")),
  });
  cluster.markUnconsolidated();
  const writes = overlays.map((overlay) => writeValidationCondition(overlay, context, faultOf.get(overlay)));
  const requeue = (await Promise.all(writes)).find((one) => one !== undefined);
  // One pool's trouble is not the others': they are in force by now, and it is tried again. (02:O-8)
  if (errors.length > 0) throw new AggregateError(errors, "listing instance types");
  return requeue ?? { afterMs: periodMs };
}

/** What each of our pools is sold, and which could not say. */
async function instanceTypesByPool(
  context: ControllerContext,
  provider: CloudProvider,
): Promise<{ readonly pools: readonly Pool[]; readonly errors: readonly unknown[] }> {
  const ours = nodePoolView(context)
    .all()
    .filter((pool) => isManagedPool(pool, provider.nodeClasses));
  const results = await Promise.allSettled(ours.map((pool) => provider.instanceTypes(pool)));
  const pools: Pool[] = [];
  const errors: unknown[] = [];
  for (const [at, nodePool] of ours.entries()) {
    const result = results[at];
    if (result?.status === "fulfilled") pools.push({ nodePool, instanceTypes: result.value });
    else
      errors.push(new Error(`listing instance types of nodepool ${nodePool.metadata.name}`, { cause: result?.reason }));
  }
  return { pools, errors };
}

async function writeValidationCondition(
  overlay: NodeOverlay,
  context: ControllerContext,
  fault: OverlayFault | undefined,
): Promise<RequeueAfter | undefined> {
  const set = nodeOverlayConditions;
  const nowMs = context.clock.now();
  const conditions = setCondition(overlay, { set, type: "ValidationSucceeded", nowMs, ...validationFinding(fault) });
  if (conditions === overlay.status?.conditions) return undefined;
  return patchLockedStatus(context, karpenterTypes.NodeOverlay, { object: overlay, status: { conditions } });
}

function validationFinding(fault: OverlayFault | undefined): ConditionObservation {
  if (fault?.reason === "Conflict") return overlayConflictObservation(fault.message);
  return overlayValidationObservation(fault?.problems ?? []);
}
