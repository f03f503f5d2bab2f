import { finalizers, labels } from "../../api/labels.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { ignoreKubeErrors } from "../writes.ts";
import type { NodeTerminationContext } from "./node-termination-context.ts";

/** Lets the Node go, this one and none that took its name. Strategic, so that other finalizers survive. (03:T-9, S-11) */
export async function removeNodeFinalizer({
  node,
  context,
  dependencies,
  log,
}: NodeTerminationContext): Promise<undefined> {
  const { name = "", uid, labels: nodeLabels = {}, deletionTimestamp, creationTimestamp } = node.metadata;
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [finalizers.termination] } };
  const left = await ignoreKubeErrors(
    context.client.patch(builtInTypes.Node, { name }, { kind: "strategic", body }),
    "not-found",
  );
  if (left === undefined) return;
  const [nodepool, zone] = [nodeLabels[labels.nodePool] ?? "", nodeLabels[labels.zone] ?? ""];
  const secondsSince = (time = ""): number => (context.clock.now() - Date.parse(time)) / 1_000;
  dependencies.metrics.count("nodes_terminated_total", { nodepool, zone });
  dependencies.metrics.observe("nodes_termination_duration_seconds", { nodepool }, secondsSince(deletionTimestamp));
  dependencies.metrics.observe("nodes_lifetime_duration_seconds", { nodepool }, secondsSince(creationTimestamp));
  log.info("deleted node");
}
