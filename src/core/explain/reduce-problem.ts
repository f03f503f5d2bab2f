import type { LabelSelector, Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import { normalizedKey } from "../../api/label-policy.ts";
import { labels as wellKnown } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import { compileSelector } from "../label-selector.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { mergeResources, type Resources, resourcesFit } from "../resources.ts";
import { topologyConstraintsOf } from "../scheduling/pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "../scheduling/problem.ts";

/** The problem without uncounted bound pods and full nodes: the same decision, found much faster. */
export function reduceProblem(problem: SchedulingProblem): SchedulingProblem {
  // Which pods default constraints count is only known during the pass. (02:X-51)
  if ((problem.policy.defaultConstraints ?? []).length > 0) return problem;
  return withoutFullNodes(withoutUncountedPods(problem));
}

/** Bound pods count only if a selector matches them or they have anti-affinity. (02) */
export function withoutUncountedPods(problem: SchedulingProblem): SchedulingProblem {
  const { pods, boundPods, policy } = problem;
  if ((policy.defaultConstraints ?? []).length > 0) return problem; // for the same reason
  const selectors = selectorsOf(pods);
  const hasAntiAffinity = (pod: Pod): boolean => pod.spec.affinity?.podAntiAffinity !== undefined;
  return {
    ...problem,
    boundPods: boundPods.filter(
      (pod) => hasAntiAffinity(pod) || selectors.some((selector) => selector.matches(pod.metadata.labels)),
    ),
  };
}

/** matchLabelKeys are ignored: more pods may be kept than are counted, never fewer. */
function selectorsOf(pods: readonly Pod[]) {
  const distinct = new Map<string, LabelSelector>();
  for (const spec of new Set(pods.map((pod) => pod.spec))) {
    for (const { labelSelector } of topologyConstraintsOf(spec)) {
      if (labelSelector !== undefined) distinct.set(JSON.stringify(labelSelector), labelSelector);
    }
  }
  return [...distinct.values()].map((selector) => compileSelector(selector));
}

/** Full nodes are left out, except one for each domain and one placeholder for each pool's limits. */
function withoutFullNodes(problem: SchedulingProblem): SchedulingProblem {
  const asked = distinctRequests(problem.pods);
  const representatives = new DomainRepresentatives(problem);
  const kept: ExistingNode[] = [];
  const full: ExistingNode[] = [];
  for (const node of problem.nodes) {
    const isKept =
      asked.some((request) => resourcesFit(request, node.available)) || representatives.isFirstOfDomain(node);
    (isKept ? kept : full).push(node);
  }
  return { ...problem, nodes: [...kept, ...fullNodePlaceholders(full)] };
}

function distinctRequests(pods: readonly Pod[]): readonly Resources[] {
  const reader = new QuantityReader();
  const bySpec = new Map<PodSpec, Resources>();
  const distinct = new Map<string, Resources>();
  for (const pod of pods) {
    const requests = (pod.status === undefined ? bySpec.get(pod.spec) : undefined) ?? podRequests(pod, reader);
    bySpec.set(pod.spec, requests);
    distinct.set(JSON.stringify(requests), requests);
  }
  return [...distinct.values()];
}

/** Keeps one of several nodes that topology cannot tell apart, so that its domain stays known. (02:X-10) */
class DomainRepresentatives {
  readonly #topologyKeys: readonly string[];
  readonly #filterKeys: readonly string[];
  readonly #seen = new Set<string>();
  readonly #nodesByName: SchedulingProblem["nodesByName"];

  constructor({ pods, labelPolicy, nodesByName }: SchedulingProblem) {
    const topologyKeys = new Set<string>();
    const filterKeys = new Set<string>();
    for (const spec of new Set(pods.map((pod) => pod.spec))) {
      const topology = topologyConstraintsOf(spec);
      for (const { topologyKey } of topology) topologyKeys.add(topologyKey);
      if (topology.length === 0) continue;
      for (const key of selectedKeys(spec)) filterKeys.add(key).add(normalizedKey(labelPolicy, key));
    }
    topologyKeys.delete(wellKnown.hostname); // a host is no domain before it has pods (02:X-2)
    this.#topologyKeys = [...topologyKeys];
    this.#filterKeys = [...filterKeys];
    this.#nodesByName = nodesByName;
  }

  /** Domains are read off the labels that count, filters read the Node. A NodeClaim without a Node adds no domain. */
  isFirstOfDomain({ labels, nodeName = "" }: ExistingNode): boolean {
    const node = this.#nodesByName.get(nodeName);
    if (this.#topologyKeys.length === 0 || node === undefined) return false;
    const domainKey = JSON.stringify([
      this.#topologyKeys.map((key) => labels[key] ?? null),
      this.#filterKeys.map((key) => node.labels[key] ?? null),
      node.taints,
    ]);
    if (this.#seen.has(domainKey)) return false;
    this.#seen.add(domainKey);
    return true;
  }
}

/** Labels a node filter reads. (02:X-15) */
function selectedKeys({ nodeSelector = {}, affinity }: PodSpec): readonly string[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return [
    ...Object.keys(nodeSelector),
    ...terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key)),
  ];
}

/** One overfull node for each pool with the capacity of those left out, so that limits count them. (02:H-1) */
function fullNodePlaceholders(full: readonly ExistingNode[]): readonly ExistingNode[] {
  const byPool = new Map<string, Resources[]>();
  for (const { nodePool, capacity } of full) {
    if (nodePool === undefined) continue;
    const known = byPool.get(nodePool);
    if (known === undefined) byPool.set(nodePool, [capacity]);
    else known.push(capacity);
  }
  return [...byPool].map(([nodePool, capacities]) => {
    const name = `(full nodes of ${nodePool})`;
    return {
      name,
      providerId: name,
      hostname: name,
      labels: {},
      taints: [],
      isInitialized: false,
      nodePool,
      capacity: mergeResources(...capacities),
      available: { cpu: Quantity.of(-1) },
      daemonRequests: {},
      hostPorts: [],
      volumes: { attached: new Map(), limits: new Map() },
    };
  });
}
