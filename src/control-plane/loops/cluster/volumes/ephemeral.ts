import { namespaceOf } from "../../../../api/object.ts";
import { claimName } from "../../../../core/volumes.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { recordAt } from "../../../kinds/draft.ts";
import { isTerminating, type LivePod } from "../live.ts";

/** Makes the claims of volumes that live and die with their pod. (05:CP-L12) */
export function ephemeralVolumeLoop(): Loop {
  return reconcileLoop({
    name: "ephemeral-volume-controller",
    kinds: [builtIn.PersistentVolumeClaim],
    triggers: [
      on<LivePod>(builtIn.Pod, ({ object, old }) => {
        const isNew = object !== undefined && old === undefined;
        const isConcerned = isNew && object.spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true;
        return isConcerned ? [cacheKey(object.metadata)] : [];
      }),
    ],
    reconcile: lookAt,
  });
}

async function lookAt(key: string, { client, view }: LoopWorld): Promise<undefined> {
  const pod = view<LivePod>(builtIn.Pod).get(key);
  if (pod === undefined || isTerminating(pod)) return;
  const namespace = namespaceOf(pod.metadata);
  const { name: owner = "", uid = "" } = pod.metadata;
  for (const volume of pod.spec.volumes ?? []) {
    const name = volume.ephemeral === undefined ? undefined : claimName(pod, volume);
    if (name === undefined || view(builtIn.PersistentVolumeClaim).get(`${namespace}/${name}`) !== undefined) continue;
    const template = recordAt(volume.ephemeral?.volumeClaimTemplate) ?? {};
    const { labels, annotations } = recordAt(template, "metadata") ?? {};
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name,
        namespace,
        ...(labels === undefined ? {} : { labels: labels as Record<string, string> }),
        ...(annotations === undefined ? {} : { annotations: annotations as Record<string, string> }),
        ownerReferences: [
          { apiVersion: "v1", kind: "Pod", name: owner, uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      spec: template["spec"],
    };
    try {
      await client.create(builtIn.PersistentVolumeClaim, claim);
    } catch (error) {
      if (!isKubeError(error, "already-exists")) throw error;
    }
  }
}
