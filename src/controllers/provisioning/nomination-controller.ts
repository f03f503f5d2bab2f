import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { namespacedName } from "../../api/object.ts";
import { isOwnNomination } from "../../core/nominations.ts";
import { isActivePod, isProvisionable } from "../../core/pod-predicates.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { isNodeReady, type NodeKubeObject, nodeView } from "../node-claim/claim-lookups.ts";
import { hasUnregisteredTaint } from "../node-claim/node-sync.ts";
import { requeueOnConflict } from "../writes.ts";
import { writeNomination } from "./nominate-pods.ts";

const concurrency = 50;
/**
 * The scheduler clears the nomination of a pod that fits nowhere. It is written again this often, until the Node's taints
 * change: if the scheduler still refuses, the plan was wrong, and the room must not be kept for the pod.
 */
const maxWritesForNode = 3;
/**
 * The scheduler tries a new Node for all pods that wait, and clears what is nominated to it as long as it is not ready. So
 * nominations are written this long after the Node joined or they were cleared, and only a few times: for each that
 * it clears, the scheduler tries all other pods again. (02:L-41)
 */
const notReadySettleMs = 250;
const maxWritesBeforeReady = 2;
const nominatedIndex = "nominated-node";

/** The writes of a pod's nomination to one Node in one state, and when the next is due. */
interface NominationWrites {
  readonly node: string;
  readonly count: number;
  readonly dueMs?: number | undefined;
}

type WritesByPod = Map<string, NominationWrites>;

/** Keeps nominations true: pods are nominated to the Node they are planned on, and nowhere else. (02 §6.5) */
export function nominationController(dependencies: ControllerDependencies): Controller {
  const { plannedPods } = dependencies.cluster;
  return karpenterController<WritesByPod>(dependencies, {
    name: "pod.nomination",
    triggers: [
      triggerOn<PodKubeObject>(builtInTypes.Pod, podsToCheck),
      triggerOn<NodeKubeObject>(builtInTypes.Node, (change, context) => podsOfNodeChange(change, context)),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ({ object, old }) =>
        plannedPods.podsOf((object ?? old)?.metadata.name ?? ""),
      ),
    ],
    reads: [{ of: "cluster state", because: "planned pods announce their changes; Nodes and claims wake it" }],
    concurrency,
    start: (context) => {
      podView(context).addIndex(nominatedIndex, nominatedNodeOf);
      return new Map();
    },
    subscribe: (enqueue) => plannedPods.subscribe(enqueue),
    reconcile: requeueOnConflict(checkNomination),
  });

  /** Pods whose nomination changed, and those we nominated before this process started. */
  function podsToCheck({ object, old }: ObjectChange<PodKubeObject>): readonly string[] {
    const key = namespacedName((object ?? old).metadata);
    if (object === undefined) return [key];
    const isSame = old?.status?.nominatedNodeName === object.status?.nominatedNodeName;
    if (isSame && old?.spec.nodeName === object.spec.nodeName) return [];
    return isOwnNomination(object) || plannedPods.isDecided(key) ? [key] : [];
  }

  /** The pods that are planned on a Node or nominated to it, unless only its heartbeat changed. */
  function podsOfNodeChange(
    { object, old }: ObjectChange<NodeKubeObject>,
    context: Pick<KarpenterContext, "view"> & Parameters<typeof podView>[0],
  ): readonly string[] {
    if (object !== undefined && old !== undefined && schedulingStateOf(object) === schedulingStateOf(old)) return [];
    const { name = "" } = (object ?? old).metadata;
    const claim = dependencies.cluster.nodeByName(name)?.claim?.metadata.name;
    const nominated = podView(context)
      .byIndex(nominatedIndex, name)
      .map(({ metadata }) => namespacedName(metadata));
    return [...(claim === undefined ? [] : plannedPods.podsOf(claim)), ...nominated];
  }
}

async function checkNomination(key: string, context: KarpenterContext, writes: WritesByPod): Promise<ReconcileResult> {
  const pod = podView(context).get(key);
  if (pod === undefined || (pod.spec.nodeName ?? "") !== "") {
    writes.delete(key);
    return undefined;
  }
  const expected = expectedNode(key, pod, context);
  if (pod.status?.nominatedNodeName && pod.status.nominatedNodeName === expected) return undefined;
  const node = expected === undefined ? undefined : nodeView(context).get(expected);
  // What we wrote no longer holds; the pod is nominated anew only where it can go at once.
  if (isOwnNomination(pod)) await writeNomination(pod, node && isOpen(node) ? expected : undefined, context);
  else if (node !== undefined && isProvisionable(pod) && isActivePod(pod))
    return nominateTo(node, { pod, writes }, context);
  return undefined;
}

/** Registration nominates pods to a Node that joins ready before it removes the taint. It wakes us again, and so does the Ready condition. */
async function nominateTo(
  node: NodeKubeObject,
  { pod, writes }: { readonly pod: PodKubeObject; readonly writes: WritesByPod },
  context: KarpenterContext,
): Promise<ReconcileResult> {
  if (hasUnregisteredTaint(node)) return undefined;
  const isReady = isNodeReady(node);
  const key = namespacedName(pod.metadata);
  const known = writesTo(node, writes.get(key));
  if (known.count >= (isReady ? maxWritesForNode : maxWritesBeforeReady)) return undefined;
  const nowMs = context.clock.now();
  const dueMs = known.dueMs ?? nowMs + (isReady ? 0 : notReadySettleMs);
  const isDue = dueMs <= nowMs;
  writes.set(key, isDue ? { node: known.node, count: known.count + 1 } : { ...known, dueMs });
  if (!isDue) return { afterMs: dueMs - nowMs };
  await writeNomination(pod, node.metadata.name, context);
  return undefined;
}

function isOpen(node: NodeKubeObject): boolean {
  return !hasUnregisteredTaint(node) && isNodeReady(node);
}

/** The Node the pod is planned on, once it has joined. Before the first round of a process, the one it is nominated to. (02:L-43) */
function expectedNode(key: string, pod: PodKubeObject, context: KarpenterContext): string | undefined {
  const { cluster } = context;
  if (!context.nominatesPods()) return undefined;
  const claim = cluster.plannedPods.claimOf(key);
  if (claim !== undefined) return joinedName(cluster.nodeByClaimName(claim));
  if (cluster.plannedPods.isDecided(key)) return undefined;
  return joinedName(cluster.nodeByName(nominatedNodeOf(pod) ?? ""));
}

function joinedName(node: StateNode | undefined): string | undefined {
  return node === undefined || node.isBeingDeleted ? undefined : node.node?.metadata.name;
}

function nominatedNodeOf(pod: PodKubeObject): string | undefined {
  return isOwnNomination(pod) ? pod.status?.nominatedNodeName : undefined;
}

/** What is known of the writes to the Node in its present state. As long as it is not ready, its taints do not matter. */
function writesTo(node: NodeKubeObject, before: NominationWrites | undefined): NominationWrites {
  const state = `${node.metadata.uid} ${isNodeReady(node) ? schedulingStateOf(node) : "not ready"}`;
  return before?.node === state ? before : { node: state, count: 0 };
}

/** What decides whether pods can be scheduled to it. */
function schedulingStateOf(node: Node & { readonly metadata: NodeKubeObject["metadata"] }): string {
  const { metadata, spec } = node;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  return JSON.stringify([isLeaving, isNodeReady(node), spec?.unschedulable ?? false, spec?.taints ?? []]);
}
