import type { DaemonSet } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";

/** One pod for each DaemonSet: its newest live one, else one made from its template. (02:T-5) */
export function daemonPods(daemonSets: readonly DaemonSet[], pods: readonly Pod[]): readonly Pod[] {
  if (daemonSets.length === 0) return [];
  const newest = newestByController(pods);
  return daemonSets.map((daemonSet) => {
    const live = newest.get(daemonSet.metadata.uid ?? "");
    return live === undefined ? templatePod(daemonSet) : withTemplateAffinity(live, daemonSet);
  });
}

function templatePod({ metadata, spec }: DaemonSet): Pod {
  const { name, namespace } = metadata;
  return { metadata: { ...spec.template.metadata, name, namespace }, spec: spec.template.spec };
}

/** The DaemonSet's controller pins each pod to its node; what the template asks for is what counts. (02:T-5) */
function withTemplateAffinity(pod: Pod, { spec }: DaemonSet): Pod {
  const required = spec.template.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return pod;
  const { affinity } = pod.spec;
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity } } };
}

function newestByController(pods: readonly Pod[]): ReadonlyMap<string, Pod> {
  const newest = new Map<string, Pod>();
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true);
    if (controller?.kind !== "DaemonSet") continue;
    const known = newest.get(controller.uid);
    if (known === undefined || creationMs(pod) > creationMs(known)) newest.set(controller.uid, pod);
  }
  return newest;
}

function creationMs({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? "") || 0;
}
