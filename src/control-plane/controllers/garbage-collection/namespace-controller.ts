import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { conditionOfType } from "../api-pod-and-node.ts";
import { newReconciler } from "../new-reconciler.ts";
import { deleteIfExists } from "../workloads/ownership.ts";
import type { WorkloadCondition } from "../workloads/types.ts";
import { updateStatusIfChanged } from "../workloads/workload-status.ts";
import { type AllKindsWatch, watchAllKinds } from "./all-kinds-watch.ts";
import { unwatchedKinds } from "./watched-kinds.ts";

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] | undefined };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly WorkloadCondition[] | undefined };
}

const namespaceFinalizer = "kubernetes";
/** Deleted objects trigger a reconcile; this covers kinds that are not watched. */
const recheckMs = 5_000;

/** Deletes the content of terminating namespaces, then removes their finalizer. (05:CP-L8) */
export const namespaceController: Controller = {
  name: "namespace-controller",
  kinds: [builtInTypes.Namespace, builtInTypes.CustomResourceDefinition],
  run: async (context, signal) => {
    const isTerminating = (namespace: string): boolean =>
      context.view<Namespace>(builtInTypes.Namespace).get(namespace)?.metadata.deletionTimestamp !== undefined;
    const reconciler = newReconciler(context, {
      name: "namespace-controller",
      reconcile: (namespace) => deleteNamespaceContent(namespace, { context, allKinds }),
    });
    const allKinds = watchAllKinds(context, (type, { object, old }) => {
      const { metadata } = object ?? old;
      const namespace = type.kind === "Namespace" ? metadata.name : metadata.namespace;
      if (namespace !== undefined && isTerminating(namespace)) reconciler.enqueue(namespace);
    });
    await reconciler.run(signal);
    allKinds.stop();
  },
};

interface NamespaceDeletionContext {
  readonly context: ControllerContext;
  readonly allKinds: AllKindsWatch;
}

async function deleteNamespaceContent(
  name: string,
  { context, allKinds }: NamespaceDeletionContext,
): Promise<RequeueAfter | undefined> {
  const namespace = context.view<Namespace>(builtInTypes.Namespace).get(name);
  if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
  if (!namespace.spec?.finalizers?.includes(namespaceFinalizer)) return undefined;
  if (!allKinds.hasSynced()) return { afterMs: 1_000 };
  const remaining = await remainingContent(name, { context, allKinds });
  if (remaining.length === 0) {
    await removeNamespaceFinalizer(context, namespace);
    return undefined;
  }
  for (const { type, object } of remaining) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    await deleteIfExists(context, type, object, { propagation: "Background" });
  }
  const now = await remainingContent(name, { context, allKinds });
  const latest = context.view<Namespace>(builtInTypes.Namespace).get(name);
  if (latest !== undefined)
    await updateStatusIfChanged(context, builtInTypes.Namespace, {
      object: latest,
      status: terminatingNamespaceStatus(latest, now, context),
    });
  return { afterMs: now.length === 0 ? 0 : recheckMs };
}

interface NamespacedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Pods first, because they use the other objects. */
async function remainingContent(
  namespace: string,
  { context, allKinds }: NamespaceDeletionContext,
): Promise<readonly NamespacedObject[]> {
  const types = allKinds.types().filter(({ namespaced }) => namespaced);
  const podsFirst = [...types].sort((a, b) => Number(b === builtInTypes.Pod) - Number(a === builtInTypes.Pod));
  const seen = podsFirst.flatMap((type) =>
    context
      .view(type)
      .inNamespace(namespace)
      .map((object) => ({ type, object })),
  );
  if (seen.length > 0) return seen;
  const listed: NamespacedObject[] = [];
  for (const type of unwatchedKinds) {
    const { items } = await context.client.list(type, { namespace });
    listed.push(...items.map((object) => ({ type, object })));
  }
  return listed;
}

/** Once the last finalizer is gone the server removes the namespace. */
async function removeNamespaceFinalizer(context: ControllerContext, { metadata, spec }: Namespace): Promise<void> {
  const finalizers = (spec?.finalizers ?? []).filter((one) => one !== namespaceFinalizer);
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { finalizers } };
  const { name = "" } = metadata;
  await ignoreKubeErrors(context.client.patch(builtInTypes.Namespace, { name }, { kind: "merge", body }), "not-found");
}

/** The conditions kubectl shows of a namespace that does not terminate: what remains and which finalizers hold it. */
function terminatingNamespaceStatus(
  namespace: Namespace,
  remaining: readonly NamespacedObject[],
  context: ControllerContext,
): NonNullable<Namespace["status"]> {
  const now = context.clock.now();
  const held = remaining.filter(({ object }) => (object.metadata.finalizers ?? []).length > 0);
  const findings: readonly (readonly [type: string, isTrue: boolean, reason: string, message: string])[] = [
    ["DeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"],
    ["DeletionGroupVersionParsingFailure", false, "ParsedGroupVersions", "All legacy kube types successfully parsed"],
    [
      "DeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ],
    remaining.length === 0
      ? ["ContentRemaining", false, "ContentRemoved", "All content successfully removed"]
      : [
          "ContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${countByResource(remaining)}`,
        ],
    held.length === 0
      ? ["FinalizersRemaining", false, "ContentHasNoFinalizers", "All content-preserving finalizers finished"]
      : [
          "FinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${countByFinalizer(held)}`,
        ],
  ];
  const conditions = findings.map(([name, isTrue, reason, message]): WorkloadCondition => {
    const type = `Namespace${name}`;
    const status = isTrue ? "True" : "False";
    const before = conditionOfType(namespace, type);
    const since = before?.status === status ? before.lastTransitionTime : undefined;
    return { lastTransitionTime: since ?? rfc3339(now), type, status, reason, message };
  });
  return { ...namespace.status, phase: "Terminating", conditions };
}

function countByResource(remaining: readonly NamespacedObject[]): string {
  const counts = countNames(remaining.map(({ type }) => `${type.plural}.${type.group}`));
  return [...counts].map(([name, count]) => `${name} has ${count} resource instances`).join(", ");
}

function countByFinalizer(held: readonly NamespacedObject[]): string {
  const counts = countNames(held.flatMap(({ object }) => object.metadata.finalizers ?? []));
  return [...counts].map(([name, count]) => `${name} in ${count} resource instances`).join(", ");
}

function countNames(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
