import type { PersistentVolume } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import { claimRefOf } from "../../../core/volume-matching.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { textAt } from "../../object-fields.ts";

type Volume = KubeObject & PersistentVolume;

const claimIndex = "claim";

/** Marks unclaimed volumes Available, and releases or deletes volumes whose claim is gone. (05:CP-L12) */
export function volumeReclaimController(): Controller {
  return reconcileController({
    name: "persistentvolume-reclaimer",
    triggers: [
      triggerOn<Volume>(builtInTypes.PersistentVolume, ({ object }) =>
        object === undefined ? [] : [object.metadata.name ?? ""],
      ),
      triggerOn(builtInTypes.PersistentVolumeClaim, ({ object, old }, { view }) => {
        if (object !== undefined) return [];
        const volumes = view<Volume>(builtInTypes.PersistentVolume).byIndex(claimIndex, cacheKey(old.metadata));
        return volumes.map(({ metadata }) => metadata.name ?? "");
      }),
      triggerOn(builtInTypes.VolumeAttachment, ({ object, old }) =>
        object === undefined ? [textAt(old?.spec, "source", "persistentVolumeName")] : [],
      ),
    ],
    start: ({ view }) =>
      view<Volume>(builtInTypes.PersistentVolume).addIndex(claimIndex, (one) => claimRefOf(one)?.key),
    reconcile: reclaimVolume,
  });
}

async function reclaimVolume(name: string, context: ControllerContext): Promise<undefined> {
  const { view } = context;
  const volume = view<Volume>(builtInTypes.PersistentVolume).get(name);
  if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return;
  const ref = claimRefOf(volume);
  const phase = textAt(volume.status, "phase");
  if (ref === undefined) return phase === "Available" ? undefined : setPhase(name, "Available", context);
  const claim = view(builtInTypes.PersistentVolumeClaim).get(ref.key);
  const isItsClaim = claim !== undefined && (ref.uid === "" || claim.metadata.uid === ref.uid);
  // Bound, or pre-bound to a claim that does not exist yet.
  if (isItsClaim || ref.uid === "") return;
  if (phase !== "Released") await setPhase(name, "Released", context);
  if (textAt(volume.spec, "persistentVolumeReclaimPolicy") !== "Delete") return;
  const isAttached = view(builtInTypes.VolumeAttachment)
    .all()
    .some(({ spec }) => textAt(spec, "source", "persistentVolumeName") === name);
  if (!isAttached) await ignoreKubeErrors(context.client.delete(builtInTypes.PersistentVolume, { name }), "not-found");
}

async function setPhase(name: string, phase: string, { client }: ControllerContext): Promise<undefined> {
  const patch = { kind: "merge", body: { status: { phase } } } as const;
  const patched = client.patch(builtInTypes.PersistentVolume, { name }, patch, { subresource: "status" });
  await ignoreKubeErrors(patched, "not-found");
}
