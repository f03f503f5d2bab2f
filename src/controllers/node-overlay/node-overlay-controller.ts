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
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { OverlayStore } from "../../cloud/overlay-store.ts";
import { applyOverlays, type OverlayFault } from "../../core/overlay.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { ReconcileResult, RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { hasGenerationChanged } from "../generation-changed.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { patchLockedStatus } from "../patch-locked-status.ts";

export interface OverlayEvaluationOptions {
  /** The provider without overlays: they are evaluated against its instance types. (02:O-9) */
  readonly provider: CloudProvider;
  readonly store: OverlayStore;
}

const periodMs = 6 * 3_600_000;
/** Requests at a time. */
const maxCalls = 50;
/** Overlays are evaluated against each other, so there is a single key. */
const singletonKey = "overlays";

/** Evaluates all overlays against the instance types of all pools, and activates those without conflicts. (02 §8.1) */
export function nodeOverlayController(
  dependencies: ControllerDependencies,
  evaluation: OverlayEvaluationOptions,
): Controller {
  const types = [karpenterTypes.NodeOverlay, karpenterTypes.NodePool];
  return karpenterController(dependencies, {
    name: "nodeoverlay",
    triggers: [
      ...types.map((type) =>
        triggerOn<KubeObject>(type, (change) => (hasGenerationChanged(change) ? [singletonKey] : [])),
      ),
      // A node class has instance types once its status says what it resolved to.
      ...evaluation.provider.nodeClasses.map((type) => triggerOn<KubeObject>(type, () => [singletonKey])),
    ],
    reads: [
      { of: "cloud", withinMs: periodMs, because: "instance types of a region change rarely" },
      { of: "cluster state", because: "it is only told that prices may have changed" },
    ],
    reconcile: (_, context) => evaluateOverlays(evaluation, context),
  });
}

async function evaluateOverlays(
  { provider, store }: OverlayEvaluationOptions,
  context: KarpenterContext,
): Promise<RequeueAfter> {
  const overlays = context.view<NodeOverlay>(karpenterTypes.NodeOverlay).all();
  const { pools, errors } = await instanceTypesByPool(provider, context);
  const { faults } = applyOverlays(pools, { overlays, policy: provider.labelPolicy });
  const faultOf = new Map(faults.map((fault) => [fault.overlay, fault]));
  store.replace({
    overlays: overlays.filter((overlay) => !faultOf.has(overlay)),
    pools: new Set(pools.map(({ nodePool }) => nodePool.metadata.name ?? "")),
  });
  context.cluster.markUnconsolidated();
  let requeue: ReconcileResult;
  const failures = await forEachConcurrent(overlays, {
    limit: maxCalls,
    run: async (overlay) => {
      requeue ??= await writeValidationCondition(overlay, faultOf.get(overlay), context);
    },
  });
  throwIfAny(failures, "writing conditions of overlays");
  // A pool whose instance types cannot be listed is retried; overlays are active for the others by now. (02:O-8)
  throwIfAny(errors, "listing instance types");
  return requeue ?? { afterMs: periodMs };
}

/** The instance types of each of our pools, and the errors of those whose types could not be listed. */
async function instanceTypesByPool(
  provider: CloudProvider,
  context: KarpenterContext,
): Promise<{ readonly pools: readonly Pool[]; readonly errors: readonly unknown[] }> {
  const ours = nodePoolView(context)
    .all()
    .filter((pool) => isManagedPool(pool, provider.nodeClasses));
  const found = new Map<string, Pool>();
  const errors = await forEachConcurrent(ours, {
    limit: maxCalls,
    run: async (nodePool) => {
      const { name = "" } = nodePool.metadata;
      try {
        found.set(name, { nodePool, instanceTypes: await provider.instanceTypes(nodePool) });
      } catch (cause) {
        // A pool may be applied before its class, which triggers us when it is there.
        if (isCloudError(cause, "node-class-not-ready")) return;
        throw new Error(`listing instance types of nodepool ${name}`, { cause });
      }
    },
  });
  return { pools: ours.flatMap(({ metadata }) => found.get(metadata.name ?? "") ?? []), errors };
}

async function writeValidationCondition(
  overlay: NodeOverlay,
  fault: OverlayFault | undefined,
  context: KarpenterContext,
): Promise<ReconcileResult> {
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
