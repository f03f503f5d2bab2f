import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { finalizers, isSameTaint, labels, type Taint, taints } from "../../api/labels.ts";
import { type JsonPatchOperation, replaceList, setFields } from "../json-patch.ts";
import type { NodeKubeObject } from "./claim-lookups.ts";

/** The Node with its claim's labels, annotations, taints, owner reference and our finalizer. (03:L-11) */
export function syncedNode(node: NodeKubeObject, claim: NodeClaim): NodeKubeObject {
  const { metadata, spec } = node;
  const { taints: claimTaints = [], startupTaints = [] } = claim.spec;
  const keepsTaints = metadata.labels?.[labels.doNotSyncTaints] === "true";
  return {
    ...node,
    metadata: {
      ...metadata,
      finalizers: withTerminationFinalizer(metadata.finalizers),
      ownerReferences: withOwnerReference(metadata.ownerReferences, claim),
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      labels: { ...metadata.labels, ...claim.metadata.labels },
    },
    spec: keepsTaints ? spec : { ...spec, taints: withMissingTaints(spec?.taints, [...claimTaints, ...startupTaints]) },
  };
}

/** The Node without the unregistered taint, and labelled registered. (03:L-13) */
export function nodeMarkedRegistered({ metadata, spec, ...node }: NodeKubeObject): NodeKubeObject {
  const left = (spec?.taints ?? []).filter((taint) => !isSameTaint(taint, taints.unregistered));
  return {
    ...node,
    metadata: { ...metadata, labels: { ...metadata.labels, [labels.registered]: "true" } },
    spec: { ...spec, taints: left },
  };
}

/**
 * The patch from one to the other; undefined if nothing changed. It is refused only if others changed a list that it
 * replaces: kubelet and kube-controller-manager write to a Node that has just joined all the time.
 */
export function nodePatch(before: NodeKubeObject, after: NodeKubeObject): readonly JsonPatchOperation[] | undefined {
  const operations = [
    ...setFields("/metadata/labels", before.metadata.labels, after.metadata.labels),
    ...setFields("/metadata/annotations", before.metadata.annotations, after.metadata.annotations),
    ...replaceList("/metadata/finalizers", before.metadata.finalizers, after.metadata.finalizers),
    ...replaceList("/metadata/ownerReferences", before.metadata.ownerReferences, after.metadata.ownerReferences),
    ...replaceList("/spec/taints", before.spec?.taints, after.spec?.taints),
  ];
  return operations.length === 0 ? undefined : operations;
}

/** Whether the Node still has the taint that keeps pods away until it is registered. */
export function hasUnregisteredTaint({ spec }: Pick<NodeKubeObject, "spec">): boolean {
  return (spec?.taints ?? []).some((taint) => isSameTaint(taint, taints.unregistered));
}

export function withTerminationFinalizer(nodeFinalizers: readonly string[] = []): readonly string[] {
  return nodeFinalizers.includes(finalizers.termination) ? nodeFinalizers : [...nodeFinalizers, finalizers.termination];
}

type Owners = NodeKubeObject["metadata"]["ownerReferences"];

function withOwnerReference(owners: Owners = [], { apiVersion, kind, metadata }: NodeClaim): Owners {
  const { name = "", uid = "" } = metadata;
  const isThere = owners.some((one) => one.apiVersion === apiVersion && one.kind === kind && one.uid === uid);
  return isThere ? owners : [...owners, { apiVersion, kind, name, uid, blockOwnerDeletion: true }];
}

/** Taints the node already has are kept as they are. */
function withMissingTaints(nodeTaints: readonly Taint[] = [], added: readonly Taint[]): readonly Taint[] {
  const merged = [...nodeTaints];
  for (const taint of added) if (!merged.some((one) => isSameTaint(one, taint))) merged.push(taint);
  return merged;
}
