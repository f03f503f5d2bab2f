import type { Pod, ResourceList } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { podRequests, QuantityReader } from "../../core/pod-requests.ts";
import { amountOf, type Resources } from "../../core/resources.ts";

/** Amounts a table of nodes shows: cores, bytes, devices. */
export interface ShownAmounts {
  readonly cpu: number;
  readonly memory: number;
  readonly gpu: number;
}

export const noAmounts: ShownAmounts = { cpu: 0, memory: 0, gpu: 0 };

/** Devices besides `VENDOR/gpu` that count as GPUs. */
const otherGpus: ReadonlySet<string> = new Set([resources.gaudi, resources.neuron]);

function isGpu(resource: string): boolean {
  return resource.endsWith("/gpu") || otherGpus.has(resource);
}

/** What pods request. A pod is read once: a view of a large cluster is drawn again and again. */
export class PodUse {
  readonly #reader = new QuantityReader();
  readonly #known = new WeakMap<Pod, ShownAmounts>();

  of(pod: Pod): ShownAmounts {
    const known = this.#known.get(pod);
    if (known !== undefined) return known;
    const found = shownAmounts(podRequests(pod, this.#reader));
    this.#known.set(pod, found);
    return found;
  }

  /** Of a list as objects have it. */
  ofList(list: ResourceList | undefined): ShownAmounts {
    const entries = Object.entries(list ?? {}).map(([name, written]) => [name, this.#reader.read(written)] as const);
    return shownAmounts(Object.fromEntries(entries));
  }
}

function shownAmounts(amounts: Resources): ShownAmounts {
  const gpus = Object.keys(amounts).filter(isGpu);
  return {
    cpu: amountOf(amounts, resources.cpu).toNumber(),
    memory: amountOf(amounts, resources.memory).toNumber(),
    gpu: gpus.reduce((sum, name) => sum + amountOf(amounts, name).toNumber(), 0),
  };
}

export function addAmounts(a: ShownAmounts, b: ShownAmounts): ShownAmounts {
  return { cpu: a.cpu + b.cpu, memory: a.memory + b.memory, gpu: a.gpu + b.gpu };
}
