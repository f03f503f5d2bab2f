import { isTrue } from "../../api/conditions/engine.ts";
import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { Recently } from "../../kube/recently.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { quietly } from "../writes.ts";
import { withFinding, withTrue } from "./claim-conditions.ts";
import { claimNamesOf, claimsIn, indexMachines, isManaged, type LiveNode, nodeOf } from "./lookups.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { writeClaim } from "./steps.ts";
import { ownName } from "./triggers.ts";

const controller = "nodeclaim.consistency";
const scanMs = 10 * 60_000;
const leastShare = 0.9;

/** Compares what machines turned out to be with what was bought; only tells, never acts. (03 §1.8) */
export function consistency(parts: Parts): Loop {
  const scansOf = memory((world) => new Recently<number>(world.clock));
  return reconcileLoop({
    name: controller,
    triggers: [on<NodeClaim>(custom.NodeClaim, ownName), on<LiveNode>(builtIn.Node, claimNamesOf)],
    prepare: indexMachines,
    concurrency: workers({ min: 10, max: 1_000 }, parts.settings),
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const claim = claimsIn(world).get(name);
      const node = claim && isManaged(claim, parts.cloud) ? nodeOf(claim, world) : undefined;
      if (claim === undefined || node === undefined) return undefined;
      return scan({ claim, node, scans: scansOf(world) }, sceneOf(claim, { controller, world, parts }));
    }),
  });
}

interface Scan {
  readonly claim: NodeClaim;
  readonly node: LiveNode;
  /** When each claim was last looked at, by uid. */
  readonly scans: Recently<number>;
}

async function scan({ claim, node, scans }: Scan, scene: Scene): Promise<LookAgain> {
  const now = scene.world.clock.now();
  const { uid = "" } = claim.metadata;
  const last = scans.get(uid);
  if (last !== undefined) return { afterMs: last + scanMs - now };
  const issues = isDueForShape(claim) ? missingAmounts(node, claim) : [];
  await writeClaim(scene.world.client, { before: claim, after: judged(claim, { issues, now }) });
  scans.set(uid, now, scanMs);
  for (const issue of issues) tell(claim, issue, scene);
  return { afterMs: scanMs };
}

function judged(claim: NodeClaim, { issues, now }: { readonly issues: readonly string[]; readonly now: number }) {
  if (issues.length === 0) return withTrue(claim, "ConsistentStateFound", now);
  const finding = {
    reason: nodeClaimReasons.consistencyCheckFailed,
    message: "the node is smaller than what was bought",
  };
  return withFinding(claim, "ConsistentStateFound", { status: "False", ...finding, nowMs: now });
}

function isDueForShape(claim: NodeClaim): boolean {
  return isTrue(claim, "Initialized") && claim.metadata.deletionTimestamp === undefined;
}

/** 03:C-2. */
function missingAmounts({ status }: LiveNode, claim: NodeClaim): readonly string[] {
  const names = Object.keys(claim.spec.resources?.requests ?? {}).sort();
  return names.flatMap((name) => {
    const [asked, expected, found] = [
      amountOf(claim.spec.resources?.requests, name),
      amountOf(claim.status?.capacity, name),
      amountOf(status?.capacity, name),
    ];
    const share = found.toNumber() / expected.toNumber();
    if (asked.isZero() || expected.isZero() || share >= leastShare) return [];
    const percent = (share * 100).toFixed(1);
    return [`expected ${expected} of resource ${name}, but found ${found} (${percent}% of expected)`];
  });
}

function amountOf(list: ResourceList | undefined, name: string): Quantity {
  return Quantity.tryParse(list?.[name] ?? 0) ?? Quantity.zero;
}

function tell(claim: NodeClaim, issue: string, { world, log }: Scene): void {
  log.info("failed consistency check", { issue });
  world.tell(claim, {
    type: "Warning",
    reason: "FailedConsistencyCheck",
    message: issue,
    dedupe: { values: [claim.metadata.uid ?? "", issue] },
  });
}
