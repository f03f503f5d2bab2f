import type { Container, Pod, PodSpec } from "../api/kubernetes/pod.ts";
import { podLimits, podRequests, QuantityReader } from "../core/pod-requests.ts";
import type { Resources } from "../core/resources.ts";

/** Requests and limits of a pod; limits are computed when asked for, since only metrics do. */
export class PodResources {
  readonly pod: Pod;
  readonly requests: Resources;
  #limits: Resources | undefined;

  constructor(pod: Pod, reader: QuantityReader) {
    this.pod = pod;
    this.requests = podRequests(pod, reader);
  }

  get limits(): Resources {
    this.#limits ??= podLimits(this.pod);
    return this.#limits;
  }
}

/** Computes requests and limits once for all pods that share their containers. */
export class PodResourcesCache {
  readonly #reader = new QuantityReader();
  readonly #known = new WeakMap<readonly Container[], PodResources>();

  of(pod: Pod): PodResources {
    const { spec, status } = pod;
    const isResizing = status?.containerStatuses !== undefined || status?.initContainerStatuses !== undefined;
    if (isResizing || spec.containers === undefined) return new PodResources(pod, this.#reader); // its status counts too (02:A-6)
    const known = this.#known.get(spec.containers);
    if (known !== undefined && hasSameInputs(known.pod.spec, spec)) return known;
    const made = new PodResources(pod, this.#reader);
    this.#known.set(spec.containers, made);
    return made;
  }
}

/** All that requests and limits depend on beside the containers. */
function hasSameInputs(a: PodSpec, b: PodSpec): boolean {
  return a.initContainers === b.initContainers && a.resources === b.resources && a.overhead === b.overhead;
}
