import type { Pod, ResourceList } from "../../../api/kubernetes/pod.ts";
import { resources } from "../../../api/labels.ts";
import { podRequests, QuantityReader } from "../../../core/pod-requests.ts";
import type { Quantity } from "../../../util/quantity.ts";

/**
 * Resources by name as kube-scheduler counts them: cpu in millicores, everything else in whole units, both rounded up.
 * Plain numbers, because every pod is compared with every node.
 */
export type SchedulerAmounts = ReadonlyMap<string, number>;

/** Reads resource lists, parsing each distinct text once. */
export class SchedulerAmountReader {
  readonly #quantities = new QuantityReader();

  ofPod(pod: Pod): SchedulerAmounts {
    const amounts = new Map<string, number>();
    for (const [name, quantity] of Object.entries(podRequests(pod, this.#quantities))) {
      if (name !== resources.pods) amounts.set(name, rounded(name, quantity));
    }
    return amounts;
  }

  ofList(list: ResourceList = {}): SchedulerAmounts {
    return new Map(Object.entries(list).map(([name, text]) => [name, rounded(name, this.#quantities.read(text))]));
  }
}

function rounded(name: string, quantity: Quantity): number {
  return Number(name === resources.cpu ? quantity.milliValue() : quantity.value());
}
