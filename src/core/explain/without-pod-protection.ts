import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import { type DisruptionCandidate, disruptionCandidateOf } from "../disruption/candidate.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { PdbLookup } from "../pod-predicates.ts";

/**
 * The cluster as it would be if nothing protected the pods of this node. Simulations leave protected pods where they are,
 * so without this they would say what happens to the others alone.
 */
export function withoutPodProtection(
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
): { readonly snapshot: DisruptionSnapshot; readonly candidate: DisruptionCandidate } {
  const { stateNode, claim, pool } = candidate;
  const { cluster, pdbs } = snapshot;
  const freed = new Map(stateNode.pods.filter(isAnnotated).map((pod) => [pod, withoutAnnotation(pod)]));
  if (freed.size === 0 && stateNode.pods.every((pod) => pdbs.matching(pod).length === 0))
    return { snapshot, candidate };
  const freedPods = (pods: readonly Pod[]): readonly Pod[] => pods.map((pod) => freed.get(pod) ?? pod);
  const free = { ...stateNode, pods: freedPods(stateNode.pods) };
  const nodes = cluster.nodes.map((one) => (one === stateNode ? free : one));
  const own = new Set(free.pods);
  const others: PdbLookup = { matching: (pod) => (own.has(pod) ? [] : pdbs.matching(pod)) };
  return {
    snapshot: { ...snapshot, cluster: { ...cluster, nodes, boundPods: freedPods(cluster.boundPods) }, pdbs: others },
    candidate: disruptionCandidateOf(free, claim, pool),
  };
}

function isAnnotated({ metadata }: Pod): boolean {
  return metadata.annotations?.[annotations.doNotDisrupt] !== undefined;
}

function withoutAnnotation(pod: Pod): Pod {
  const { [annotations.doNotDisrupt]: _, ...others } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations: others } };
}
