import type { PersistentVolume } from "../../../../api/kubernetes/cluster.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { textAt } from "../../../kinds/draft.ts";
import { claimRefOf } from "./claims.ts";

type Volume = KubeObject & PersistentVolume;

const byClaim = "claim";

/** Says which volumes are free, and what becomes of those whose claim is gone. (05:CP-L12) */
export function volumeReclaimerLoop(): Loop {
  return reconcileLoop({
    name: "persistentvolume-reclaimer",
    triggers: [
      on<Volume>(builtIn.PersistentVolume, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""])),
      on(builtIn.PersistentVolumeClaim, ({ object, old }, { view }) => {
        if (object !== undefined) return [];
        const volumes = view<Volume>(builtIn.PersistentVolume).by(byClaim, cacheKey((old as KubeObject).metadata));
        return volumes.map(({ metadata }) => metadata.name ?? "");
      }),
      on(builtIn.VolumeAttachment, ({ object, old }) =>
        object === undefined ? [textAt(old?.spec, "source", "persistentVolumeName")] : [],
      ),
    ],
    prepare: ({ view }) => view<Volume>(builtIn.PersistentVolume).index(byClaim, (one) => claimRefOf(one)?.key),
    reconcile: lookAt,
  });
}

async function lookAt(name: string, world: LoopWorld): Promise<undefined> {
  const { view } = world;
  const volume = view<Volume>(builtIn.PersistentVolume).get(name);
  if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return;
  const ref = claimRefOf(volume);
  const phase = textAt(volume.status, "phase");
  if (ref === undefined) return phase === "Available" ? undefined : setPhase(name, "Available", world);
  const claim = view(builtIn.PersistentVolumeClaim).get(ref.key);
  const isItsClaim = claim !== undefined && (ref.uid === "" || claim.metadata.uid === ref.uid);
  // Kept for a claim that is still to come, or that has it.
  if (isItsClaim || ref.uid === "") return;
  if (phase !== "Released") await setPhase(name, "Released", world);
  if (textAt(volume.spec, "persistentVolumeReclaimPolicy") !== "Delete") return;
  const isAttached = view(builtIn.VolumeAttachment)
    .all()
    .some(({ spec }) => textAt(spec, "source", "persistentVolumeName") === name);
  if (!isAttached) await ignoringGone(world.client.delete(builtIn.PersistentVolume, { name }));
}

async function setPhase(name: string, phase: string, { client }: LoopWorld): Promise<undefined> {
  const patch = { kind: "merge", body: { status: { phase } } } as const;
  await ignoringGone(client.patch(builtIn.PersistentVolume, { name }, patch, { subresource: "status" }));
}

async function ignoringGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
}
