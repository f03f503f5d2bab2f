import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import { isTerminalPod } from "../../../core/pod-predicates.ts";
import { accessModesOf } from "../../../core/volume-matching.ts";
import { volumeClaimKeys } from "../../../core/volumes.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { recordAt, textAt } from "../../object-fields.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { defaultVolumeDelays, type VolumeDelays } from "./persistent-volume-controller.ts";
import {
  type AttachmentPair,
  attacherOf,
  attachmentAt,
  attachmentName,
  attachmentPairKey,
  attachmentPairOf,
} from "./volume-attachments.ts";

type Claim = KubeObject & PersistentVolumeClaim;
type Volume = KubeObject & PersistentVolume;

/** Provisioners may be named like `rancher.io/local-path`, finalizers may not. */
const attacherFinalizer = (driver: string): string => `external-attacher/${driver.replace(/[^a-zA-Z0-9-]/g, "-")}`;
const claimsIndex = "claims";

/** Attaches volumes to the nodes of their pods and detaches them, each with a delay. (05:CP-L12) */
export function attachDetachController(
  delays: Pick<VolumeDelays, "attachMs" | "detachMs"> = defaultVolumeDelays,
): Controller {
  return reconcileController({
    name: "attachdetach-controller",
    kinds: [builtInTypes.PersistentVolume, builtInTypes.CSIDriver],
    triggers: [
      triggerOn<ApiPod>(builtInTypes.Pod, ({ object, old }, context) => [
        ...new Set([...attachmentPairKeys(object, context), ...attachmentPairKeys(old, context)]),
      ]),
      triggerOn<Claim>(builtInTypes.PersistentVolumeClaim, ({ object, old }, context) =>
        consumerPairKeys(object ?? old, context),
      ),
      triggerOn(builtInTypes.VolumeAttachment, ({ object, old }, context) => {
        const pair = attachmentPairOf(object ?? old);
        // A detached volume may be attached to another node that waits for it.
        return object === undefined
          ? [attachmentPairKey(pair), ...pairKeysWaitingFor(pair.volume, context)]
          : [attachmentPairKey(pair)];
      }),
      triggerOn(builtInTypes.Node, ({ object, old }, { view }) => {
        if (object !== undefined) return [];
        const all = view(builtInTypes.VolumeAttachment).all().map(attachmentPairOf);
        return all.filter(({ node }) => node === old?.metadata.name).map(attachmentPairKey);
      }),
    ],
    start: ({ view }) => {
      const pods = view<ApiPod>(builtInTypes.Pod);
      pods.addIndex("node", ({ spec }) => spec.nodeName);
      pods.addIndex(claimsIndex, (pod) => (volumeClaimKeys(pod).length > 0 ? pod.metadata.namespace : undefined));
    },
    reconcile: (key, context) => reconcileAttachment(key, context, delays),
  });
}

/** The attachments a pod needs. */
function attachmentPairKeys(pod: ApiPod | undefined, { view }: ControllerContext): readonly string[] {
  const node = pod?.spec.nodeName ?? "";
  if (pod === undefined || node === "") return [];
  return volumeClaimKeys(pod).flatMap((key) => {
    const volume = view<Claim>(builtInTypes.PersistentVolumeClaim).get(key)?.spec?.volumeName ?? "";
    return volume === "" ? [] : [attachmentPairKey({ volume, node })];
  });
}

function consumerPairKeys(claim: Claim, context: ControllerContext): readonly string[] {
  const key = cacheKey(claim.metadata);
  const pods = context.view<ApiPod>(builtInTypes.Pod).byIndex(claimsIndex, claim.metadata.namespace ?? "");
  return pods.filter((pod) => volumeClaimKeys(pod).includes(key)).flatMap((pod) => attachmentPairKeys(pod, context));
}

function pairKeysWaitingFor(volume: string, context: ControllerContext): readonly string[] {
  const claims = context.view<Claim>(builtInTypes.PersistentVolumeClaim).all();
  return claims.filter(({ spec }) => spec?.volumeName === volume).flatMap((claim) => consumerPairKeys(claim, context));
}

async function reconcileAttachment(
  key: string,
  context: ControllerContext,
  { attachMs, detachMs }: Pick<VolumeDelays, "attachMs" | "detachMs">,
): Promise<RequeueAfter | undefined> {
  const { client, clock, view } = context;
  const [volume = "", node = ""] = key.split("/");
  const pair = { volume, node };
  const attachment = attachmentAt(pair, view);
  if (attachment === undefined) return isWanted(pair, context) ? attach(pair, context) : undefined;
  const {
    name = "",
    deletionTimestamp,
    creationTimestamp = "",
    finalizers = [],
    resourceVersion,
  } = attachment.metadata;
  const now = clock.now();
  if (deletionTimestamp !== undefined) {
    const dueAt = Date.parse(deletionTimestamp) + detachMs;
    if (now < dueAt) return { afterMs: dueAt - now };
    const own = attacherFinalizer(textAt(attachment.spec, "attacher"));
    if (!finalizers.includes(own)) return undefined;
    const body = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== own) } };
    const released = client.patch(builtInTypes.VolumeAttachment, { name }, { kind: "merge", body });
    await ignoreKubeErrors(released, "not-found");
    return undefined;
  }
  if (!isWanted(pair, context)) {
    await ignoreKubeErrors(client.delete(builtInTypes.VolumeAttachment, { name }), "not-found");
    return undefined;
  }
  if (recordAt(attachment.status)?.["attached"] === true) return undefined;
  const dueAt = Date.parse(creationTimestamp) + attachMs;
  if (now < dueAt) return { afterMs: dueAt - now };
  const patch = { kind: "merge", body: { status: { attached: true } } } as const;
  const attached = client.patch(builtInTypes.VolumeAttachment, { name }, patch, { subresource: "status" });
  await ignoreKubeErrors(attached, "not-found");
  return undefined;
}

/** Whether a pod on the node still uses the volume. */
function isWanted({ volume, node }: AttachmentPair, context: ControllerContext): boolean {
  const { view } = context;
  if (view(builtInTypes.Node).get(node) === undefined) return false;
  const key = attachmentPairKey({ volume, node });
  return view<ApiPod>(builtInTypes.Pod)
    .byIndex("node", node)
    .some((pod) => !isTerminalPod(pod) && attachmentPairKeys(pod, context).includes(key));
}

async function attach({ volume: name, node }: AttachmentPair, { client, view }: ControllerContext): Promise<undefined> {
  const volume = view<Volume>(builtInTypes.PersistentVolume).get(name);
  const driver = volume && attacherOf(volume, view);
  if (volume === undefined || driver === undefined || isAttachedElsewhere(volume, node, view)) return;
  const attachment: KubeObject = {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName({ volume: name, node }), finalizers: [attacherFinalizer(driver)] },
    spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: name } },
  };
  await ignoreKubeErrors(client.create(builtInTypes.VolumeAttachment, attachment), "already-exists");
}

/** A single-node volume waits until it is detached elsewhere. */
function isAttachedElsewhere(volume: Volume, node: string, view: ControllerContext["view"]): boolean {
  if (accessModesOf(volume).some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany")) return false;
  const pairs = view(builtInTypes.VolumeAttachment).all().map(attachmentPairOf);
  return pairs.some((pair) => pair.volume === volume.metadata.name && pair.node !== node);
}
