import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { finalizers, kwokLabels, labels } from "../../src/api/labels.ts";
import type { KubeObject, OwnerReference } from "../../src/api/object.ts";
import type { ControllerWorld } from "./controller-world.ts";

/** A node class nobody here serves. */
export const foreignClass = { group: "example.com", kind: "OtherNodeClass", name: "default" };
const kwokClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

type Template = NodePool["spec"]["template"];

export interface PoolDraft extends Partial<Omit<NodePool["spec"], "template">> {
  readonly template?: Omit<Partial<Template["spec"]>, "requirements">;
  readonly requirements?: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: KubeObject["metadata"];
}

export function pool(name = "default", draft: PoolDraft = {}): KubeObject {
  const { template, requirements = [], labels: nodeLabels, annotations, metadata, ...spec } = draft;
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, ...metadata },
    spec: {
      template: {
        metadata: { ...(nodeLabels && { labels: nodeLabels }), ...(annotations && { annotations }) },
        spec: { requirements, nodeClassRef: kwokClassRef, expireAfter: "720h", ...template },
      },
      disruption: { consolidateAfter: "0s" },
      ...spec,
    },
  };
}

export function kwokClass(name = "default"): KubeObject {
  return { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name } };
}

export interface ClaimDraft {
  readonly pool?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly expireAfter?: string;
  readonly nodeClassRef?: object;
  /** Whether it goes only when somebody lets it. */
  readonly isHeld?: boolean;
}

export function claim(name: string, draft: ClaimDraft = {}): KubeObject {
  const { pool: poolName = "default", annotations, expireAfter = "720h", nodeClassRef = kwokClassRef } = draft;
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: { [labels.nodePool]: poolName, [kwokLabels.nodeClass]: "default", ...draft.labels },
      ...(annotations && { annotations }),
      ...(draft.isHeld && { finalizers: [finalizers.termination] }),
    },
    spec: { requirements: [], nodeClassRef, expireAfter },
  };
}

export interface MachineDraft extends ClaimDraft {
  readonly cpu?: string;
  /** Of the Node; none where it has not joined. */
  readonly node?: { readonly cpu?: string; readonly isInitialized?: boolean };
}

/** A claim with a machine, and the Node of it where asked for; both of the same name. */
export async function machine(rig: ControllerWorld, name: string, draft: MachineDraft = {}): Promise<NodeClaim> {
  const { cpu = "4", node } = draft;
  const providerID = `kwok://${name}`;
  const made = await rig.create<NodeClaim>(claim(name, draft));
  const capacity = { cpu, memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi" };
  await rig.status(made, { providerID, capacity, allocatable: capacity });
  if (node !== undefined) {
    const marks = { [labels.registered]: "true", ...(node.isInitialized && { [labels.initialized]: "true" }) };
    const own = { ...capacity, cpu: node.cpu ?? cpu };
    const said = { [labels.instanceType]: "small", ...made.metadata.labels, ...marks };
    const object = await rig.create<KubeObject>({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: said },
      spec: { providerID },
    });
    await rig.status(object, { capacity: own, allocatable: own });
  }
  return made;
}

export interface PodDraft {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: Pick<OwnerReference, "apiVersion" | "kind">;
}

/** Runs on a node. */
export function podOn(nodeName: string, name: string, { annotations, owner }: PodDraft = {}): Pod & KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      ...(annotations && { annotations }),
      ...(owner && { ownerReferences: [{ ...owner, name: "owner", uid: "owner" }] }),
    },
    spec: { nodeName, containers: [{ name: "app", image: "app" }] },
  };
}

export const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet" };
