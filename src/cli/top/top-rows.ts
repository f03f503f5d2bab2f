import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { isTerminalPod } from "../../core/pod-predicates.ts";
import type { PriceSource } from "../../core/price-source.ts";
import { Quantity } from "../../util/quantity.ts";
import { readNodeLabels } from "./node-labels.ts";
import type { NodePriceOf } from "./node-prices.ts";
import { addAmounts, noAmounts, type PodUse, type ShownAmounts } from "./pod-use.ts";

/** The objects a table of nodes is made from. */
export interface TopCluster {
  readonly nodes: readonly Node[];
  readonly claims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
}

export type TopStatus = "Ready" | "NotReady" | "Cordoned" | "Deleting" | "Launching" | "Joining";

/** One node, or a NodeClaim whose Node has not joined yet. */
export interface TopRow {
  readonly name: string;
  readonly nodeClaim?: string | undefined;
  /** Its NodePool, or the node group of another autoscaler. */
  readonly pool?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly capacityType?: string | undefined;
  readonly zone?: string | undefined;
  readonly status: TopStatus;
  readonly createdMs?: number | undefined;
  readonly pods: number;
  /** How many pods it may have, if that is known. */
  readonly maxPods?: number | undefined;
  /** What its pods request. */
  readonly requested: ShownAmounts;
  readonly allocatable: ShownAmounts;
  /** Dollars, if known. */
  readonly pricePerHour?: number | undefined;
  readonly priceSource?: PriceSource | undefined;
  /** Why it stays or would go, if that was found out. */
  readonly reason?: TopReason | undefined;
}

export interface TopReason {
  readonly goes: boolean;
  readonly text: string;
}

export interface TopRowsOptions {
  readonly priceOf: NodePriceOf;
  readonly use: PodUse;
  /** By name of the node. */
  readonly reasons: ReadonlyMap<string, TopReason>;
}

/** A row for each node, and for each claim that has no node, by name. */
export function topRows(cluster: TopCluster, options: TopRowsOptions): readonly TopRow[] {
  const claims = new ClaimIndex(cluster.claims);
  const podsByNode = countPods(cluster.pods, options.use);
  const ofNodes = cluster.nodes.map((node) => topRow({ node, claim: claims.take(node) }, podsByNode, options));
  const ofClaims = claims.left().map((claim) => topRow({ claim }, podsByNode, options));
  return [...ofNodes, ...ofClaims].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Pods that no node has yet and that are not over. */
export function pendingPodCount(pods: readonly Pod[]): number {
  return pods.filter((pod) => (pod.spec.nodeName ?? "") === "" && !isTerminalPod(pod)).length;
}

interface TopSource {
  readonly node?: Node | undefined;
  readonly claim?: NodeClaim | undefined;
}

interface PodsOnNode {
  readonly count: number;
  readonly requested: ShownAmounts;
}

function topRow(
  { node, claim }: TopSource,
  podsByNode: ReadonlyMap<string, PodsOnNode>,
  { priceOf, use, reasons }: TopRowsOptions,
): TopRow {
  const name = node?.metadata.name ?? claim?.metadata.name ?? "";
  // A Node that is not registered yet lacks labels its claim has.
  const written = { ...claim?.metadata.labels, ...node?.metadata.labels };
  const known = readNodeLabels(written);
  const { pool, instanceType, zone, capacityType } = known;
  const on = podsByNode.get(node?.metadata.name ?? "");
  const allocatable = node?.status?.allocatable ?? claim?.status?.allocatable;
  const created = Date.parse(node?.metadata.creationTimestamp ?? claim?.metadata.creationTimestamp ?? "");
  const maxPods = Quantity.tryParse(allocatable?.[resources.pods] ?? "")?.toNumber();
  const price = priceOf({ ...known, labels: written });
  return {
    name,
    nodeClaim: claim?.metadata.name,
    ...{ pool, instanceType, zone, capacityType },
    status: statusOf({ node, claim }),
    createdMs: Number.isNaN(created) ? undefined : created,
    pods: on?.count ?? 0,
    maxPods,
    requested: on?.requested ?? noAmounts,
    allocatable: use.ofList(allocatable),
    pricePerHour: price?.perHour,
    priceSource: price?.source,
    reason: reasons.get(name),
  };
}

function statusOf({ node, claim }: TopSource): TopStatus {
  const isDeleting = (node ?? claim)?.metadata.deletionTimestamp ?? claim?.metadata.deletionTimestamp;
  if (isDeleting !== undefined) return "Deleting";
  if (node === undefined) {
    return claim !== undefined && isStatusConditionTrue(claim as Conditioned, "Launched") ? "Joining" : "Launching";
  }
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") return "NotReady";
  return node.spec?.unschedulable === true ? "Cordoned" : "Ready";
}

function countPods(pods: readonly Pod[], use: PodUse): ReadonlyMap<string, PodsOnNode> {
  const found = new Map<string, PodsOnNode>();
  for (const pod of pods) {
    const { nodeName = "" } = pod.spec;
    if (nodeName === "" || isTerminalPod(pod)) continue;
    const { count, requested } = found.get(nodeName) ?? { count: 0, requested: noAmounts };
    found.set(nodeName, { count: count + 1, requested: addAmounts(requested, use.of(pod)) });
  }
  return found;
}

/** Finds the claim of a Node by provider id, by the name in its status, or by its own name. */
class ClaimIndex {
  readonly #byKey = new Map<string, NodeClaim>();
  readonly #left: Set<NodeClaim>;

  constructor(claims: readonly NodeClaim[]) {
    this.#left = new Set(claims);
    for (const claim of claims) {
      const { providerID = "", nodeName = "" } = claim.status ?? {};
      if (providerID !== "") this.#byKey.set(`id ${providerID}`, claim);
      for (const name of [claim.metadata.name ?? "", nodeName]) {
        if (name !== "") this.#byKey.set(`name ${name}`, claim);
      }
    }
  }

  take({ metadata, spec }: Node): NodeClaim | undefined {
    const found = this.#byKey.get(`id ${spec?.providerID ?? ""}`) ?? this.#byKey.get(`name ${metadata.name ?? ""}`);
    if (found !== undefined) this.#left.delete(found);
    return found;
  }

  left(): readonly NodeClaim[] {
    return [...this.#left];
  }
}
