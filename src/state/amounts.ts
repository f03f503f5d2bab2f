import type { Container, Pod, PodSpec } from "../api/kubernetes/pod.ts";
import { podLimits, podRequests, QuantityReader } from "../core/pod-requests.ts";
import type { Resources } from "../core/resources.ts";

/** What a pod takes of its node, and may use at most. */
export interface Amounts {
  readonly requests: Resources;
  readonly limits: Resources;
}

interface Remembered extends Amounts {
  readonly spec: PodSpec;
}

/** Works out amounts once for all pods that share their containers. */
export class AmountsOfPods {
  readonly #known = new WeakMap<readonly Container[], Remembered>();

  of(pod: Pod): Amounts {
    const { spec, status } = pod;
    const isResizing = status?.containerStatuses !== undefined || status?.initContainerStatuses !== undefined;
    if (isResizing || spec.containers === undefined) return amountsOf(pod); // its status has a say too (02:A-6)
    const known = this.#known.get(spec.containers);
    if (known !== undefined && isAlike(known.spec, spec)) return known;
    const made = { ...amountsOf(pod), spec };
    this.#known.set(spec.containers, made);
    return made;
  }
}

function amountsOf(pod: Pod): Amounts {
  const reader = new QuantityReader();
  return { requests: podRequests(pod, reader), limits: podLimits(pod, reader) };
}

/** All that amounts depend on beside the containers. */
function isAlike(a: PodSpec, b: PodSpec): boolean {
  return a.initContainers === b.initContainers && a.resources === b.resources && a.overhead === b.overhead;
}
