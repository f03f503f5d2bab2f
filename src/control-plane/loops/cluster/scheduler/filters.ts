import { clash } from "../../../../core/host-ports.ts";
import { untolerated } from "../../../../core/tolerations.ts";
import type { NodeView } from "./node-view.ts";
import { podAffinityFilter } from "./pod-affinity.ts";
import type { PodProfile } from "./profile.ts";
import type { Snapshot } from "./snapshot.ts";
import { bars, spreadFilter } from "./spread.ts";
import { type Refusal, reasons } from "./verdict.ts";
import { volumeFilter } from "./volume-filter.ts";

/** Whether a node takes a pod: undefined where nothing stands against it. */
export type NodeFilter = (node: NodeView) => Refusal | undefined;

/** A pod that no node can help, or the question to ask each node. */
export type Filters =
  | { readonly problem: string; readonly ask?: never }
  | { readonly problem?: never; readonly ask: NodeFilter };

const cordonTaint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

/** Everything that can keep a pod off a node, in kube-scheduler's order; the first that does is told. (05:CP-L9) */
export function filtersFor(pod: PodProfile, snapshot: Snapshot): Filters {
  const volumes = volumeFilter(pod, snapshot);
  if (volumes?.problem !== undefined) return { problem: volumes.problem };
  const filters = [
    cordonFilter(pod),
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
    ask: (node) => {
      for (const filter of filters) {
        const refusal = filter(node);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
}

function cordonFilter({ tolerations }: PodProfile): NodeFilter | undefined {
  if (untolerated(tolerations, [cordonTaint]) === undefined) return undefined;
  const refusal: Refusal = { filter: "node-unschedulable", reasons: [reasons.unschedulable], isResolvable: false };
  return ({ facts }) => (facts.isUnschedulable ? refusal : undefined);
}

/** Pods that name their node are not scheduled at all; asked about, they fit nowhere else. */
function nodeNameFilter({ pod }: PodProfile): NodeFilter | undefined {
  const wanted = pod.spec.nodeName ?? "";
  if (wanted === "") return undefined;
  const refusal: Refusal = { filter: "node-name", reasons: [reasons.nodeName], isResolvable: false };
  return ({ name }) => (name === wanted ? undefined : refusal);
}

function taintFilter({ tolerations }: PodProfile): NodeFilter {
  return ({ facts }) => {
    if (facts.taints.length === 0) return undefined;
    const taint = untolerated(tolerations, facts.taints.filter(bars));
    if (taint === undefined) return undefined;
    const reason = `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
    return { filter: "taints", reasons: [reason], isResolvable: false };
  };
}

function nodeAffinityFilter({ nodes }: PodProfile): NodeFilter | undefined {
  if (nodes === undefined) return undefined;
  const refusal: Refusal = { filter: "node-affinity", reasons: [reasons.nodeAffinity], isResolvable: false };
  return ({ facts }) => (nodes(facts) ? undefined : refusal);
}

function portFilter({ ports }: PodProfile): NodeFilter | undefined {
  if (ports.length === 0) return undefined;
  const refusal: Refusal = { filter: "ports", reasons: [reasons.ports], isResolvable: true };
  return (node) => {
    if (!node.hasPorts) return undefined;
    for (const other of node.pods.values()) if (clash(ports, other.ports) !== undefined) return refusal;
    return undefined;
  };
}

function resourceFilter({ requests, key }: PodProfile): NodeFilter {
  const wanted = [...requests].filter(([, amount]) => amount > 0);
  return (node) => {
    const found: string[] = [];
    let isResolvable = true;
    if (node.pods.size + 1 > node.maxPods && !node.pods.has(key)) found.push(reasons.tooManyPods);
    for (const [name, amount] of wanted) {
      const total = node.facts.allocatable.get(name) ?? 0;
      if (amount <= total - node.requested(name)) continue;
      found.push(`Insufficient ${name}`);
      if (amount > total) isResolvable = false; // not even an empty node would do
    }
    return found.length === 0 ? undefined : { filter: "resources", reasons: found, isResolvable };
  };
}
