import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Refusal } from "../../core/scheduling/refusal.ts";
import { isVirtual } from "../../core/virtual-pods.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import type { Budget } from "../budget.ts";
import { failedScheduling, noCompatibleTypes, nominated, subjectOf, type Target } from "./events.ts";
import type { Desk } from "./parts.ts";
import { isPoolHealthy, type Placed, recordPlaced, recordRefused } from "./pod-decisions.ts";
import { inSlices } from "./slices.ts";
import { podNames, referred } from "./words.ts";

/** What a round decided, and what it was asked about. */
export interface Ruling {
  readonly decision: Decision;
  readonly snapshot: ClusterSnapshot;
  /** As the round saw them. */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** For letting others work while it is told. */
  readonly budget: Budget;
}

/** Tells everybody what was decided: pods and pools by events, operators by logs and metrics, the state by nominations. */
export async function recordDecision(desk: Desk, ruling: Ruling): Promise<void> {
  const { decision, budget } = ruling;
  recordEmptyPools(desk, ruling);
  logDeferred(desk, decision.refusals);
  await inSlices(decision.refusals, { budget, look: (refusal) => recordRefusal(desk, refusal) });
  await inSlices(placedPods(desk, ruling), { budget, look: (placed) => recordPlacement(desk, placed) });
  await inSlices(plannedPods(desk, ruling), {
    budget,
    look: ({ pod, ...found }) => recordPlaced(desk.parts, pod, found),
  });
  logCounts(desk, decision);
}

/** 02:T-6. */
function recordEmptyPools({ parts, world }: Desk, { decision, pools }: Ruling): void {
  for (const empty of decision.emptyPools) {
    const pool = pools.get(empty.pool);
    if (pool === undefined) continue;
    world.tell(pool, noCompatibleTypes(pool, empty));
    parts.log.info("skipping, nodepool requirements filtered out all instance types", {
      NodePool: referred(pool.metadata),
    });
  }
}

/** Pods that wait for reserved capacity are not refused: the next round decides. (02:Y-5) */
function logDeferred({ parts }: Desk, refusals: readonly Refusal[]): void {
  const deferred = refusals.filter(({ code }) => code === "reserved-capacity").map(({ pod }) => pod);
  if (deferred.length === 0) return;
  parts.log.debug(
    "deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity",
    { Pods: podNames(deferred) },
  );
}

/** Nobody reads the events of pods that do not exist. (02 §12.2-18) */
function recordRefusal({ parts, world }: Desk, { pod, code, message }: Refusal): void {
  if (isVirtual(pod)) return;
  recordRefused(parts, pod, world.clock.now());
  if (code === "reserved-capacity") return;
  const about = { Pod: referred(pod.metadata) };
  if (code === "dynamic-resources") {
    parts.log.info("skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter", about);
  } else parts.log.error("could not schedule pod", { ...about, error: message });
  world.tell(subjectOf(pod), failedScheduling(pod, message));
}

/** A real pod and where it goes. */
interface PlacedPod extends Placed {
  readonly pod: Pod;
  readonly target: Target;
}

/** Machines that got a real pod are left alone for a while. (02:S-30) */
function* placedPods({ parts, world }: Desk, { decision, snapshot, pools }: Ruling): Iterable<PlacedPod> {
  const nodes = new Map(snapshot.nodes.map((node) => [node.existing.name, node]));
  for (const placement of decision.placements) {
    const node = nodes.get(placement.node);
    const pods = placement.pods.filter(isReal);
    if (node === undefined || pods.length === 0) continue;
    parts.cluster.nominate(node.providerId);
    const isHealthy = isPoolHealthy(pools.get(node.nodePool ?? ""));
    const target = { claim: node.claim?.metadata.name, node: node.node?.metadata.name };
    const found = { now: world.clock.now(), isPoolHealthy: isHealthy, claim: target.claim, target };
    for (const pod of pods) yield { pod, ...found };
  }
}

function recordPlacement({ parts, world }: Desk, { pod, target, ...found }: PlacedPod): void {
  recordPlaced(parts, pod, found);
  world.tell(subjectOf(pod), nominated(pod, target));
}

/** Their claims have no names yet; they are told once they do. */
function* plannedPods({ world }: Desk, { decision, pools }: Ruling): Iterable<Omit<PlacedPod, "target">> {
  for (const { pool, pods } of decision.newNodes) {
    const found = { now: world.clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)) };
    for (const pod of pods) if (isReal(pod)) yield { pod, ...found };
  }
}

/** 02 §6.3. */
function logCounts({ parts }: Desk, { newNodes, placements }: Decision): void {
  if (newNodes.length === 0) return;
  parts.log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: newNodes.length, pods: podsOn(newNodes) });
  if (placements.length === 0) return;
  parts.log.info("computed unready node(s) will fit pod(s)", { nodes: placements.length, pods: podsOn(placements) });
}

function podsOn(places: readonly { readonly pods: readonly Pod[] }[]): number {
  return places.reduce((sum, { pods }) => sum + pods.length, 0);
}

export function isReal(pod: Pod): boolean {
  return !isVirtual(pod);
}
