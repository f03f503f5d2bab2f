import { namespacedName } from "../../api/object.ts";
import { isNominatedByOthers, nominationManager } from "../../core/nominations.ts";
import { isProvisionable } from "../../core/pod-predicates.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { isNodeReady, type NodeKubeObject } from "../node-claim/claim-lookups.ts";
import { objectKeyFromMeta } from "../writes.ts";

/** How often a write is tried again that met a pod that is bound or nominated otherwise by now. */
const maxTries = 3;

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

/** Writes where the pod is expected, or that it no longer is; a nomination of somebody else stays. (02:L-42) */
export async function writeNomination(
  pod: PodKubeObject,
  node: string | undefined,
  context: KarpenterContext,
): Promise<void> {
  let current: PodKubeObject | undefined = pod;
  for (let tries = 1; current !== undefined && isToBeWritten(current, node); tries++) {
    try {
      await patchNomination(current, node, context);
      return;
    } catch (error) {
      if (isKubeError(error, "not-found")) return;
      if (!isKubeError(error, "invalid") || tries === maxTries) throw error;
      current = await latest(current, context);
    }
  }
}

function isToBeWritten(pod: PodKubeObject, node: string | undefined): boolean {
  const isBound = (pod.spec.nodeName ?? "") !== "";
  return !isBound && !isNominatedByOthers(pod) && (pod.status?.nominatedNodeName ?? "") !== (node ?? "");
}

const nominationPath = "/status/nominatedNodeName";

/**
 * Refused if the pod is bound by now, or a preemption has nominated another node. Other changes do not matter: the scheduler
 * writes to a pod that waits whenever it tries it. (02:L-42)
 */
async function patchNomination(
  { metadata, status }: PodKubeObject,
  node: string | undefined,
  { client }: KarpenterContext,
): Promise<void> {
  const body = [
    { op: "test", path: "/metadata/uid", value: metadata.uid },
    { op: "test", path: "/spec/nodeName", value: null },
    { op: "test", path: nominationPath, value: status?.nominatedNodeName ?? null },
    node === undefined ? { op: "remove", path: nominationPath } : { op: "add", path: nominationPath, value: node },
  ];
  const options = { subresource: "status", fieldManager: nominationManager } as const;
  await client.patch(builtInTypes.Pod, objectKeyFromMeta(metadata), { kind: "json", body }, options);
}

async function latest(
  { metadata }: PodKubeObject,
  { client, log }: KarpenterContext,
): Promise<PodKubeObject | undefined> {
  log.debug("pod changed while it was nominated", { Pod: { name: namespacedName(metadata) } });
  try {
    const found = await client.get<PodKubeObject>(builtInTypes.Pod, objectKeyFromMeta(metadata));
    return found.metadata.uid === metadata.uid ? found : undefined;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}
