import type { PersistentVolume, PersistentVolumeClaim } from "../../../../api/kubernetes/cluster.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { claimKeys } from "../../../../core/volumes.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { recordAt } from "../../../kinds/draft.ts";
import { isFinished, type LivePod } from "../live.ts";
import { attacherOf, attachmentAt, attachmentName, type Place, placeKey, placeOf } from "./attachments.ts";
import { defaultVolumeDelays, type VolumeDelays } from "./binder.ts";
import { accessModesOf } from "./claims.ts";

type Claim = KubeObject & PersistentVolumeClaim;
type Volume = KubeObject & PersistentVolume;

const finalizerOf = (driver: string): string => `external-attacher/${driver.replaceAll(".", "-")}`;
const byClaims = "claims";

/** Attaches volumes to the nodes of their pods and takes them off again; both take a while. (05:CP-L12) */
export function attacherLoop(delays: Pick<VolumeDelays, "attachMs" | "detachMs"> = defaultVolumeDelays): Loop {
  return reconcileLoop({
    name: "attachdetach-controller",
    kinds: [builtIn.PersistentVolume, builtIn.CSIDriver],
    triggers: [
      on<LivePod>(builtIn.Pod, ({ object, old }, world) => [
        ...new Set([...placesOf(object, world), ...placesOf(old, world)]),
      ]),
      on<Claim>(builtIn.PersistentVolumeClaim, ({ object, old }, world) => consumers(object ?? (old as Claim), world)),
      on(builtIn.VolumeAttachment, ({ object, old }, world) => {
        const place = placeOf(object ?? (old as KubeObject));
        // Once it is off one node, another may have it.
        return object === undefined ? [placeKey(place), ...waitingFor(place.volume, world)] : [placeKey(place)];
      }),
      on(builtIn.Node, ({ object, old }, { view }) => {
        if (object !== undefined) return [];
        const all = view(builtIn.VolumeAttachment).all().map(placeOf);
        return all.filter(({ node }) => node === old?.metadata.name).map(placeKey);
      }),
    ],
    prepare: ({ view }) => {
      const pods = view<LivePod>(builtIn.Pod);
      pods.index("node", ({ spec }) => spec.nodeName);
      pods.index(byClaims, (pod) => (claimKeys(pod).length > 0 ? pod.metadata.namespace : undefined));
    },
    reconcile: (key, world) => lookAt(key, world, delays),
  });
}

/** Where a pod wants its volumes. */
function placesOf(pod: LivePod | undefined, { view }: LoopWorld): readonly string[] {
  const node = pod?.spec.nodeName ?? "";
  if (pod === undefined || node === "") return [];
  return claimKeys(pod).flatMap((key) => {
    const volume = view<Claim>(builtIn.PersistentVolumeClaim).get(key)?.spec?.volumeName ?? "";
    return volume === "" ? [] : [placeKey({ volume, node })];
  });
}

function consumers(claim: Claim, world: LoopWorld): readonly string[] {
  const key = cacheKey(claim.metadata);
  const pods = world.view<LivePod>(builtIn.Pod).by(byClaims, claim.metadata.namespace ?? "");
  return pods.filter((pod) => claimKeys(pod).includes(key)).flatMap((pod) => placesOf(pod, world));
}

function waitingFor(volume: string, world: LoopWorld): readonly string[] {
  const claims = world.view<Claim>(builtIn.PersistentVolumeClaim).all();
  return claims.filter(({ spec }) => spec?.volumeName === volume).flatMap((claim) => consumers(claim, world));
}

async function lookAt(
  key: string,
  world: LoopWorld,
  { attachMs, detachMs }: Pick<VolumeDelays, "attachMs" | "detachMs">,
): Promise<LookAgain | undefined> {
  const { client, clock, view } = world;
  const [volume = "", node = ""] = key.split("/");
  const place = { volume, node };
  const attachment = attachmentAt(place, view);
  if (attachment === undefined) return isWanted(place, world) ? attach(place, world) : undefined;
  const { name = "", deletionTimestamp, creationTimestamp = "" } = attachment.metadata;
  const now = clock.now();
  if (deletionTimestamp !== undefined) {
    const dueAt = Date.parse(deletionTimestamp) + detachMs;
    if (now < dueAt) return { afterMs: dueAt - now };
    const body = { metadata: { finalizers: null } };
    await ignoringGone(client.patch(builtIn.VolumeAttachment, { name }, { kind: "merge", body }));
    return undefined;
  }
  if (!isWanted(place, world)) {
    await ignoringGone(client.delete(builtIn.VolumeAttachment, { name }));
    return undefined;
  }
  if (recordAt(attachment.status)?.["attached"] === true) return undefined;
  const dueAt = Date.parse(creationTimestamp) + attachMs;
  if (now < dueAt) return { afterMs: dueAt - now };
  const patch = { kind: "merge", body: { status: { attached: true } } } as const;
  await ignoringGone(client.patch(builtIn.VolumeAttachment, { name }, patch, { subresource: "status" }));
  return undefined;
}

/** Until the last of the node's pods that use it is gone. */
function isWanted({ volume, node }: Place, world: LoopWorld): boolean {
  const { view } = world;
  if (view(builtIn.Node).get(node) === undefined) return false;
  const key = placeKey({ volume, node });
  return view<LivePod>(builtIn.Pod)
    .by("node", node)
    .some((pod) => !isFinished(pod) && placesOf(pod, world).includes(key));
}

async function attach({ volume: name, node }: Place, { client, view }: LoopWorld): Promise<undefined> {
  const volume = view<Volume>(builtIn.PersistentVolume).get(name);
  const driver = volume && attacherOf(volume, view);
  if (volume === undefined || driver === undefined || isHeldElsewhere(volume, node, view)) return;
  const attachment: KubeObject = {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName({ volume: name, node }), finalizers: [finalizerOf(driver)] },
    spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: name } },
  };
  try {
    await client.create(builtIn.VolumeAttachment, attachment);
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}

/** A volume for one node at a time waits until the other node has let go of it. */
function isHeldElsewhere(volume: Volume, node: string, view: LoopWorld["view"]): boolean {
  if (accessModesOf(volume).some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany")) return false;
  const places = view(builtIn.VolumeAttachment).all().map(placeOf);
  return places.some((place) => place.volume === volume.metadata.name && place.node !== node);
}

async function ignoringGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
}
