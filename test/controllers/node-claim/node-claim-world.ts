import type { Condition } from "../../../src/api/conditions/condition.ts";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { labels, taints } from "../../../src/api/labels.ts";
import type { KubeObject, ObjectMeta } from "../../../src/api/object.ts";
import type { CloudProvider, Instance } from "../../../src/cloud/cloud-provider.ts";
import { type Metrics, noMetrics } from "../../../src/controllers/metrics/metrics.ts";
import type { NodeKubeObject } from "../../../src/controllers/node-claim/claim-lookups.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { type ControllerWorld, type ControllerWorldOptions, controllerWorld } from "../controller-world.ts";

export type Spec = Partial<NodeClaim["spec"]>;

export const kwokRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
export const foreignRef = { group: "karpenter.test", kind: "TestNodeClass", name: "default" };

const nodeClass = {
  apiVersion: "karpenter.kwok.sh/v1alpha1",
  kind: "KWOKNodeClass",
  metadata: { name: "default" },
};

export function claimNamed(name: string, spec: Spec = {}, metadata: ObjectMeta = {}): KubeObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, ...metadata, labels: { [labels.nodePool]: "default", ...metadata.labels } },
    spec: { nodeClassRef: kwokRef, requirements: [], expireAfter: "720h", ...spec },
  };
}

export interface NodeChanges {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly effect: string; readonly value?: string }[];
  readonly isReady?: boolean;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
}

/** As a kubelet makes it: with the taint that keeps pods away, and ready. */
export function nodeWithId(providerID: string, changes: NodeChanges = {}): KubeObject {
  const { name = "node-1", isReady = true, allocatable = { cpu: "4", memory: "8Gi", pods: "110" } } = changes;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { [labels.hostname]: name, [labels.instanceType]: "c-4x-amd64-linux", ...changes.labels },
      ...(changes.annotations && { annotations: changes.annotations }),
    },
    spec: { providerID, taints: changes.taints ?? [taints.unregistered] },
    status: {
      conditions: [{ type: "Ready", status: isReady ? "True" : "False" }],
      allocatable,
      capacity: changes.capacity ?? allocatable,
    },
  };
}

/** A counter or histogram that moved, with its labels. */
export interface Counted {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function recordingMetrics(): Metrics & { readonly counted: Counted[] } {
  const counted: Counted[] = [];
  return {
    ...noMetrics,
    counted,
    count: (name, told, by = 1) => void counted.push({ name, labels: told, value: by }),
    observe: (name, told, value) => void counted.push({ name, labels: told, value }),
  };
}

/** Controllers with a node class to launch from. */
export async function nodeClaimWorld(options: ControllerWorldOptions) {
  const metrics = recordingMetrics();
  const world = await controllerWorld({ metrics, ...options });
  await world.create(nodeClass);
  return { ...world, counted: metrics.counted, ...shortcuts(world) };
}
export type NodeClaimWorld = Awaited<ReturnType<typeof nodeClaimWorld>>;

function shortcuts(world: ControllerWorld) {
  const claim = (name: string) => world.get<NodeClaim>(karpenterTypes.NodeClaim, name);
  return {
    claim,
    /** One that must be there. */
    requireClaim: async (name: string): Promise<NodeClaim> => {
      const found = await claim(name);
      if (found === undefined) throw new Error(`no claim ${name}`);
      return found;
    },
    condition: async (name: string, type: string): Promise<Condition | undefined> => {
      const found = await claim(name);
      return found && getCondition(found, type);
    },
    node: (name = "node-1") => world.get<NodeKubeObject>(builtInTypes.Node, name),
    /** A claim whose machine is bought, and its provider id. */
    launched: async (name: string, spec: Spec = {}, metadata: ObjectMeta = {}): Promise<string> => {
      await world.create(claimNamed(name, spec, metadata));
      await world.pass(1);
      return (await claim(name))?.status?.providerID ?? "";
    },
    patchNode: async (name: string, body: object, subresource?: "status"): Promise<void> => {
      await world.client.patch(
        builtInTypes.Node,
        { name },
        { kind: "merge", body },
        subresource ? { subresource } : {},
      );
      await world.pass(1);
    },
    patchClaim: async (name: string, body: object, subresource?: "status"): Promise<void> => {
      await world.client.patch(
        karpenterTypes.NodeClaim,
        { name },
        { kind: "merge", body },
        subresource ? { subresource } : {},
      );
      await world.pass(1);
    },
    removeClaim: async (name: string): Promise<void> => {
      await world.client.delete(karpenterTypes.NodeClaim, { name });
      await world.pass(1);
    },
    logged: (message: string) => world.lines.filter((line) => line.message === message),
  };
}

/** A cloud that counts its calls, and does something else where told. */
export function recordedProvider(changes: Partial<CloudProvider> = {}) {
  const calls: string[] = [];
  return {
    calls,
    cloud: (provider: CloudProvider): CloudProvider => {
      const inner = { ...provider, ...changes };
      return {
        ...inner,
        create: async (claim): Promise<Instance> => {
          calls.push("create");
          return inner.create(claim);
        },
        delete: async (claim): Promise<void> => {
          calls.push("delete");
          return inner.delete(claim);
        },
      };
    },
  };
}
