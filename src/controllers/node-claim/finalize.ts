import { get, isTrue, timestamp } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/error.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { parseDurationMs } from "../../util/duration.ts";
import { patch, remove } from "../writes.ts";
import { withTrue } from "./claim-conditions.ts";
import { type Launches, populated } from "./launch.ts";
import { nodesOf } from "./lookups.ts";
import type { Scene } from "./scene.ts";
import { writeClaim } from "./steps.ts";

type Ending = Scene & { readonly launches: Launches };

const instancePollMs = 5_000;

/** The end of a claim: its Nodes, then its machine, then itself. (03 §1.6) */
export async function finalize(seen: NodeClaim, scene: Ending): Promise<LookAgain | undefined> {
  if (!seen.metadata.finalizers?.includes(finalizers.termination)) return undefined;
  const claim = await withDeadline(await withMachine(seen, scene), scene);
  if (await hasNodes(claim, scene)) return undefined; // their going wakes us
  if (!claim.status?.providerID) return release(claim, scene);
  const isGone = await endInstance(claim, scene);
  const ending = await terminating(claim, scene);
  return isGone ? release(ending, scene) : { afterMs: instancePollMs };
}

/** Bought, but deleted before we could write that down: without this the machine would be nobody's. (03:S-12) */
async function withMachine(claim: NodeClaim, { world, launches }: Ending): Promise<NodeClaim> {
  const instance = launches.get(claim.metadata.uid ?? "");
  if (claim.status?.providerID || instance === undefined) return claim;
  return writeClaim(world.client, { before: claim, after: populated(claim, instance) });
}

/** A deadline that is there already was set by somebody in more of a hurry: the lock keeps theirs. (03:L-31) */
async function withDeadline(claim: NodeClaim, { world, log }: Scene): Promise<NodeClaim> {
  const { metadata, spec } = claim;
  const graceMs = parseDurationMs(spec.terminationGracePeriod ?? "");
  if (graceMs === undefined || metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return claim;
  const deadline = timestamp(Date.parse(metadata.deletionTimestamp ?? "") + graceMs);
  const added = { [annotations.terminationTimestamp]: deadline };
  const body = { metadata: { annotations: added } };
  const marked = await patch<NodeClaim>(world.client, custom.NodeClaim, claim, { body, isLocked: true });
  log.info("annotated nodeclaim", added);
  world.tell(claim, {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${deadline}`,
    dedupe: { values: [metadata.uid ?? ""] },
  });
  return marked;
}

/** Nodes that never registered have no finalizer: they go when their machine is gone. (03:L-32) */
async function hasNodes(claim: NodeClaim, { world }: Scene): Promise<boolean> {
  if (!isTrue(claim, "Registered")) return false;
  const nodes = nodesOf(claim, world);
  for (const node of nodes) {
    if (node.metadata.deletionTimestamp === undefined) await remove(world.client, builtIn.Node, node);
  }
  return nodes.length > 0;
}

async function endInstance(claim: NodeClaim, { parts }: Scene): Promise<boolean> {
  try {
    await parts.cloud.delete(claim);
    return false;
  } catch (error) {
    if (isCloudError(error, "not-found")) return true;
    throw error;
  }
}

async function terminating(claim: NodeClaim, { world }: Scene): Promise<NodeClaim> {
  const after = withTrue(claim, "InstanceTerminating", world.clock.now());
  return after === claim ? claim : writeClaim(world.client, { before: claim, after });
}

/** 03:L-34. */
async function release(claim: NodeClaim, { world, parts, log, launches }: Ending): Promise<undefined> {
  const left = (claim.metadata.finalizers ?? []).filter((one) => one !== finalizers.termination);
  const body = { metadata: { finalizers: left } };
  await patch(world.client, custom.NodeClaim, claim, { body, isLocked: true });
  launches.delete(claim.metadata.uid ?? "");
  log.info("deleted nodeclaim");
  const told = claim.metadata.labels ?? {};
  const nodepool = told[labels.nodePool] ?? "";
  const secondsSince = (time = ""): number => (world.clock.now() - Date.parse(time)) / 1_000;
  const ending = get(claim, "InstanceTerminating")?.lastTransitionTime;
  if (ending !== undefined) {
    parts.metrics.observe("nodeclaims_instance_termination_duration_seconds", { nodepool }, secondsSince(ending));
  }
  const lastedSeconds = secondsSince(claim.metadata.deletionTimestamp);
  parts.metrics.observe("nodeclaims_termination_duration_seconds", { nodepool }, lastedSeconds);
  const [capacity_type = "", zone = ""] = [told[labels.capacityType], told[labels.zone]];
  parts.metrics.count("nodeclaims_terminated_total", { nodepool, capacity_type, zone });
  return undefined;
}
