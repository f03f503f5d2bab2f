import { isSettled, nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels, taints } from "../../api/labels.ts";
import { builtIn } from "../../kube/resources.ts";
import { patch } from "../writes.ts";
import { restamped, withFinding, withTrue } from "./claim-conditions.ts";
import { askHooks, type HookAnswers } from "./hooks.ts";
import { type LiveNode, nodesOf } from "./lookups.ts";
import { isSameTaint, nodePatch, opened, synced } from "./node-sync.ts";
import { recordOutcome } from "./pool-health.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

/** Makes the Node that joined the claim's own, and opens it to pods. (03 §1.3) */
export async function register(claim: NodeClaim, scene: Scene): Promise<Step> {
  const { world } = scene;
  if (isSettled(claim, "Registered")) return { claim: restamped(claim, "Registered", world.clock.now()) };
  const [node, ...others] = nodesOf(claim, world);
  if (node === undefined) return waiting(claim, scene);
  if (others.length > 0) return ambiguous(claim, scene);
  warnOfMissingTaint(claim, node, scene);
  return join(claim, node, scene);
}

/** The taint that kept pods away until now goes last, with everything else on the node. (03:L-11 to L-13) */
async function join(claim: NodeClaim, node: LiveNode, scene: Scene): Promise<Step> {
  const { world, parts } = scene;
  const answers = await askHooks(claim, parts.cloud.registrationHooks ?? []);
  const labelled = withLabels(claim, answers.labels);
  const ready = synced(node, labelled);
  const isPassed = answers.pending.length === 0;
  const body = nodePatch(node, isPassed ? opened(ready) : ready);
  if (body !== undefined) await patch(world.client, builtIn.Node, node, { body, isLocked: true });
  return isPassed ? registered(labelled, node, scene) : held(labelled, answers, scene);
}

function registered(claim: NodeClaim, { metadata }: LiveNode, scene: Scene): Step {
  const { name = "" } = metadata;
  const done = withTrue(claim, "Registered", scene.world.clock.now());
  return {
    claim: { ...done, status: { ...done.status, nodeName: name } },
    told: async () => {
      scene.log.info("registered nodeclaim", { Node: { name } });
      const { [labels.nodePool]: nodepool = "", [labels.zone]: zone = "" } = claim.metadata.labels ?? {};
      scene.parts.metrics.count("nodes_created_total", { nodepool, zone });
      await recordOutcome(claim, { ...scene, isRegistered: true });
    },
  };
}

function held(claim: NodeClaim, { pending, afterMs, error }: HookAnswers, { world, log }: Scene): Step {
  log.debug("awaiting registration hooks", { hooks: pending });
  const finding = { reason: nodeClaimReasons.registrationHookPending, message: pending.join(", ") };
  const told = withFinding(claim, "Registered", { status: "Unknown", ...finding, nowMs: world.clock.now() });
  return { claim: told, afterMs, error };
}

function waiting(claim: NodeClaim, { world }: Scene): Step {
  const finding = { reason: nodeClaimReasons.nodeNotFound, message: "the node has not joined the cluster" };
  return { claim: withFinding(claim, "Registered", { status: "Unknown", ...finding, nowMs: world.clock.now() }) };
}

function ambiguous(claim: NodeClaim, { world }: Scene): Step {
  const finding = { reason: nodeClaimReasons.multipleNodesFound, message: "several nodes say they are this machine" };
  return { claim: withFinding(claim, "Registered", { status: "False", ...finding, nowMs: world.clock.now() }) };
}

function withLabels(claim: NodeClaim, added: Readonly<Record<string, string>>): NodeClaim {
  if (Object.keys(added).length === 0) return claim;
  return { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...added } } };
}

/** Pods may have come to it before its labels and taints did. (03:L-10) */
function warnOfMissingTaint(claim: NodeClaim, { metadata, spec }: LiveNode, { world, log }: Scene): void {
  const isProtected = (spec?.taints ?? []).some((taint) => isSameTaint(taint, taints.unregistered));
  if (isProtected || metadata.labels?.[labels.registered] !== undefined) return;
  const { key } = taints.unregistered;
  log.error("node claim registration error", {
    taint: key,
    error: new Error(
      `node ${metadata.name ?? ""} joined without the taint that keeps pods away until it is registered`,
    ),
  });
  world.tell(claim, {
    type: "Warning",
    reason: "UnregisteredTaintMissing",
    message: `Node joined without taint ${key}: pods may have been placed on it before it was registered`,
    dedupe: { values: [claim.metadata.uid ?? ""] },
  });
}
