import type { KubeObject } from "../../../../api/object.ts";
import type { Loop, LoopWorld } from "../../../../kube/loop.ts";
import { builtIn } from "../../../../kube/resources.ts";
import type { Clock } from "../../../../util/clock.ts";
import type { LiveNode, LivePod } from "../live.ts";
import { nodeMetrics, podMetrics } from "./usage.ts";

/** What `metrics.k8s.io` answers, computed when asked: for `ApiServer.setReads`. (05:CP-L13) */
export class UsageReads {
  readonly #clock: Clock;
  readonly #seed: string;
  #view: LoopWorld["view"] | undefined;

  constructor({ clock, seed }: { readonly clock: Clock; readonly seed: string }) {
    this.#clock = clock;
    this.#seed = seed;
  }

  /** From where nodes and pods are read; nothing is measured before. */
  readFrom(view: LoopWorld["view"]): void {
    view<LivePod>(builtIn.Pod).index("node", ({ spec }) => spec.nodeName);
    this.#view = view;
  }

  readonly pods = (namespace?: string): readonly KubeObject[] => {
    const pods = this.#view?.<LivePod>(builtIn.Pod);
    if (pods === undefined) return [];
    return podMetrics(namespace === undefined ? pods.all() : pods.in(namespace), this.#options());
  };

  readonly nodes = (): readonly KubeObject[] => {
    const view = this.#view;
    if (view === undefined) return [];
    const podsOn = (node: string): readonly LivePod[] => view<LivePod>(builtIn.Pod).by("node", node);
    return nodeMetrics(view<LiveNode>(builtIn.Node).all(), { ...this.#options(), podsOn });
  };

  #options(): { readonly now: number; readonly seed: string } {
    return { now: this.#clock.now(), seed: this.#seed };
  }
}

/** Keeps the reads supplied. (05:CP-L13) */
export function usageLoop(reads: UsageReads): Loop {
  return {
    name: "metrics-server",
    kinds: [builtIn.Node, builtIn.Pod],
    run: async ({ view }) => reads.readFrom(view),
  };
}
