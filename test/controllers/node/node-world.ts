import type { Pod, PodSpec, PodStatus } from "../../../src/api/kubernetes/pod.ts";
import { annotations, finalizers, labels, taints } from "../../../src/api/labels.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../../src/api/object.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { nodeControllers } from "../../../src/controllers/node/node-controllers.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import type { ControllerWorldOptions } from "../controller-world.ts";
import { nodeClaimWorld, nodeWithId, type Spec } from "../node-claim/node-claim-world.ts";

export type StoredPod = Pod & KubeObject & { readonly metadata: { readonly deletionGracePeriodSeconds?: number } };

type Labels = Readonly<Record<string, string>>;

/** Labels of the Nodes our controllers manage. */
export const managedNodeLabels = { [labels.nodePool]: "default", "karpenter.kwok.sh/kwoknodeclass": "default" };

/** The controllers of Nodes, with the one that makes claims and ends them. */
const controllers = (dependencies: ControllerDependencies) => [
  lifecycleController(dependencies),
  ...nodeControllers(dependencies),
];

export interface PodChanges {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
  readonly node?: string;
}

const owner = (apiVersion: string, kind: string): readonly OwnerReference[] => [
  { apiVersion, kind, name: "owner", uid: "owner", controller: true },
];
export const ownedBy = {
  daemonSet: owner("apps/v1", "DaemonSet"),
  replicaSet: owner("apps/v1", "ReplicaSet"),
  node: owner("v1", "Node"),
};

export const protectedBy = (value: string): ObjectMeta => ({ annotations: { [annotations.doNotDisrupt]: value } });
export const tolerating = (operator: string): PodSpec => ({
  tolerations: [{ ...taints.disrupted, operator }],
});

/** Without scheduler and kubelets: pods run and end when the test says so. */
export async function nodeWorld(options: Partial<ControllerWorldOptions> = {}) {
  const world = await nodeClaimWorld({ controllers, ...options });
  const { client } = world;
  const podNamed = (name: string) => world.get<StoredPod>(builtInTypes.Pod, name, "default");
  return {
    ...world,
    podNamed,
    /** A registered Node with its claim: `node-a` of `a`. */
    registeredNode: async (
      name = "a",
      { spec = {}, isReady = true }: { readonly spec?: Spec; readonly isReady?: boolean } = {},
    ) => {
      const id = await world.launched(name, spec);
      await world.create(nodeWithId(id, { name: `node-${name}`, isReady, labels: managedNodeLabels }));
      await world.pass(1);
    },
    /** A Node with our finalizer that no claim knows. */
    nodeWithoutClaim: (
      providerID: string,
      {
        name = "stray",
        isReady = true,
        labels: told = managedNodeLabels as Labels,
        spec = { providerID } as object,
      } = {},
    ) => {
      const { metadata, ...rest } = nodeWithId(providerID, { name, isReady, labels: told, taints: [] });
      return world.create({ ...rest, spec, metadata: { ...metadata, finalizers: [finalizers.termination] } });
    },
    /** Pods that run on the node. */
    run: async (names: readonly string[], { metadata, spec, status, node = "node-a" }: PodChanges = {}) => {
      for (const name of names) {
        const pod = await world.create<KubeObject>({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { namespace: "default", labels: { app: "web" }, ...metadata, name },
          spec: { nodeName: node, containers: [{ name: "main", image: "app" }], ...spec },
        });
        await world.status(pod, {
          phase: "Running",
          startTime: now(world),
          conditions: [{ type: "Ready", status: "True" }],
          ...status,
        });
      }
    },
    /** Its containers have ended. */
    removePods: async (...names: readonly string[]) => {
      for (const name of names) {
        await client.delete(builtInTypes.Pod, { name, namespace: "default" }, { gracePeriodSeconds: 0 });
      }
      await world.pass(0);
    },
    /** Names of the pods that were asked to leave and are not gone. */
    terminatingPods: async () => {
      const pods = await world.list<StoredPod>(builtInTypes.Pod);
      return pods
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name);
    },
    /** A budget, as its controller would leave it, that lets so many pods of an app go. */
    budget: async (disruptionsAllowed: number, app = "web", name = app) => {
      const selector = { matchLabels: { app } };
      const pdb = await world.create<KubeObject>({
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name, namespace: "default" },
        spec: { maxUnavailable: 1, selector },
      });
      const counts = { disruptionsAllowed, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 };
      await world.status(pdb, { ...counts, observedGeneration: pdb.metadata.generation });
    },
    deleteNode: async (name = "node-a") => {
      await client.delete(builtInTypes.Node, { name });
      await world.pass(0);
    },
    /** Sets a deadline on the claim, as a user would. */
    setDeadline: (inSeconds: number, claim = "a") =>
      world.patchClaim(claim, {
        metadata: { annotations: { [annotations.terminationTimestamp]: now(world, inSeconds) } },
      }),
    setReady: (status: "True" | "False" | "Unknown", name = "node-a", type = "Ready") =>
      world.patchNode(name, { status: { conditions: [{ type, status, lastTransitionTime: now(world) }] } }, "status"),
    countOf: (name: string, told: Readonly<Record<string, string>> = {}) =>
      world.counted
        .filter((one) => one.name === name && Object.entries(told).every(([key, value]) => one.labels[key] === value))
        .reduce((total, { value }) => total + value, 0),
    claims: () => world.list(karpenterTypes.NodeClaim),
    /** The only instance vanishes. */
    loseInstance: () => world.cloud.vanish(world.cloud.records()[0]?.instance.id ?? ""),
    /** Runs `after` seconds of the node's end, ending every pod that was asked to. */
    passEndingPods: async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await world.pass(1);
        for (const { metadata } of await world.list<StoredPod>(builtInTypes.Pod)) {
          const { name = "", namespace = "default", deletionTimestamp } = metadata;
          if (deletionTimestamp) await client.delete(builtInTypes.Pod, { name, namespace }, { gracePeriodSeconds: 0 });
        }
      }
    },
  };
}
export type NodeWorld = Awaited<ReturnType<typeof nodeWorld>>;

/** RFC 3339 in whole seconds. */
export function now({ clock }: { readonly clock: { now(): number } }, inSeconds = 0): string {
  return new Date(clock.now() + inSeconds * 1_000).toISOString().replace(/\.\d+Z$/, "Z");
}
