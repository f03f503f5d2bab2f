import type { Pod } from "../api/kubernetes/pod.ts";
import type { ClusterSnapshot } from "../core/round/cluster-snapshot.ts";
import type { ExistingNodePlacement } from "../core/scheduling/decision.ts";
import { isVirtualPod } from "../core/virtual-pods.ts";
import type { PlannedCluster } from "./planned-cluster.ts";
import type { OpenScenario } from "./scenario.ts";

/** Which of the pods the cluster's scheduler would bind now, and to which nodes. */
export type PodBinder = (
  pods: readonly Pod[],
  cluster: ClusterSnapshot,
  options: { readonly areRetried: boolean },
) => readonly ExistingNodePlacement[];

/**
 * Pods that no round placed. The scheduler binds them to nodes that have joined where it can: it knows nothing of the room
 * of buffers, and of topology only the domains of nodes that are there. (docs/designs/rounds.md)
 */
export class SchedulerTurns {
  readonly #open: OpenScenario;
  readonly #planned: PlannedCluster;
  readonly #bindPods: PodBinder;
  /** Nodes by the round that launched them: those of one round join together, and before those of the next. */
  #joining: (readonly string[])[] = [];
  #areRetried = false;

  constructor(
    open: OpenScenario,
    { planned, bindPods = () => [] }: { readonly planned: PlannedCluster; readonly bindPods: PodBinder | undefined },
  ) {
    this.#open = open;
    this.#planned = planned;
    this.#bindPods = bindPods;
  }

  addJoining(nodes: readonly string[]): void {
    this.#areRetried = true;
    if (nodes.length > 0) this.#joining.push(nodes);
  }

  /** Lets the nodes join, round by round. Returns whether the scheduler bound any pod. */
  bind(): boolean {
    const joining = this.#joining;
    this.#joining = [];
    if (joining.length === 0) return this.#bindWithout(new Set());
    let hasBound = false;
    for (const at of joining.keys()) {
      const later = new Set(joining.slice(at + 1).flat());
      if (this.#bindWithout(later)) hasBound = true;
    }
    return hasBound;
  }

  #bindWithout(absent: ReadonlySet<string>): boolean {
    const { projected, cluster } = this.#open;
    const pods = projected.pendingPods.filter((pod) => !isVirtualPod(pod) && (pod.spec.nodeName ?? "") === "");
    if (pods.length === 0) return false;
    const snapshot = cluster.snapshot();
    const nodes = snapshot.nodes.filter(({ name }) => !absent.has(name));
    if (nodes.length === 0) return false;
    const placements = this.#bindPods(pods, { ...snapshot, nodes }, { areRetried: this.#areRetried });
    projected.carryOut({ newNodes: [], placements, removedNodes: [] });
    this.#planned.addPlacements(placements);
    return placements.length > 0;
  }
}
