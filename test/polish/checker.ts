import type { Pod, PodAffinityTerm } from "../../src/api/kubernetes/pod.ts";
import { labels } from "../../src/api/labels.ts";
import { namespaceOf } from "../../src/api/object.ts";
import { hostPortConflict, hostPortsOf } from "../../src/core/host-ports.ts";
import { type CompiledSelector, compileSelector, termNamespaces } from "../../src/core/label-selector.ts";
import { checkMinValues } from "../../src/core/min-values.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import { amountOf, mergeResources } from "../../src/core/resources.ts";
import type { Decision, PlannedNode } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { firstUntoleratedTaint, withPreferNoScheduleToleration } from "../../src/core/tolerations.ts";
import { volumeRequirementAlternatives } from "../../src/core/volumes.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { podName } from "../builders/readers.ts";
import { filterTypes } from "../twin/filter.ts";
import { daemonTerms, openTemplates } from "../twin/templates.ts";
import type { Template } from "../twin/world.ts";

/** Everything that is wrong with a plan as it stands, whatever way it came about: one text a fault. */
export function faultsOf(problem: SchedulingProblem, decision: Decision): ReadonlySet<string> {
  const templates = new Map(openTemplates(problem).templates.map((template) => [template.pool, template]));
  const faults = new Set<string>();
  for (const node of decision.newNodes) {
    const template = templates.get(node.pool);
    if (template === undefined) faults.add(`pool ${node.pool} has no instance types`);
    else for (const fault of nodeFaults(node, template, problem)) faults.add(fault);
  }
  for (const fault of [...limitFaults(problem, decision), ...topologyFaults(problem, decision)]) faults.add(fault);
  return faults;
}

function* nodeFaults(node: PlannedNode, template: Template, problem: SchedulingProblem): Iterable<string> {
  for (const pod of node.pods) {
    if (firstUntoleratedTaint(withPreferNoScheduleToleration(pod.spec.tolerations), template.taints) !== undefined)
      yield `${podName(pod)} does not tolerate ${node.pool}`;
    if (!daemonTerms(pod, problem).some((wanted) => isImplied(wanted, node.requirements)))
      yield `${podName(pod)} cannot be on ${node.requirements}`;
    const { alternatives = [] } = volumeRequirementAlternatives(pod, problem.volumes, problem.labelPolicy);
    if (alternatives.length > 0 && !alternatives.some((wanted) => isImplied(wanted, node.requirements)))
      yield `volumes of ${podName(pod)} cannot be on ${node.requirements}`;
    const others = node.pods.filter((other) => other !== pod).flatMap(hostPortsOf);
    if (hostPortConflict(hostPortsOf(pod), others) !== undefined) yield `${podName(pod)} wants a port that is taken`;
  }
  yield* typeFaults(node, template, problem);
}

/** Every type that is named must hold the pods and its daemons, and the price must be that of the cheapest. */
function* typeFaults(node: PlannedNode, template: Template, problem: SchedulingProblem): Iterable<string> {
  const podPorts = node.pods.flatMap(hostPortsOf);
  const survivors = filterTypes({
    types: template.types,
    requirements: node.requirements,
    wellKnown: problem.labelPolicy.wellKnown,
    podRequests: {},
    podPorts,
    totalRequests: mergeResources(...node.pods.map((pod) => podRequests(pod))),
    daemonGroups: template.daemonGroups,
    groupPorts: template.daemonGroups.map(({ ports }) => ports),
    relaxMinValues: true,
  });
  const possible = survivors.kind === "survivors" ? survivors.types : [];
  const names = node.pods.map(podName).join();
  for (const type of node.instanceTypes) if (!possible.includes(type)) yield `${type.name} cannot hold ${names}`;
  if (node.instanceTypes.length === 0) yield `no instance type is left for ${names}`;
  const isFlexible = checkMinValues(node.instanceTypes, node.requirements).kind === "satisfied";
  if (!isFlexible && problem.policy.minValues === "Strict") yield `too little variety for ${names}`;
}

/** Whether a node that is one of these is always one of those; hosts are apart. */
function isImplied(wanted: Requirements, node: Requirements): boolean {
  for (const requirement of wanted) {
    if (requirement.key === labels.hostname) {
      if (!requirement.has("a-new-node")) return false;
    } else {
      if (!node.has(requirement.key)) return false;
      const own = node.get(requirement.key).withMinValues(undefined);
      if (String(own.intersection(requirement)) !== String(own)) return false;
    }
  }
  return true;
}

/** Were every planned node its largest type, pools would stay within their limits. (02:H-3) */
function* limitFaults({ pools, nodes }: SchedulingProblem, { newNodes }: Decision): Iterable<string> {
  for (const { nodePool } of pools) {
    const pool = nodePool.metadata.name ?? "";
    const planned = newNodes.filter((node) => node.pool === pool);
    for (const [name, text] of Object.entries(nodePool.spec.limits ?? {})) {
      const standing = nodes.filter((node) => node.nodePool === pool).map(({ capacity }) => amountOf(capacity, name));
      const largest = planned.map(({ instanceTypes }) =>
        name === "nodes"
          ? Quantity.of(1)
          : instanceTypes.reduce((most, { capacity }) => larger(most, amountOf(capacity, name)), Quantity.zero),
      );
      const total = [...standing, ...largest].reduce((sum, one) => sum.add(one), Quantity.zero);
      if (planned.length > 0 && total.cmp(Quantity.parse(String(text))) > 0)
        yield `${pool} exceeds its limit of ${name}`;
    }
  }
}

function larger(a: Quantity, b: Quantity): Quantity {
  return a.cmp(b) >= 0 ? a : b;
}

/** A pod and where it is: the domain of a key, undefined where that is open. */
interface Placed {
  readonly pod: Pod;
  readonly isNew: boolean;
  readonly domain: (key: string) => string | undefined;
}

/** Constraints that do not hold in the end, of pods of this round. */
function* topologyFaults(problem: SchedulingProblem, decision: Decision): Iterable<string> {
  const everyone = placedPods(problem, decision);
  for (const { pod, isNew, domain } of everyone) {
    if (!isNew) continue;
    for (const { what, key, chosen, holds } of constraintsOf(pod, problem)) {
      const own = domain(key);
      const matching = everyone.filter((other) => chosen(other.pod));
      const counts = new Map<string, number>();
      for (const other of matching) {
        const at = other.domain(key);
        if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + 1);
      }
      if (own !== undefined && !holds({ here: counts.get(own) ?? 0, least: least(counts, key), self: chosen(pod) }))
        yield `${podName(pod)}: ${what} by ${key}`;
    }
  }
}

function least(counts: ReadonlyMap<string, number>, key: string): number {
  return key === labels.hostname || counts.size === 0 ? 0 : Math.min(...counts.values());
}

interface Constraint {
  readonly what: string;
  readonly key: string;
  readonly chosen: (pod: Pod) => boolean;
  readonly holds: (count: { here: number; least: number; self: boolean }) => boolean;
}

function constraintsOf(pod: Pod, { namespaces }: SchedulingProblem): readonly Constraint[] {
  const own = namespaceOf(pod.metadata);
  const podLabels = pod.metadata.labels;
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const term = (what: string, one: PodAffinityTerm, holds: Constraint["holds"]): Constraint => ({
    what,
    key: one.topologyKey,
    chosen: choosing(compileSelector(one.labelSelector, { labels: podLabels }), termNamespaces(one, own, namespaces)),
    holds,
  });
  return [
    ...(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((one) =>
      term("company", one, ({ here }) => here > 0),
    ),
    ...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((one) =>
      term("distance", one, ({ here, self }) => here <= (self ? 1 : 0)),
    ),
    ...(pod.spec.topologySpreadConstraints ?? [])
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule")
      .map(({ topologyKey: key, labelSelector, matchLabelKeys, maxSkew }) => ({
        what: "spread",
        key,
        chosen: choosing(compileSelector(labelSelector, { labels: podLabels, matchLabelKeys }), new Set([own])),
        holds: ({ here, least: low }: { here: number; least: number }) => here - low <= maxSkew,
      })),
  ];
}

function choosing(selector: CompiledSelector, namespaces: ReadonlySet<string>): (pod: Pod) => boolean {
  return ({ metadata }) => namespaces.has(namespaceOf(metadata)) && selector.matches(metadata.labels);
}

function placedPods(problem: SchedulingProblem, decision: Decision): readonly Placed[] {
  const standing = new Map(
    problem.nodes.map((node) => [node.name, { ...node.labels, [labels.hostname]: node.hostname }]),
  );
  const round = new Set(problem.pods);
  return [
    ...problem.boundPods
      .filter((pod) => !round.has(pod))
      .map((pod) => ({
        pod,
        isNew: false,
        domain: domainOf(problem.nodesByName.get(pod.spec.nodeName ?? "")?.labels),
      })),
    ...decision.placements.flatMap(({ node, pods }) =>
      pods.map((pod) => ({ pod, isNew: true, domain: domainOf(standing.get(node)) })),
    ),
    ...decision.newNodes.flatMap(({ pods, requirements }, index) =>
      pods.map((pod) => ({
        pod,
        isNew: true,
        domain: (key: string) => (key === labels.hostname ? `new-${index}` : requirements.get(key).singleValue),
      })),
    ),
  ];
}

function domainOf(nodeLabels: Readonly<Record<string, string>> | undefined): (key: string) => string | undefined {
  return (key) => nodeLabels?.[key];
}
