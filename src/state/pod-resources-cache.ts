import type { Container, Pod, PodSpec } from "../api/kubernetes/pod.ts";
import { podLimits, podRequests, QuantityReader } from "../core/pod-requests.ts";
import type { Resources } from "../core/resources.ts";

/** What a pod takes of its node, and may use at most. */
export interface PodResources {
  readonly requests: Resources;
  readonly limits: Resources;
}

interface CachedPodResources extends PodResources {
  readonly spec: PodSpec;
}

/** Works out amounts once for all pods that share their containers. */
export class PodResourcesCache {
  readonly #known = new WeakMap<readonly Container[], CachedPodResources>();

  of(pod: Pod): PodResources {
    const { spec, status } = pod;
    const isResizing = status?.containerStatuses !== undefined || status?.initContainerStatuses !== undefined;
    if (isResizing || spec.containers === undefined) return podResourcesOf(pod); // its status has a say too (02:A-6)
    const known = this.#known.get(spec.containers);
    if (known !== undefined && hasSameInputs(known.spec, spec)) return known;
    const made = { ...podResourcesOf(pod), spec };
    this.#known.set(spec.containers, made);
    return made;
  }
}

function podResourcesOf(pod: Pod): PodResources {
  const reader = new QuantityReader();
  return { requests: podRequests(pod, reader), limits: podLimits(pod, reader) };
}

/** All that amounts depend on beside the containers. */
function hasSameInputs(a: PodSpec, b: PodSpec): boolean {
  return a.initContainers === b.initContainers && a.resources === b.resources && a.overhead === b.overhead;
}
