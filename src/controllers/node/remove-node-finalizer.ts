import { finalizers, labels } from "../../api/labels.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";

/** Removes our finalizer from this Node, not from one that has taken its name; a strategic patch keeps other finalizers. (03:T-9, S-11) */
export async function removeNodeFinalizer(
  node: NodeKubeObject,
  { client, clock, metrics, log }: KarpenterContext,
): Promise<undefined> {
  const { name = "", uid, labels: nodeLabels = {}, deletionTimestamp, creationTimestamp } = node.metadata;
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [finalizers.termination] } };
  const patching = client.patch(builtInTypes.Node, { name }, { kind: "strategic", body });
  if ((await ignoreKubeErrors(patching, "not-found")) === undefined) return;
  const [nodepool, zone] = [nodeLabels[labels.nodePool] ?? "", nodeLabels[labels.zone] ?? ""];
  const secondsSince = (time = ""): number => (clock.now() - Date.parse(time)) / 1_000;
  metrics.count("nodes_terminated_total", { nodepool, zone });
  metrics.observe("nodes_termination_duration_seconds", { nodepool }, secondsSince(deletionTimestamp));
  metrics.observe("nodes_lifetime_duration_seconds", { nodepool }, secondsSince(creationTimestamp));
  log.info("deleted node");
}
