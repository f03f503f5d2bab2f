import type { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import type { Clock } from "../../src/util/clock.ts";
import type { Random } from "../../src/util/random.ts";
import { nodeName, podStatus, standingPod, standingSize } from "./standing-cluster.ts";

export interface ChurnOptions {
  readonly client: InProcessClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly perSecond: number;
}

const tickMs = 10;

/** Pods that fare well and badly; of a hundred changes one is a pod that comes and one a pod that goes. */
export class Churn {
  readonly #options: ChurnOptions;
  readonly #startedAt = performance.now();
  readonly #timer = setInterval(() => void this.#tick(), tickMs);
  readonly #pods = Array.from({ length: standingSize.nodes * standingSize.podsPerNode }, (_, ordinal) => ordinal);
  #born = this.#pods.length;
  #made = 0;
  #isBusy = false;

  constructor(options: ChurnOptions) {
    this.#options = options;
  }

  stop(): number {
    clearInterval(this.#timer);
    return this.#made;
  }

  async #tick(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const due = ((performance.now() - this.#startedAt) / 1_000) * this.#options.perSecond;
    while (this.#made < due) await this.#change(this.#made++ % 100);
    this.#isBusy = false;
  }

  async #change(turn: number): Promise<void> {
    const { client, clock, random } = this.#options;
    const now = clock.now();
    if (turn === 0) {
      const ordinal = this.#born++;
      this.#pods.push(ordinal);
      const node = nodeName(random.int(standingSize.nodes));
      await client.create(builtInTypes.Pod, standingPod({ ordinal, node, now }));
      return;
    }
    const place = random.int(this.#pods.length);
    const ordinal = this.#pods[place] as number;
    const { name = "", namespace } = standingPod({ ordinal, node: "", now }).metadata;
    const key = { name, namespace };
    if (turn === 50) {
      this.#pods[place] = this.#pods.at(-1) as number;
      this.#pods.pop();
      await client.delete(builtInTypes.Pod, key, { gracePeriodSeconds: 0 });
      return;
    }
    const status = podStatus({ ordinal, now, isReady: random.int(2) === 0 });
    await client.patch(builtInTypes.Pod, key, { kind: "merge", body: { status } }, { subresource: "status" });
  }
}
