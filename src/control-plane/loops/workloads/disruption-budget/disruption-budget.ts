import type { KubeObject, OwnerReference } from "../../../../api/object.ts";
import { compileSelector } from "../../../../core/label-selector.ts";
import type { ResourceType } from "../../../../kube/client.ts";
import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { apiVersionOf, builtIn } from "../../../../kube/resources.ts";
import type { Change } from "../../../../kube/view.ts";
import { controllerOf, itself, settled } from "../ownership.ts";
import { writeStatus } from "../status.ts";
import type { DisruptionBudget, LivePod } from "../types.ts";
import { budgetStatus, expectation, failedStatus, needsScale, stillDisrupted } from "./health.ts";

/** Kinds that say how many pods they want. */
const scaledKinds = [builtIn.Deployment, builtIn.ReplicaSet, builtIn.StatefulSet, builtIn.ReplicationController];

/** Says of every budget how many of its pods may go. (05:CP-L6) */
export const disruptionBudgetLoop = reconcileLoop({
  name: "controllermanager",
  triggers: [
    on(builtIn.PodDisruptionBudget, itself),
    on<LivePod>(builtIn.Pod, budgetsOf, settled),
    ...scaledKinds.map((type) => on<Scaled>(type, budgetsOfScaled)),
  ],
  reconcile: reconcileBudget,
});

interface Scaled extends KubeObject {
  readonly spec: { readonly replicas?: number | undefined; readonly template?: Partial<LivePod> | undefined };
}

function budgetsOf({ object, old }: Change<LivePod>, world: LoopWorld): readonly string[] {
  const labelled = [object, old].flatMap((pod) => (pod === undefined ? [] : [pod.metadata]));
  return budgetsIn(world, labelled[0]?.namespace ?? "", (selects) => labelled.some(({ labels }) => selects(labels)));
}

/** Only a change of what is wanted concerns budgets. */
function budgetsOfScaled({ object, old }: Change<Scaled>, world: LoopWorld): readonly string[] {
  if (object?.spec.replicas === old?.spec.replicas && object !== undefined && old !== undefined) return [];
  const { metadata, spec } = (object ?? old) as Scaled;
  const labels = spec.template?.metadata?.labels;
  return budgetsIn(world, metadata.namespace ?? "", (selects) => selects(labels));
}

type Selects = (labels: Readonly<Record<string, string>> | undefined) => boolean;

function budgetsIn(world: LoopWorld, namespace: string, isMeant: (selects: Selects) => boolean): readonly string[] {
  return world
    .view<DisruptionBudget>(builtIn.PodDisruptionBudget)
    .in(namespace)
    .filter(({ spec }) => {
      const selector = compileSelector(spec.selector);
      return isMeant((labels) => selector.matches(labels));
    })
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

async function reconcileBudget(key: string, world: LoopWorld): Promise<LookAgain | undefined> {
  const budget = world.view<DisruptionBudget>(builtIn.PodDisruptionBudget).get(key);
  if (budget === undefined) return undefined;
  const now = world.clock.now();
  const selector = compileSelector(budget.spec.selector);
  const pods = world
    .view<LivePod>(builtIn.Pod)
    .in(budget.metadata.namespace ?? "")
    .filter(({ metadata }) => selector.matches(metadata.labels));
  const scale = needsScale(budget) ? scaleOf(world, pods) : { kind: "scale" as const, replicas: 0 };
  if (scale.kind === "unknown") {
    world.tell(budget, { type: "Warning", reason: "CalculateExpectedPodCountFailed", message: scale.message });
    const status = failedStatus(budget, scale.message, now);
    await writeStatus(world, builtIn.PodDisruptionBudget, { object: budget, status });
    return undefined;
  }
  const disrupted = stillDisrupted(budget, pods, now);
  for (const pod of disrupted.stale) {
    const message = "Pod was expected by PDB to be deleted but it wasn't";
    world.tell(pod, { type: "Warning", reason: "NotDeleted", message });
  }
  const expected = expectation(budget, { pods: pods.length, scale: scale.replicas });
  const status = budgetStatus(budget, { pods, disrupted, expectation: expected, now });
  await writeStatus(world, builtIn.PodDisruptionBudget, { object: budget, status });
  return disrupted.recheckMs === undefined ? undefined : { afterMs: disrupted.recheckMs };
}

type ScaleFinding =
  | { readonly kind: "scale"; readonly replicas: number }
  | { readonly kind: "unknown"; readonly message: string };

/** What the controllers of these pods want in all. Pods without one do not count; a controller without a scale does not do. */
function scaleOf(world: LoopWorld, pods: readonly LivePod[]): ScaleFinding {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const reference = controllerOf(pod);
    if (reference === undefined || scales.has(reference.uid)) continue;
    const controller = topController(world, pod, reference);
    if (controller === undefined)
      return { kind: "unknown", message: `found no controllers for pod "${pod.metadata.name}"` };
    scales.set(controller.metadata.uid ?? "", controller.spec.replicas ?? 1);
  }
  return { kind: "scale", replicas: [...scales.values()].reduce((total, replicas) => total + replicas, 0) };
}

/** The ReplicaSets of a Deployment share its scale. */
function topController(world: LoopWorld, child: KubeObject, reference: OwnerReference): Scaled | undefined {
  const direct = find(world, child, reference);
  const above = direct === undefined ? undefined : controllerOf(direct);
  if (direct === undefined || above === undefined || above.kind !== "Deployment") return direct;
  return find(world, direct, above) ?? direct;
}

function find(
  world: LoopWorld,
  child: KubeObject,
  { apiVersion, kind, name, uid }: OwnerReference,
): Scaled | undefined {
  const type: ResourceType | undefined = scaledKinds.find(
    (one) => one.kind === kind && apiVersionOf(one) === apiVersion,
  );
  const found = type && world.view<Scaled>(type).get(`${child.metadata.namespace}/${name}`);
  return found?.metadata.uid === uid ? found : undefined;
}
