import { namespaceOf } from "../../../api/object.ts";
import { isTerminatingPod } from "../../../core/pod-predicates.ts";
import { volumeClaimName } from "../../../core/volumes.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { recordAt } from "../../object-fields.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { newControllerReference } from "../workloads/ownership.ts";

/** Creates the claims of generic ephemeral volumes. (05:CP-L12) */
export function ephemeralVolumeController(): Controller {
  return reconcileController({
    name: "ephemeral-volume-controller",
    kinds: [builtInTypes.PersistentVolumeClaim],
    triggers: [
      triggerOn<ApiPod>(builtInTypes.Pod, ({ object, old }) => {
        const isNew = object !== undefined && old === undefined;
        const hasEphemeralVolumes =
          isNew && object.spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true;
        return hasEphemeralVolumes ? [cacheKey(object.metadata)] : [];
      }),
    ],
    reconcile: createEphemeralClaims,
  });
}

async function createEphemeralClaims(key: string, { client, view }: ControllerContext): Promise<undefined> {
  const pod = view<ApiPod>(builtInTypes.Pod).get(key);
  if (pod === undefined || isTerminatingPod(pod)) return;
  const namespace = namespaceOf(pod.metadata);
  for (const volume of pod.spec.volumes ?? []) {
    const name = volume.ephemeral === undefined ? undefined : volumeClaimName(pod, volume);
    if (name === undefined || view(builtInTypes.PersistentVolumeClaim).get(`${namespace}/${name}`) !== undefined)
      continue;
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
        ownerReferences: [newControllerReference(builtInTypes.Pod, pod)],
      },
      spec: template["spec"],
    };
    await ignoreKubeErrors(client.create(builtInTypes.PersistentVolumeClaim, claim), "already-exists");
  }
}
