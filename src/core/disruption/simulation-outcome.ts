import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isProvisionable } from "../pod-predicates.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import type { Decision } from "../scheduling/decision.ts";
import { podsOfDeletingNodes } from "./simulation-problem.ts";
import type { DisruptionSimulation } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { PodError } from "./verdict.ts";

/** Reads the decisions of simulations of one snapshot. */
export class SimulationReader {
  readonly #leaving: ReadonlySet<Pod>;
  readonly #uninitialized: ReadonlyMap<string, StateNode>;
  readonly #deleting: ReadonlySet<string>;

  constructor(snapshot: DisruptionSnapshot) {
    const { nodes } = snapshot.cluster;
    this.#leaving = new Set(podsOfDeletingNodes(snapshot));
    this.#uninitialized = new Map(nodes.filter((one) => !one.isInitialized).map((one) => [one.name, one]));
    this.#deleting = new Set(nodes.filter(({ isBeingDeleted }) => isBeingDeleted).map(({ name }) => name));
  }

  /** Whether somebody else removes one of these nodes. (03:D-37) */
  hasDeleting(names: ReadonlySet<string>): boolean {
    for (const name of names) if (this.#deleting.has(name)) return true;
    return false;
  }

  /** Pods that are pending themselves never hold a move back. (03:D-42, D-43) */
  read({ newNodes, placements, refusals }: Decision): DisruptionSimulation {
    const refused = refusals
      .filter(({ pod }) => !isProvisionable(pod))
      .map(({ pod, message }): PodError => ({ pod: namespacedName(pod.metadata), message }));
    const uncertain = placements.flatMap(({ node, pods }) => {
      const stateNode = this.#uninitialized.get(node);
      if (stateNode === undefined) return [];
      return pods
        .filter((pod) => !this.#leaving.has(pod) && !isProvisionable(pod))
        .map(({ metadata }): PodError => ({ pod: namespacedName(metadata), message: uninitializedText(stateNode) }));
    });
    return { kind: "simulated", newNodes, placements, podErrors: [...refused, ...uncertain] };
  }
}

/** In upstream's words: people search for them. */
function uninitializedText({ claim, node }: StateNode): string {
  const objects = [
    ...(claim === undefined ? [] : [`nodeclaim/${claim.metadata.name ?? ""}`]),
    ...(node === undefined ? [] : [`node/${node.metadata.name ?? ""}`]),
  ];
  return `would schedule against uninitialized ${objects.join(", ")}`;
}
