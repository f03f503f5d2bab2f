import { finalizers, labels } from "../../api/labels.ts";
import { builtIn } from "../../kube/resources.ts";
import { unless } from "../writes.ts";
import type { NodeScene } from "./node-scene.ts";

/** Lets the Node go, this one and none that took its name. Strategic, so that other finalizers survive. (03:T-9, S-11) */
export async function release({ node, world, parts, log }: NodeScene): Promise<undefined> {
  const { name = "", uid, labels: told = {}, deletionTimestamp, creationTimestamp } = node.metadata;
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [finalizers.termination] } };
  const left = await unless(world.client.patch(builtIn.Node, { name }, { kind: "strategic", body }), "not-found");
  if (left === undefined) return;
  const [nodepool, zone] = [told[labels.nodePool] ?? "", told[labels.zone] ?? ""];
  const secondsSince = (time = ""): number => (world.clock.now() - Date.parse(time)) / 1_000;
  parts.metrics.count("nodes_terminated_total", { nodepool, zone });
  parts.metrics.observe("nodes_termination_duration_seconds", { nodepool }, secondsSince(deletionTimestamp));
  parts.metrics.observe("nodes_lifetime_duration_seconds", { nodepool }, secondsSince(creationTimestamp));
  log.info("deleted node");
}
