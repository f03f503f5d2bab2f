import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isActivePod, isMirrorPod, isOwnedByDaemonSet } from "../../core/pod-predicates.ts";
import type { PriceSource } from "../../core/price-source.ts";
import { mergeResources, type Resources } from "../../core/resources.ts";
import type { ExistingNode } from "../../core/scheduling/problem.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { Quantity } from "../../util/quantity.ts";
import type { Plan } from "../plan/make-plan.ts";
import { planNotes } from "../plan/notes.ts";
import { type ReportedNode, reportedNode } from "../plan/plan-report.ts";
import { servedNodeClasses } from "../plan/provider-catalogue.ts";
import { readNodeLabels } from "../top/node-labels.ts";
import { nodePrices, typesByName } from "../top/node-prices.ts";

/** A cluster as it is once a plan is carried out. */
export interface ClusterPicture {
  /** Nodes that exist and stay, by name. */
  readonly existing: ReadonlyMap<string, PicturedNode>;
  readonly planned: readonly PicturedNode[];
  /** Where each pod is or would be, by namespace/name; DaemonSet and static pods are left out. */
  readonly places: ReadonlyMap<string, PodPlace>;
  readonly pools: ReadonlyMap<string, PicturedPool>;
  readonly notes: readonly string[];
}

export interface PicturedNode {
  /** Of a node that exists. */
  readonly name?: string | undefined;
  readonly nodePool?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly capacityType?: string | undefined;
  readonly zones: readonly string[];
  /** Dollars an hour, if known. */
  readonly price?: number | undefined;
  /** Where that price comes from, if it is of a catalogue. */
  readonly priceSource?: PriceSource | undefined;
  readonly pods: readonly string[];
}

export type PodPlace =
  | { readonly kind: "node"; readonly node: string }
  | { readonly kind: "planned"; readonly node: PicturedNode }
  | { readonly kind: "refused"; readonly message: string }
  /** Neither placed nor refused: it is not a scheduler's turn yet, or it ends with its node. */
  | { readonly kind: "none" };

interface PicturedPool {
  readonly limits: Resources;
  readonly used: Resources;
}

export function clusterPicture(plan: Plan): ClusterPicture {
  const planned = plannedNodes(plan);
  const places = podPlaces(plan, planned);
  return {
    existing: existingNodes(plan, places),
    planned: planned.map(({ node }) => node),
    places,
    pools: picturedPools(plan),
    notes: planNotes(plan),
  };
}

interface PlannedPair {
  readonly node: PicturedNode;
  readonly pods: readonly Pod[];
}

function plannedNodes({ decision, catalogue }: Plan): readonly PlannedPair[] {
  return decision.newNodes.map((node) => {
    const { nodePool, instanceType, capacityType, zones, price, priceSource, pods }: ReportedNode = reportedNode(
      node,
      catalogue.labelPolicy,
    );
    return { node: { nodePool, instanceType, capacityType, zones, price, priceSource, pods }, pods: node.pods };
  });
}

function podPlaces({ objects, decision, scenario }: Plan, planned: readonly PlannedPair[]): Map<string, PodPlace> {
  const places = new Map<string, PodPlace>();
  const staying = new Map(scenario.problem.nodes.map(({ name, nodeName = name }) => [nodeName, name]));
  const put = (pods: readonly Pod[], place: PodPlace): void => {
    for (const { metadata } of pods) places.set(namespacedName(metadata), place);
  };
  for (const pod of new ObjectsByKind(objects).ofKind("Pod")) {
    if (!isActivePod(pod) || isOwnedByDaemonSet(pod) || isMirrorPod(pod)) continue;
    const node = staying.get(pod.spec.nodeName ?? "");
    put([pod], node === undefined ? { kind: "none" } : { kind: "node", node });
  }
  for (const { node, pods } of decision.placements) put(pods, { kind: "node", node });
  for (const { node, pods } of planned) put(pods, { kind: "planned", node });
  for (const { pod, message } of [...scenario.ignored, ...decision.refusals]) put([pod], { kind: "refused", message });
  return places;
}

function existingNodes(
  { scenario: { problem }, catalogue }: Plan,
  places: ReadonlyMap<string, PodPlace>,
): ReadonlyMap<string, PicturedNode> {
  const pods = new Map<string, string[]>();
  for (const [pod, place] of places) {
    if (place.kind !== "node") continue;
    const known = pods.get(place.node);
    if (known === undefined) pods.set(place.node, [pod]);
    else known.push(pod);
  }
  const pools = problem.pools.map(
    ({ nodePool, instanceTypes }) => [nodePool.metadata.name ?? "", typesByName(instanceTypes)] as const,
  );
  const defaults = typesByName(catalogue.typesFor({ ...servedNodeClasses[catalogue.provider], name: "" }));
  const priceOf = nodePrices({ pools: new Map(pools), others: [defaults] });
  return new Map(
    problem.nodes.map((node) => [node.name, { ...existingNode(node, priceOf), pods: pods.get(node.name) ?? [] }]),
  );
}

function existingNode(
  { name, nodePool, labels }: ExistingNode,
  priceOf: ReturnType<typeof nodePrices>,
): Omit<PicturedNode, "pods"> {
  const known = readNodeLabels(labels);
  const { instanceType, capacityType, zone } = known;
  const { perHour: price, source: priceSource } = priceOf({ ...known, labels }) ?? {};
  const zones = zone === undefined ? [] : [zone];
  return { name, nodePool: nodePool ?? known.pool, instanceType, capacityType, zones, price, priceSource };
}

/** Limits of pools, and what counts against them: the capacity of their nodes. */
function picturedPools({ objects, scenario, decision }: Plan): ReadonlyMap<string, PicturedPool> {
  const used = new Map<string, Resources[]>();
  const add = (pool: string | undefined, capacity: Resources): void => {
    if (pool === undefined) return;
    const known = used.get(pool);
    if (known === undefined) used.set(pool, [capacity]);
    else known.push(capacity);
  };
  for (const { nodePool, capacity } of scenario.problem.nodes) add(nodePool, capacity);
  for (const { pool, instanceTypes } of decision.newNodes) {
    add(pool, { ...(instanceTypes[0]?.capacity ?? {}), nodes: Quantity.of(1) });
  }
  return new Map(
    new ObjectsByKind(objects).ofKind("NodePool").map(({ metadata, spec }) => {
      const { name = "" } = metadata;
      const limits = Object.entries(spec.limits ?? {}).flatMap(([resource, written]) => {
        const limit = Quantity.tryParse(written);
        return limit === undefined ? [] : [[resource, limit] as const];
      });
      return [name, { limits: Object.fromEntries(limits), used: mergeResources(...(used.get(name) ?? [])) }];
    }),
  );
}
