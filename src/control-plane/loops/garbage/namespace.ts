import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import { isKubeError } from "../../../kube/error.ts";
import type { Loop, LoopWorld } from "../../../kube/loop.ts";
import { type LookAgain, Reconciler } from "../../../kube/reconciler.ts";
import { builtIn } from "../../../kube/resources.ts";
import { rfc3339 } from "../../api/times.ts";
import { find, writeStatus } from "../workloads/status.ts";
import type { WorkloadCondition } from "../workloads/types.ts";
import { type Everything, watchEverything } from "./everything.ts";
import { unwatchedKinds } from "./kinds.ts";

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] | undefined };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly WorkloadCondition[] | undefined };
}

const ownFinalizer = "kubernetes";
/** Content that goes tells us so; this is for what we cannot see go. */
const recheckMs = 5_000;

/** Empties namespaces that are deleted, and then lets them go. (05:CP-L8) */
export const namespaceLoop: Loop = {
  name: "namespace-controller",
  kinds: [builtIn.Namespace, builtIn.CustomResourceDefinition],
  run: async (world, signal) => {
    const { name } = namespaceLoop;
    const leaving = (namespace: string): boolean =>
      world.view<Namespace>(builtIn.Namespace).get(namespace)?.metadata.deletionTimestamp !== undefined;
    const reconciler = new Reconciler<string, LoopWorld>({
      name,
      reconcile: (namespace) => empty(namespace, { world, everything }),
      world,
      clock: world.clock,
      random: world.random.fork("back-off"),
      onError: ({ key, error }) => world.log({ kind: "reconcile-failed", loop: name, key, error }),
    });
    const everything = watchEverything(world, (type, { object, old }) => {
      const { metadata } = object ?? (old as KubeObject);
      const namespace = type.kind === "Namespace" ? metadata.name : metadata.namespace;
      if (namespace !== undefined && leaving(namespace)) reconciler.enqueue(namespace);
    });
    await reconciler.run(signal);
    everything.stop();
  },
};

interface Context {
  readonly world: LoopWorld;
  readonly everything: Everything;
}

async function empty(name: string, { world, everything }: Context): Promise<LookAgain | undefined> {
  const namespace = world.view<Namespace>(builtIn.Namespace).get(name);
  if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
  if (!namespace.spec?.finalizers?.includes(ownFinalizer)) return undefined;
  if (!everything.hasSynced()) return { afterMs: 1_000 };
  const left = await contentOf(name, { world, everything });
  if (left.length === 0) {
    await letGo(world, namespace);
    return undefined;
  }
  for (const { type, object } of left)
    if (object.metadata.deletionTimestamp === undefined) await remove(world, type, object);
  const now = await contentOf(name, { world, everything });
  const latest = world.view<Namespace>(builtIn.Namespace).get(name);
  if (latest !== undefined)
    await writeStatus(world, builtIn.Namespace, { object: latest, status: statusOf(latest, now, world) });
  return { afterMs: now.length === 0 ? 0 : recheckMs };
}

interface Content {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Pods first: what they use outlives them. */
async function contentOf(namespace: string, { world, everything }: Context): Promise<readonly Content[]> {
  const types = everything.types().filter(({ namespaced }) => namespaced);
  const podsFirst = [...types].sort((a, b) => Number(b === builtIn.Pod) - Number(a === builtIn.Pod));
  const seen = podsFirst.flatMap((type) =>
    world
      .view(type)
      .in(namespace)
      .map((object) => ({ type, object })),
  );
  if (seen.length > 0) return seen;
  const listed: Content[] = [];
  for (const type of unwatchedKinds) {
    const { items } = await world.client.list(type, { namespace });
    listed.push(...items.map((object) => ({ type, object })));
  }
  return listed;
}

async function remove(world: LoopWorld, type: ResourceType, { metadata }: KubeObject): Promise<void> {
  const { name = "", namespace, uid = "" } = metadata;
  try {
    await world.client.delete(type, { name, namespace }, { propagation: "Background", preconditions: { uid } });
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error; // a conflict is tried again
  }
}

/** The last of its finalizers: the server drops the namespace with it. */
async function letGo(world: LoopWorld, { metadata, spec }: Namespace): Promise<void> {
  const finalizers = (spec?.finalizers ?? []).filter((one) => one !== ownFinalizer);
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { finalizers } };
  try {
    await world.client.patch(builtIn.Namespace, { name: metadata.name ?? "" }, { kind: "merge", body });
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
}

/** What kubectl shows of a namespace that does not go: what is left, and what holds it. */
function statusOf(namespace: Namespace, left: readonly Content[], world: LoopWorld): NonNullable<Namespace["status"]> {
  const now = world.clock.now();
  const held = left.filter(({ object }) => (object.metadata.finalizers ?? []).length > 0);
  const findings: readonly WorkloadCondition[] = [
    condition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    left.length === 0
      ? condition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
      : {
          ...condition(
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            `Some resources are remaining: ${counted(left)}`,
          ),
          status: "True",
        },
    held.length === 0
      ? condition(
          "NamespaceFinalizersRemaining",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        )
      : {
          ...condition(
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            `Some content in the namespace has finalizers remaining: ${finalizersOf(held)}`,
          ),
          status: "True",
        },
  ];
  const conditions = findings.map((one) => {
    const before = find(namespace.status?.conditions, one.type);
    const since = before?.status === one.status ? before.lastTransitionTime : undefined;
    return { lastTransitionTime: since ?? rfc3339(now), ...one };
  });
  return { ...namespace.status, phase: "Terminating", conditions };
}

function condition(type: string, reason: string, message: string): WorkloadCondition {
  return { type, status: "False", reason, message };
}

function counted(left: readonly Content[]): string {
  const counts = new Map<string, number>();
  for (const { type } of left) {
    const name = `${type.plural}.${type.group}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} has ${count} resource instances`).join(", ");
}

function finalizersOf(held: readonly Content[]): string {
  const counts = new Map<string, number>();
  for (const finalizer of held.flatMap(({ object }) => object.metadata.finalizers ?? [])) {
    counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} in ${count} resource instances`).join(", ");
}
