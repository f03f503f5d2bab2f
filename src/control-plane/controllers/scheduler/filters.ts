import { hostPortConflict } from "../../../core/host-ports.ts";
import { firstUntoleratedTaint } from "../../../core/tolerations.ts";
import { type FilterRefusal, filterReasons } from "./filter-refusal.ts";
import type { NodeInfo } from "./node-info.ts";
import { podAffinityFilter } from "./pod-affinity.ts";
import type { PodProfile } from "./pod-profile.ts";
import type { SchedulerSnapshot } from "./scheduler-snapshot.ts";
import { preventsScheduling, spreadFilter } from "./topology-spread.ts";
import { volumeFilter } from "./volume-filter.ts";

/** Returns undefined if the node passes. */
type SchedulerNodeFilter = (node: NodeInfo) => FilterRefusal | undefined;

/** Either a problem that no node can solve, or the filter to run on each node. */
export type PodFilters =
  | { readonly problem: string; readonly test?: never }
  | { readonly problem?: never; readonly test: SchedulerNodeFilter };

const unschedulableTaint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

/** All filters in kube-scheduler's order; the first refusal is reported. (05:CP-L9) */
export function podFilters(pod: PodProfile, snapshot: SchedulerSnapshot): PodFilters {
  const volumes = volumeFilter(pod, snapshot);
  if (volumes?.problem !== undefined) return { problem: volumes.problem };
  const filters = [
    unschedulableFilter(pod),
    nodeNameFilter(pod),
    taintFilter(pod),
    nodeAffinityFilter(pod),
    portFilter(pod),
    resourceFilter(pod),
    volumes?.test,
    spreadFilter(pod, snapshot),
    podAffinityFilter(pod, snapshot),
  ].filter((filter) => filter !== undefined);
  return {
    test: (node) => {
      for (const filter of filters) {
        const refusal = filter(node);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
}

function unschedulableFilter({ tolerations }: PodProfile): SchedulerNodeFilter | undefined {
  if (firstUntoleratedTaint(tolerations, [unschedulableTaint]) === undefined) return undefined;
  const refusal: FilterRefusal = {
    filter: "node-unschedulable",
    reasons: [filterReasons.unschedulable],
    isResolvable: false,
  };
  return ({ facts }) => (facts.isUnschedulable ? refusal : undefined);
}

/** Pods with a node name are not scheduled; other checks find that they fit nowhere else. */
function nodeNameFilter({ pod }: PodProfile): SchedulerNodeFilter | undefined {
  const wanted = pod.spec.nodeName ?? "";
  if (wanted === "") return undefined;
  const refusal: FilterRefusal = { filter: "node-name", reasons: [filterReasons.nodeName], isResolvable: false };
  return ({ name }) => (name === wanted ? undefined : refusal);
}

function taintFilter({ tolerations }: PodProfile): SchedulerNodeFilter {
  return ({ facts }) => {
    if (facts.taints.length === 0) return undefined;
    const taint = firstUntoleratedTaint(tolerations, facts.taints.filter(preventsScheduling));
    if (taint === undefined) return undefined;
    const reason = `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
    return { filter: "taints", reasons: [reason], isResolvable: false };
  };
}

function nodeAffinityFilter({ matchesNode }: PodProfile): SchedulerNodeFilter | undefined {
  if (matchesNode === undefined) return undefined;
  const refusal: FilterRefusal = {
    filter: "node-affinity",
    reasons: [filterReasons.nodeAffinity],
    isResolvable: false,
  };
  return ({ facts }) => (matchesNode(facts) ? undefined : refusal);
}

function portFilter({ hostPorts }: PodProfile): SchedulerNodeFilter | undefined {
  if (hostPorts.length === 0) return undefined;
  const refusal: FilterRefusal = { filter: "ports", reasons: [filterReasons.ports], isResolvable: true };
  return (node) => {
    if (!node.hasHostPorts) return undefined;
    for (const other of node.pods.values())
      if (hostPortConflict(hostPorts, other.hostPorts) !== undefined) return refusal;
    return undefined;
  };
}

function resourceFilter({ requests, key }: PodProfile): SchedulerNodeFilter {
  const wanted = [...requests].filter(([, amount]) => amount > 0);
  return (node) => {
    const found: string[] = [];
    let isResolvable = true;
    if (node.pods.size + 1 > node.maxPods && !node.pods.has(key)) found.push(filterReasons.tooManyPods);
    for (const [name, amount] of wanted) {
      const total = node.facts.allocatable.get(name) ?? 0;
      if (amount <= total - node.requested(name)) continue;
      found.push(`Insufficient ${name}`);
      if (amount > total) isResolvable = false; // would not fit on the empty node either
    }
    return found.length === 0 ? undefined : { filter: "resources", reasons: found, isResolvable };
  };
}
