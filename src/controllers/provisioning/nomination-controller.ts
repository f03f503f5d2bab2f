import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { namespacedName } from "../../api/object.ts";
import { isOwnNomination } from "../../core/nominations.ts";
import { isActivePod, isProvisionable } from "../../core/pod-predicates.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { isNodeReady, type NodeKubeObject, nodeView } from "../node-claim/claim-lookups.ts";
import { requeueOnConflict } from "../writes.ts";
import { writeNomination } from "./nominate-pods.ts";

const concurrency = 50;
/**
 * The scheduler clears the nomination of a pod that fits nowhere. It is written again this often, until the Node's taints
 * change: if the scheduler still refuses, the plan was wrong, and the room must not be kept for the pod.
 */
const maxWritesForNode = 3;
const nominatedIndex = "nominated-node";

/** The writes of a pod's nomination to one Node in one state. */
interface NominationWrites {
  readonly node: string;
  readonly count: number;
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
    reconcile: requeueOnConflict(async (key: string, context: KarpenterContext, writes: WritesByPod) => {
      await checkNomination(key, writes, context);
      return undefined;
    }),
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

async function checkNomination(key: string, writes: WritesByPod, context: KarpenterContext): Promise<void> {
  const pod = podView(context).get(key);
  if (pod === undefined || (pod.spec.nodeName ?? "") !== "") {
    writes.delete(key);
    return;
  }
  const expected = expectedNode(key, pod, context);
  if (pod.status?.nominatedNodeName && pod.status.nominatedNodeName === expected) return;
  if (isOwnNomination(pod)) return replaceNomination(pod, expected, context);
  if (expected === undefined || !isProvisionable(pod) || !isActivePod(pod)) return;
  const node = nodeView(context).get(expected);
  if (node === undefined || !isNodeReady(node)) return; // its Ready condition wakes us
  if (!countWrite(key, node, writes)) return;
  await writeNomination(pod, expected, context);
}

/** What we wrote no longer holds; the pod is nominated anew only where it can go at once. */
async function replaceNomination(
  pod: PodKubeObject,
  expected: string | undefined,
  context: KarpenterContext,
): Promise<void> {
  const node = expected === undefined ? undefined : nodeView(context).get(expected);
  await writeNomination(pod, node !== undefined && isNodeReady(node) ? expected : undefined, context);
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

/** Whether the pod may be nominated to the Node in its present state once more. */
function countWrite(key: string, node: NodeKubeObject, writes: WritesByPod): boolean {
  const state = `${node.metadata.uid} ${schedulingStateOf(node)}`;
  const before = writes.get(key);
  const count = before?.node === state ? before.count + 1 : 1;
  writes.set(key, { node: state, count });
  return count <= maxWritesForNode;
}

/** What decides whether pods can be scheduled to it. */
function schedulingStateOf(node: Node & { readonly metadata: NodeKubeObject["metadata"] }): string {
  const { metadata, spec } = node;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  return JSON.stringify([isLeaving, isNodeReady(node), spec?.unschedulable ?? false, spec?.taints ?? []]);
}
