import { isNominatedByOthers, nominationManager } from "../../core/nominations.ts";
import { isProvisionable } from "../../core/pod-predicates.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { type JsonPatchOperation, jsonPatchObject } from "../json-patch.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { isNodeReady, type NodeKubeObject } from "../node-claim/claim-lookups.ts";

/**
 * Nominates the pods planned on a claim to its Node, before the taint goes that keeps them away: the scheduler then
 * finds the Node and its pods at the same time. A pod that cannot be nominated does not keep the Node waiting. A Node that
 * is not ready has to wait itself: the scheduler would try its pods, clear their nominations, and try all others again
 * for each that it clears. (02:L-41)
 */
export async function nominatePlannedPods(
  claim: string,
  node: NodeKubeObject,
  context: KarpenterContext,
): Promise<void> {
  if (!context.nominatesPods() || !isNodeReady(node)) return;
  const { name = "" } = node.metadata;
  const planned = context.cluster.plannedPods.podsOf(claim).flatMap((key) => podView(context).get(key) ?? []);
  const pending = planned.filter(isProvisionable);
  const results = await Promise.allSettled(pending.map((pod) => writeNomination(pod, name, context)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) context.log.error("cannot nominate pods", { Node: { name }, error: failed.reason });
}

/**
 * Writes where the pod is expected, or that it no longer is; a nomination of somebody else stays. Refused if the pod is
 * bound by now, or a preemption has nominated another node. Other changes do not matter: the scheduler writes to a pod
 * that waits whenever it tries it. (02:L-42)
 */
export async function writeNomination(
  pod: PodKubeObject,
  node: string | undefined,
  { client }: KarpenterContext,
): Promise<void> {
  const written = jsonPatchObject(client, builtInTypes.Pod, pod, {
    subresource: "status",
    fieldManager: nominationManager,
    patchOf: (current) => (isToBeWritten(current, node) ? nominationPatch(current, node) : undefined),
  });
  await ignoreKubeErrors(written, "not-found");
}

function isToBeWritten(pod: PodKubeObject, node: string | undefined): boolean {
  const isBound = (pod.spec.nodeName ?? "") !== "";
  return !isBound && !isNominatedByOthers(pod) && (pod.status?.nominatedNodeName ?? "") !== (node ?? "");
}

const nominationPath = "/status/nominatedNodeName";

function nominationPatch({ status }: PodKubeObject, node: string | undefined): readonly JsonPatchOperation[] {
  return [
    { op: "test", path: "/spec/nodeName", value: null },
    { op: "test", path: nominationPath, value: status?.nominatedNodeName ?? null },
    node === undefined ? { op: "remove", path: nominationPath } : { op: "add", path: nominationPath, value: node },
  ];
}
