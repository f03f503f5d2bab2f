import { compileSelector } from "../../../../core/label-selector.ts";
import { cacheKey } from "../../../../kube/client.ts";
import { type ControllerContext, reconcileController, triggerOn } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ObjectChange } from "../../../../kube/view.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { changedObjectKey, controllerReferenceOf, debounced } from "../ownership.ts";
import { type ScalableWorkload, scalableTypes, scalableWorkloadOf } from "../scalable-workloads.ts";
import type { PodDisruptionBudgetObject } from "../types.ts";
import { updateStatusIfChanged } from "../workload-status.ts";
import {
  expectedPodCount,
  failSafeStatus,
  needsScale,
  podDisruptionBudgetStatus,
  stillDisruptedPods,
} from "./pod-disruption-budget-status.ts";

/** Keeps `status.disruptionsAllowed` of every PodDisruptionBudget. (05:CP-L6) */
export const podDisruptionBudgetController = reconcileController({
  name: "controllermanager",
  triggers: [
    triggerOn(builtInTypes.PodDisruptionBudget, changedObjectKey),
    triggerOn<ApiPod>(builtInTypes.Pod, budgetKeysOfPod, debounced),
    ...scalableTypes.map((type) => triggerOn<ScalableWorkload>(type, budgetKeysOfOwner)),
  ],
  reconcile: reconcileBudget,
});

function budgetKeysOfPod({ object, old }: ObjectChange<ApiPod>, context: ControllerContext): readonly string[] {
  const labelled = [object, old].flatMap((pod) => (pod === undefined ? [] : [pod.metadata]));
  return budgetKeysIn(context, labelled[0]?.namespace ?? "", (selects) =>
    labelled.some(({ labels }) => selects(labels)),
  );
}

/** Only a change of `spec.replicas` matters to budgets. */
function budgetKeysOfOwner(
  { object, old }: ObjectChange<ScalableWorkload>,
  context: ControllerContext,
): readonly string[] {
  if (object?.spec.replicas === old?.spec.replicas && object !== undefined && old !== undefined) return [];
  const { metadata, spec } = object ?? old;
  const labels = spec.template?.metadata?.labels;
  return budgetKeysIn(context, metadata.namespace ?? "", (selects) => selects(labels));
}

type Selects = (labels: Readonly<Record<string, string>> | undefined) => boolean;

function budgetKeysIn(
  context: ControllerContext,
  namespace: string,
  matches: (selects: Selects) => boolean,
): readonly string[] {
  return context
    .view<PodDisruptionBudgetObject>(builtInTypes.PodDisruptionBudget)
    .inNamespace(namespace)
    .filter(({ spec }) => {
      const selector = compileSelector(spec.selector);
      return matches((labels) => selector.matches(labels));
    })
    .map(({ metadata }) => cacheKey(metadata));
}

async function reconcileBudget(key: string, context: ControllerContext): Promise<RequeueAfter | undefined> {
  const budget = context.view<PodDisruptionBudgetObject>(builtInTypes.PodDisruptionBudget).get(key);
  if (budget === undefined) return undefined;
  const now = context.clock.now();
  const selector = compileSelector(budget.spec.selector);
  const pods = context
    .view<ApiPod>(builtInTypes.Pod)
    .inNamespace(budget.metadata.namespace ?? "")
    .filter(({ metadata }) => selector.matches(metadata.labels));
  const scale = needsScale(budget) ? totalScaleOf(context, pods) : { kind: "scale" as const, replicas: 0 };
  if (scale.kind === "unknown") {
    context.recordEvent(budget, { type: "Warning", reason: "CalculateExpectedPodCountFailed", message: scale.message });
    const status = failSafeStatus(budget, scale.message, now);
    await updateStatusIfChanged(context, builtInTypes.PodDisruptionBudget, { object: budget, status });
    return undefined;
  }
  const disrupted = stillDisruptedPods(budget, pods, now);
  for (const pod of disrupted.stale) {
    const message = "Pod was expected by PDB to be deleted but it wasn't";
    context.recordEvent(pod, { type: "Warning", reason: "NotDeleted", message });
  }
  const expected = expectedPodCount(budget, { pods: pods.length, scale: scale.replicas });
  const status = podDisruptionBudgetStatus(budget, { pods, disrupted, expectation: expected, now });
  await updateStatusIfChanged(context, builtInTypes.PodDisruptionBudget, { object: budget, status });
  return disrupted.recheckMs === undefined ? undefined : { afterMs: disrupted.recheckMs };
}

type ScaleResult =
  | { readonly kind: "scale"; readonly replicas: number }
  | { readonly kind: "unknown"; readonly message: string };

/** Sums the replicas of these pods' controllers. Pods without a controller are skipped; a controller without replicas makes the scale unknown. */
function totalScaleOf(context: ControllerContext, pods: readonly ApiPod[]): ScaleResult {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const reference = controllerReferenceOf(pod);
    if (reference === undefined || scales.has(reference.uid)) continue;
    const controller = scalableWorkloadOf(pod, context);
    if (controller === undefined)
      return { kind: "unknown", message: `found no controllers for pod "${pod.metadata.name}"` };
    scales.set(controller.metadata.uid ?? "", controller.spec.replicas ?? 1);
  }
  return { kind: "scale", replicas: [...scales.values()].reduce((total, replicas) => total + replicas, 0) };
}
