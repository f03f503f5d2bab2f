import type { KubeObject } from "../../../api/object.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Clock } from "../../../util/clock.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { simulatedNodeMetrics, simulatedPodMetrics } from "./simulated-usage.ts";

/** What `metrics.k8s.io` answers, computed when asked: for `ApiServer.setReads`. (05:CP-L13) */
export class MetricsServer {
  readonly #clock: Clock;
  readonly #seed: string;
  #view: ControllerContext["view"] | undefined;

  constructor({ clock, seed }: { readonly clock: Clock; readonly seed: string }) {
    this.#clock = clock;
    this.#seed = seed;
  }

  /** From where nodes and pods are read; nothing is measured before. */
  readFrom(view: ControllerContext["view"]): void {
    view<ApiPod>(builtInTypes.Pod).addIndex("node", ({ spec }) => spec.nodeName);
    this.#view = view;
  }

  readonly pods = (namespace?: string): readonly KubeObject[] => {
    const pods = this.#view?.<ApiPod>(builtInTypes.Pod);
    if (pods === undefined) return [];
    return simulatedPodMetrics(namespace === undefined ? pods.all() : pods.inNamespace(namespace), this.#options());
  };

  readonly nodes = (): readonly KubeObject[] => {
    const view = this.#view;
    if (view === undefined) return [];
    const podsOn = (node: string): readonly ApiPod[] => view<ApiPod>(builtInTypes.Pod).byIndex("node", node);
    return simulatedNodeMetrics(view<ApiNode>(builtInTypes.Node).all(), { ...this.#options(), podsOn });
  };

  #options(): { readonly now: number; readonly seed: string } {
    return { now: this.#clock.now(), seed: this.#seed };
  }
}

/** Keeps the reads supplied. (05:CP-L13) */
export function metricsServerController(reads: MetricsServer): Controller {
  return {
    name: "metrics-server",
    kinds: [builtInTypes.Node, builtInTypes.Pod],
    run: async ({ view }) => reads.readFrom(view),
  };
}
