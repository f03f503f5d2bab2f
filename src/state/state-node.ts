import type { CsiNode } from "../api/kubernetes/cluster.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { existingNode, isRegistered } from "../core/scenario/nodes.ts";
import type { VolumeIndex } from "../core/scheduling/problem.ts";
import type { AmountsOfPods } from "./amounts.ts";
import type { StateNode } from "./cluster.ts";
import type { Entry } from "./entry.ts";
import { Usage } from "./usage.ts";

/** What a machine is looked at with. */
export interface Surroundings {
  readonly podsOn: (node: string | undefined) => readonly Pod[];
  readonly amounts: AmountsOfPods;
  readonly volumes: VolumeIndex;
  readonly csiNodes: ReadonlyMap<string, CsiNode>;
}

/** What a machine carries, and what is left of it. */
export type NodeLoad = Pick<StateNode, "existing" | "usage">;

/** The machine as it is now, as a value. (02 §2.3) */
export function stateNode(entry: Entry, surroundings: Surroundings): StateNode {
  const { providerId, claim, node, isLeaving } = entry;
  const pods = surroundings.podsOn(node?.metadata.name);
  entry.load ??= loadOf(entry, { ...surroundings, pods });
  const { existing, usage } = entry.load;
  return {
    providerId,
    claim,
    node,
    pods,
    name: existing.name,
    nodePool: existing.nodePool,
    isManaged: claim !== undefined,
    isRegistered: isRegistered(entry),
    isInitialized: existing.isInitialized,
    isLeaving,
    existing,
    usage,
  };
}

function loadOf(entry: Entry, { pods, amounts, ...world }: Surroundings & { readonly pods: readonly Pod[] }): NodeLoad {
  const { providerId, claim, node, size } = entry;
  const usage = new Usage(pods, { amounts, allocatable: size.allocatable });
  const load = { ...size, requests: usage.podRequests, daemonRequests: usage.daemonRequests };
  return { usage, existing: existingNode({ providerId, claim, node, pods, load }, world) };
}
