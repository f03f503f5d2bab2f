import { get } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { never, parseNillableMs } from "../../util/duration.ts";
import { without, withTrue } from "./claim-conditions.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

/** From when on a claim may be consolidated, or why it may not at all. (03:M-4, M-5) */
export type Quiet =
  | { readonly isPossible: true; readonly fromMs: number }
  | { readonly isPossible: false; readonly because: string };

export function quietOf(claim: NodeClaim, { spec }: NodePool): Quiet {
  if (spec.replicas !== undefined) return { isPossible: false, because: "the pool is static" };
  const afterMs = parseNillableMs(spec.disruption.consolidateAfter) ?? never;
  if (afterMs === never) return { isPossible: false, because: "consolidation is disabled" };
  const initialized = get(claim, "Initialized");
  if (initialized?.status !== "True") return { isPossible: false, because: "nodeclaim isn't initialized" };
  const since = Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime);
  return { isPossible: true, fromMs: afterMs === 0 ? Number.NEGATIVE_INFINITY : since + afterMs };
}

/** Marks claims nothing has happened on for as long as their pool asks for. (03:M-4) */
export function markConsolidatable(claim: NodeClaim, pool: NodePool, scene: Scene): Step {
  const now = scene.world.clock.now();
  const quiet = quietOf(claim, pool);
  if (!quiet.isPossible) return unmarked(claim, quiet.because, scene);
  const leftMs = quiet.fromMs - now;
  if (leftMs > 0) return { ...unmarked(claim, "consolidateAfter window not yet elapsed", scene), afterMs: leftMs };
  const isNews = get(claim, "Consolidatable") === undefined;
  return {
    claim: withTrue(claim, "Consolidatable", now),
    told: () => void (isNews && scene.log.debug("marking consolidatable")),
  };
}

function unmarked(claim: NodeClaim, reason: string, { log }: Scene): Step {
  const after = without(claim, "Consolidatable");
  const told = () => void (after !== claim && log.debug("removing consolidatable status condition", { reason }));
  return { claim: after, told };
}
