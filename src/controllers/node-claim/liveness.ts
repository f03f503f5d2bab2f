import { get, isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaimDependent } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt.ts";
import { recordOutcome } from "./pool-health.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

interface Patience {
  readonly type: NodeClaimDependent;
  readonly timeoutMs: number;
  readonly reason: DisruptionCause;
}

/** Gives up on machines that are not bought or do not join in time. (03 §1.5) */
export async function checkLiveness(claim: NodeClaim, scene: Scene): Promise<Step> {
  const { launchTimeoutMs, registrationTimeoutMs } = scene.parts.settings;
  if (isTrue(claim, "Registered")) return { claim };
  // One or the other: a claim that was never bought must not be counted twice. (03:L-23)
  return isTrue(claim, "Launched")
    ? wait(claim, { type: "Registered", timeoutMs: registrationTimeoutMs, reason: "registration_timeout" }, scene)
    : wait(claim, { type: "Launched", timeoutMs: launchTimeoutMs, reason: "launch_timeout" }, scene);
}

/** From when the condition last moved: a claim may have been there for long before anybody looked at it. (03:L-20) */
async function wait(claim: NodeClaim, { type, timeoutMs, reason }: Patience, scene: Scene): Promise<Step> {
  const since = Date.parse(get(claim, type)?.lastTransitionTime ?? "");
  if (Number.isNaN(since)) return { claim };
  const leftMs = since + timeoutMs - scene.world.clock.now();
  if (leftMs > 0) return { claim, afterMs: leftMs };
  if (await disruptClaim(claim, { ...scene, reason })) {
    scene.log.debug("terminating due to timeout", { timeout: formatDurationMs(timeoutMs), reason });
    await recordOutcome(claim, { ...scene, isRegistered: false });
  }
  return { claim, isGone: true };
}
