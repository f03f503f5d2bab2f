import { capacityBufferConditions } from "../../api/conditions/capacity-buffer.ts";
import type { Condition, Conditioned } from "../../api/conditions/condition.ts";
import { setCondition } from "../../api/conditions/engine.ts";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import { custom } from "../../kube/resources.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import { patch, unless } from "../writes.ts";
import { type BufferOutcome, bufferOutcomes, bufferPodsByMachine, provisioningOf } from "./buffer-outcome.ts";
import type { Desk } from "./parts.ts";
import { referred } from "./words.ts";

type Buffer = KubeObject & CapacityBuffer;

/** Tells each buffer whether its room is there, and the state which machines hold it. (02:B-7, B-8) */
export async function reportBuffers(desk: Desk, decision: Decision, snapshot: ClusterSnapshot): Promise<void> {
  const outcomes = bufferOutcomes(decision);
  desk.parts.cluster.setBufferPods(bufferPodsByMachine(decision, snapshot));
  for (const buffer of desk.world.view<Buffer>(custom.CapacityBuffer).all()) {
    await report(desk, buffer, outcomes.get(namespacedName(buffer.metadata)));
  }
}

/** The next round says it again: that one fails holds up nobody's node. */
async function report({ parts, world }: Desk, buffer: Buffer, outcome: BufferOutcome | undefined): Promise<void> {
  const conditions = conditionsAfter(buffer, { outcome, nowMs: world.clock.now() });
  if (conditions === buffer.status?.conditions) return;
  try {
    const body = { status: { conditions } };
    const writing = patch(world.client, custom.CapacityBuffer, buffer, { body, subresource: "status", isLocked: true });
    await unless(writing, "conflict", "not-found");
  } catch (error) {
    const about = { CapacityBuffer: referred(buffer.metadata), error };
    parts.log.error("updating CapacityBuffer provisioning status", about);
  }
}

function conditionsAfter(
  buffer: Buffer,
  { outcome, nowMs }: { outcome: BufferOutcome | undefined; nowMs: number },
): readonly Condition[] | undefined {
  const finding = provisioningOf(buffer, outcome);
  if (finding === undefined) return buffer.status?.conditions;
  return setCondition(buffer as Conditioned, {
    set: capacityBufferConditions,
    type: "Provisioning",
    nowMs,
    ...finding,
  });
}
