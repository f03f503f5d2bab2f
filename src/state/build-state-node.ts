import type { CsiNode } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { StateNode } from "../core/round/cluster-snapshot.ts";
import type { VolumeIndex } from "../core/volumes.ts";
import { existingNodeOf, isRegisteredNode } from "./existing-node.ts";
import { LazyNodeUsage } from "./lazy-node-usage.ts";
import type { PodResourcesCache } from "./pod-resources-cache.ts";
import type { NodeLoad, StateNodeEntry } from "./state-node-entry.ts";

/** What state nodes are built from, beside their claim and Node. */
export interface StateNodeSources {
  readonly podsOnNode: (node: string | undefined) => readonly Pod[];
  readonly podResources: PodResourcesCache;
  readonly volumes: VolumeIndex;
  readonly csiNodes: ReadonlyMap<string, CsiNode>;
}

/** The state node of an entry, as a value. (02 §2.3) */
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
  { providerId, claim, node, size }: StateNodeEntry,
  { pods, podResources, volumes, csiNodes }: StateNodeSources & { readonly pods: readonly Pod[] },
): NodeLoad {
  const usage = new LazyNodeUsage(pods, { podResources, allocatable: size.allocatable });
  const { podRequests, daemonRequests } = usage;
  const csiNode = csiNodes.get(node?.metadata.name ?? "");
  const existing = existingNodeOf({
    capacity: size.capacity,
    allocatable: size.allocatable,
    providerId,
    claim,
    node,
    pods,
    podRequests,
    daemonRequests,
    volumes,
    csiNode,
  });
  return { usage, existing };
}
