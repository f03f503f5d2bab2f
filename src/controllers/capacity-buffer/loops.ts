import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { isNewGeneration } from "../changes.ts";
import type { Parts } from "../parts.ts";
import { writeStatus } from "../status.ts";
import { resolve } from "./resolve.ts";
import { statusPatch } from "./status.ts";

export interface BufferParts extends Parts {
  /** Asks for a round of provisioning. */
  readonly trigger: { fire(uid: string): void };
}

const periodMs = 30_000;

/** Room kept for pods that do not exist yet. (02 §8.2) */
export function capacityBufferLoops(parts: BufferParts): readonly Loop[] {
  return parts.settings.gates.CapacityBuffer ? [bufferLoop(parts)] : [];
}

function bufferLoop(parts: BufferParts): Loop {
  return reconcileLoop({
    name: "capacitybuffer",
    concurrency: 10,
    triggers: [on<CapacityBuffer>(custom.CapacityBuffer, itself), on<KubeObject>(builtIn.PodTemplate, buffersOf)],
    reconcile: async (key, world) => {
      const buffer = world.view<CapacityBuffer>(custom.CapacityBuffer).get(key);
      if (buffer !== undefined) return refresh(buffer, world, parts);
      parts.buffers.remove(key);
      return undefined;
    },
  });
}

/** Status first, also where it tells of trouble; then the pods, and a round that looks at them. (02:B-4) */
async function refresh(
  buffer: CapacityBuffer,
  world: LoopWorld,
  { buffers, trigger }: BufferParts,
): Promise<LookAgain> {
  const resolution = await resolve(buffer, world.client);
  const status = statusPatch(buffer, { resolution, nowMs: world.clock.now() });
  const again = status && (await writeStatus(world, custom.CapacityBuffer, { object: buffer, status }));
  if (again !== undefined) return again;
  // Nobody knows what the pods are now: those of the last look stay.
  if (resolution.kind === "unknown") throw resolution.error;
  buffers.set(namespacedName(buffer.metadata), resolution.kind === "resolved" ? resolution.pods : []);
  if (resolution.kind === "resolved") trigger.fire(buffer.metadata.uid ?? "");
  return { afterMs: periodMs };
}

/** What is said about it in its status is our own doing. */
function itself(change: Change<CapacityBuffer>): readonly string[] {
  const { metadata } = change.object ?? change.old;
  return isNewGeneration(change) ? [namespacedName(metadata)] : [];
}

function buffersOf({ object, old }: Change<KubeObject>, world: LoopWorld): readonly string[] {
  const { name, namespace = "" } = (object ?? old).metadata;
  return world
    .view<CapacityBuffer>(custom.CapacityBuffer)
    .in(namespace)
    .filter(({ spec }) => spec.podTemplateRef?.name === name)
    .map(({ metadata }) => namespacedName(metadata));
}
