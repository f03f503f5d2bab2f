import { labels } from "../../src/api/labels.ts";
import { isCompatible } from "../../src/core/compatibility.ts";
import { hostPortConflict } from "../../src/core/host-ports.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { Requirement } from "../../src/core/requirement.ts";
import { Requirements } from "../../src/core/requirements.ts";
import { amountOf, mergeResources, type Resources, resourcesFit, subtractResources } from "../../src/core/resources.ts";
import type { ExistingNode, SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { firstUntoleratedTaint, withPreferNoScheduleToleration } from "../../src/core/tolerations.ts";
import { volumeLimitExcess } from "../../src/core/volumes.ts";
import { type PodView, usesDynamicResources } from "./pod-view.ts";
import { daemonTerms } from "./templates.ts";
import { mergeWay, tighten } from "./tighten.ts";
import { record, registerHostname, type Topology } from "./topology.ts";
import type { NodeEntry } from "./world.ts";

/** 02:T-8: initialized first, then by name, then by provider id. */
export function openNodes(problem: SchedulingProblem, topology: Topology): readonly NodeEntry[] {
  const nodes = [...problem.nodes].sort(
    (a, b) =>
      Number(b.isInitialized) - Number(a.isInitialized) ||
      compareText(a.name, b.name) ||
      compareText(a.providerId, b.providerId),
  );
  for (const { hostname } of problem.nodes) registerHostname(topology, hostname);
  const entries = nodes.map(
    (node): NodeEntry => ({
      node,
      requirements: Requirements.fromLabels(node.labels, problem.labelPolicy).add(
        Requirement.in(labels.hostname, [node.hostname]),
      ),
      remaining: subtractResources(node.available, expectedDaemons(node, problem)),
      ports: node.hostPorts,
      attached: node.volumes.attached,
      pods: [],
    }),
  );
  topology.hosts.push(...entries.map((host) => ({ host, taints: host.node.taints })));
  return entries;
}

/** 02 §5.4: what daemons will still ask for, beyond what they have. */
function expectedDaemons(node: ExistingNode, problem: SchedulingProblem): Resources {
  const nodeLabels = Requirements.fromLabels(node.labels, problem.labelPolicy);
  const daemons = problem.daemons.filter(
    (daemon) =>
      !(problem.policy.ignoreDra && usesDynamicResources(daemon)) &&
      firstUntoleratedTaint(withPreferNoScheduleToleration(daemon.spec.tolerations), node.taints) === undefined &&
      daemonTerms(daemon, problem).some((wanted) => isCompatible(nodeLabels, wanted)),
  );
  const missing = subtractResources(
    mergeResources(...daemons.map((daemon) => podRequests(daemon))),
    node.daemonRequests,
  );
  return Object.fromEntries(Object.entries(missing).filter(([name]) => amountOf(missing, name).sign() > 0));
}

/** The node's requirements with the pod on it, or nothing when it cannot be there. (02:E-1 to E-6) */
export function acceptOnNode(entry: NodeEntry, view: PodView, topology: Topology): Requirements | undefined {
  const { node } = entry;
  if (firstUntoleratedTaint(view.pod.spec.tolerations, node.taints) !== undefined) return undefined; // E-1
  const volumes = { attached: entry.attached, limits: node.volumes.limits };
  if (volumeLimitExcess(volumes, view.volumes) !== undefined) return undefined; // E-2
  if (hostPortConflict(view.ports, entry.ports) !== undefined) return undefined; // E-3
  if (!resourcesFit(view.requests, entry.remaining)) return undefined; // E-4
  if (!isCompatible(entry.requirements, view.requirements)) return undefined; // E-5
  const wanted = entry.requirements.add(...view.requirements);
  for (const alternative of view.alternatives) {
    if (!isCompatible(wanted, alternative)) continue; // E-6
    const merged = wanted.add(...alternative);
    const tightened = tighten(topology, view, merged);
    if (tightened.kind === "refused") continue;
    for (const way of tightened.ways) {
      const outcome = mergeWay(merged, way, {});
      if (outcome.kind === "merged") return outcome.requirements;
    }
  }
  return undefined;
}

export function commitToNode(entry: NodeEntry, view: PodView, { requirements, topology }: NodeCommit): void {
  entry.pods.push(view.pod);
  entry.requirements = requirements;
  entry.remaining = subtractResources(entry.remaining, view.requests);
  entry.ports = [...entry.ports, ...view.ports];
  entry.attached = union(entry.attached, view.volumes);
  record(topology, view.pod, { requirements, taints: entry.node.taints });
}

interface NodeCommit {
  readonly requirements: Requirements;
  readonly topology: Topology;
}

type Attached = NodeEntry["attached"];

function union(some: Attached, others: Attached): Attached {
  const both = new Map(some);
  for (const [driver, keys] of others) both.set(driver, new Set([...(both.get(driver) ?? []), ...keys]));
  return both;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
