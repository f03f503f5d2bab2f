import type { CsiNode } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { existingNodeOf, isRegisteredNode } from "../core/scenario/paired-node.ts";
import type { VolumeIndex } from "../core/scheduling/problem.ts";
import type { StateNode } from "./cluster.ts";
import { LazyNodeUsage } from "./lazy-node-usage.ts";
import type { PodResourcesCache } from "./pod-resources-cache.ts";
import type { StateNodeEntry } from "./state-node-entry.ts";

/** What a machine is looked at with. */
export interface StateNodeSources {
  readonly podsOnNode: (node: string | undefined) => readonly Pod[];
  readonly podResources: PodResourcesCache;
  readonly volumes: VolumeIndex;
  readonly csiNodes: ReadonlyMap<string, CsiNode>;
}

/** What a machine carries, and what is left of it. */
export type NodeLoad = Pick<StateNode, "existing" | "usage">;

/** The machine as it is now, as a value. (02 §2.3) */
export function buildStateNode(entry: StateNodeEntry, sources: StateNodeSources): StateNode {
  const { providerId, claim, node, isBeingDeleted } = entry;
  const pods = sources.podsOnNode(node?.metadata.name);
  entry.load ??= loadOf(entry, { ...sources, pods });
  const { existing, usage } = entry.load;
  return {
    providerId,
    claim,
    node,
    pods,
    name: existing.name,
    nodePool: existing.nodePool,
    isManaged: claim !== undefined,
    isRegistered: isRegisteredNode(entry),
    isInitialized: existing.isInitialized,
    isBeingDeleted,
    existing,
    usage,
  };
}

function loadOf(
  entry: StateNodeEntry,
  { pods, podResources, ...volumeSources }: StateNodeSources & { readonly pods: readonly Pod[] },
): NodeLoad {
  const { providerId, claim, node, size } = entry;
  const usage = new LazyNodeUsage(pods, { podResources, allocatable: size.allocatable });
  const load = { ...size, requests: usage.podRequests, daemonRequests: usage.daemonRequests };
  return { usage, existing: existingNodeOf({ providerId, claim, node, pods, load }, volumeSources) };
}
