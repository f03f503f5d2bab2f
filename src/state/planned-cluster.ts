import type { Pod } from "../api/kubernetes/pod.ts";
import { noCompatibleOffering } from "../cloud/launchable-offerings.ts";
import { podRequests, QuantityReader } from "../core/pod-requests.ts";
import { mergeResources, type Resources, subtractResources } from "../core/resources.ts";
import type { Decision, ExistingNodePlacement, PlannedNode } from "../core/scheduling/decision.ts";
import type { Refusal } from "../core/scheduling/refusal.ts";
import { isVirtualPod } from "../core/virtual-pods.ts";
import type { ProjectedNode } from "./projected-cluster.ts";

/** Pods that are bound, and pods of buffers, which are bound nowhere: only where the last round had them counts. */
interface NodePods {
  readonly bound: Pod[];
  virtual: Pod[];
}

interface NewNode extends NodePods {
  readonly planned: PlannedNode;
  readonly launched: ProjectedNode;
}

/** Adds the decisions of all rounds up to what the cluster will be. */
export class PlannedCluster {
  readonly #newNodes = new Map<string, NewNode>();
  readonly #existingNodes = new Map<string, NodePods>();
  readonly #unlaunched: Refusal[] = [];
  readonly #reader = new QuantityReader();

  /** A new node, with its first pods. */
  addNode(planned: PlannedNode, launched: ProjectedNode): void {
    const node: NewNode = { planned, launched, bound: [], virtual: [] };
    addPods(node, planned.pods);
    this.#newNodes.set(launched.name, node);
  }

  /** A node the provider would find nothing to launch for: its pods are refused. */
  #addUnlaunched({ pods }: PlannedNode): void {
    for (const pod of pods)
      this.#unlaunched.push({ pod, code: "instance-types", message: noCompatibleOffering, pools: [] });
  }

  /** `launched` are its new nodes in their order. */
  addRound({ newNodes, placements }: Decision, launched: readonly (ProjectedNode | undefined)[]): void {
    for (const node of [...this.#newNodes.values(), ...this.#existingNodes.values()]) node.virtual = [];
    this.addPlacements(placements);
    for (const [at, planned] of newNodes.entries()) {
      const node = launched[at];
      if (node === undefined) this.#addUnlaunched(planned);
      else this.addNode(planned, node);
    }
  }

  /** Pods on nodes that are there. */
  addPlacements(placements: readonly ExistingNodePlacement[]): void {
    for (const { node, pods } of placements) addPods(this.#podsOf(node), pods);
  }

  /** All rounds as one decision. The refusals are those of the last round. */
  decision(rounds: readonly Decision[]): Decision {
    const last = rounds.at(-1) as Decision;
    const candidatesTried = rounds.reduce((sum, { statistics }) => sum + statistics.candidatesTried, 0);
    return {
      ...last,
      placements: [...this.#existingNodes]
        .map(([node, pods]): ExistingNodePlacement => ({ node, pods: allPods(pods) }))
        .filter(({ pods }) => pods.length > 0),
      newNodes: [...this.#newNodes.values()].map((node) => this.#launchedNode(node)),
      refusals: [...this.#unlaunched, ...last.refusals],
      statistics: { ...(rounds[0] as Decision).statistics, candidatesTried, timedOut: last.statistics.timedOut },
    };
  }

  #podsOf(node: string): NodePods {
    const known = this.#newNodes.get(node) ?? this.#existingNodes.get(node);
    if (known !== undefined) return known;
    const made: NodePods = { bound: [], virtual: [] };
    this.#existingNodes.set(node, made);
    return made;
  }

  #launchedNode(node: NewNode): PlannedNode {
    const { planned, launched } = node;
    const { type, offering } = launched;
    const pods = allPods(node);
    return {
      ...planned,
      pods,
      instanceTypes: [type, ...planned.instanceTypes.filter((one) => one !== type)],
      offering,
      price: offering.price,
      requests: this.#requestsWith(planned, pods),
    };
  }

  #requestsWith({ pods: before, requests }: PlannedNode, now: readonly Pod[]): Resources {
    const [old, current] = [new Set(before), new Set(now)];
    const sum = (pods: readonly Pod[]): Resources =>
      mergeResources(...pods.map((pod) => podRequests(pod, this.#reader)));
    const added = now.filter((pod) => !old.has(pod));
    const gone = before.filter((pod) => !current.has(pod));
    return added.length + gone.length === 0
      ? requests
      : subtractResources(mergeResources(requests, sum(added)), sum(gone));
  }
}

function addPods(node: NodePods, pods: readonly Pod[]): void {
  for (const pod of pods) (isVirtualPod(pod) ? node.virtual : node.bound).push(pod);
}

function allPods({ bound, virtual }: NodePods): readonly Pod[] {
  return [...bound, ...virtual];
}
