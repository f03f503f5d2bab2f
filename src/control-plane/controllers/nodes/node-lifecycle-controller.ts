import { isTerminalPod } from "../../../core/pod-predicates.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { Lease } from "../../../kube/lease.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { textAt } from "../../object-fields.ts";
import { type ApiNode, type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import { nodeLeaseNamespace } from "../kubelet/lease-times.ts";
import { sameTaints, taintsFor } from "./node-taints.ts";

/** A node without a heartbeat for this long becomes Unknown. */
const nodeMonitorGraceMs = 40_000;
/** New nodes get longer until their first heartbeat. */
const nodeStartupGraceMs = 60_000;
/** Lower bound between two checks. */
const minMonitorIntervalMs = 1_000;
/** The key for a check of all nodes; not a valid node name. */
const allNodesKey = "*";

/** Marks nodes without heartbeats Unknown and keeps their condition taints. (05:CP-L11) */
export function nodeLifecycleController(): Controller {
  return reconcileController({
    name: "node-controller",
    kinds: [builtInTypes.Pod],
    triggers: [
      triggerOn<ApiNode>(builtInTypes.Node, ({ object, old }) => {
        if (object === undefined) return [];
        const name = object.metadata.name ?? "";
        return old === undefined ? [name, allNodesKey] : [name];
      }),
    ],
    start: ({ view }) => view<ApiPod>(builtInTypes.Pod).addIndex("node", ({ spec }) => spec.nodeName),
    reconcile: (key, context) => (key === allNodesKey ? monitorNodeHealth(context) : reconcileNode(key, context)),
  });
}

/** Checks the heartbeats of all nodes, and again when the next could expire. */
async function monitorNodeHealth({ client, clock, view }: ControllerContext): Promise<RequeueAfter | undefined> {
  const nodes = view<ApiNode>(builtInTypes.Node).all();
  if (nodes.length === 0) return undefined;
  // Listed, not watched: unwatched leases need not be written.
  const { items } = await client.list<Lease>(builtInTypes.Lease, { namespace: nodeLeaseNamespace });
  const renewedAt = new Map(items.map(({ metadata, spec }) => [metadata.name, Date.parse(spec?.renewTime ?? "")]));
  const now = clock.now();
  let next = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const expiresAt = heartbeatDeadline(node, renewedAt.get(node.metadata.name));
    if (expiresAt > now) next = Math.min(next, expiresAt);
    else if (conditionOfType(node, "Ready")?.status !== "Unknown") await markNodeUnknown(node, { client, clock });
  }
  // A node that has recovered must be checked again before its lease can expire.
  return { afterMs: Math.max(minMonitorIntervalMs, Math.min(next - now, nodeMonitorGraceMs)) };
}

function heartbeatDeadline(node: ApiNode, renewedAt: number | undefined): number {
  const heartbeat = Date.parse(textAt(conditionOfType(node, "Ready"), "lastHeartbeatTime"));
  const created = Date.parse(node.metadata.creationTimestamp ?? "");
  const heartbeats = [renewedAt, heartbeat].filter((time): time is number => time !== undefined && !Number.isNaN(time));
  return heartbeats.length === 0 ? created + nodeStartupGraceMs : Math.max(...heartbeats) + nodeMonitorGraceMs;
}

const heartbeatConditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

async function markNodeUnknown(
  node: ApiNode,
  { client, clock }: Pick<ControllerContext, "client" | "clock">,
): Promise<void> {
  const { name = "", uid } = node.metadata;
  const time = rfc3339(clock.now());
  const conditions = heartbeatConditions.map((type) => {
    const before = conditionOfType(node, type);
    const isNew = before === undefined;
    return {
      type,
      status: "Unknown",
      reason: isNew ? "NodeStatusNeverUpdated" : "NodeStatusUnknown",
      message: isNew ? "Kubelet never posted node status." : "Kubelet stopped posting node status.",
      lastTransitionTime: time,
    };
  });
  const patch = { kind: "strategic", body: { metadata: { uid }, status: { conditions } } } as const;
  const patched = client.patch(builtInTypes.Node, { name }, patch, { subresource: "status" });
  await ignoreKubeErrors(patched, "not-found", "conflict");
}

async function reconcileNode(name: string, context: ControllerContext): Promise<undefined> {
  const { client, clock, view } = context;
  const node = view<ApiNode>(builtInTypes.Node).get(name);
  if (node === undefined) return;
  const taints = taintsFor(node, clock.now());
  if (!sameTaints(taints, node.spec?.taints ?? [])) {
    const { resourceVersion } = node.metadata;
    // Taints are replaced as a list: resourceVersion guards against losing another's.
    const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
    await client.patch(builtInTypes.Node, { name }, { kind: "merge", body });
  }
  const ready = conditionOfType(node, "Ready")?.status;
  if (ready === "False" || ready === "Unknown") await markPodsNotReady(name, context);
}

/** Pods on a node that is not ready must not count as ready for Services and disruption budgets. */
async function markPodsNotReady(node: string, { client, clock, view }: ControllerContext): Promise<void> {
  for (const pod of view<ApiPod>(builtInTypes.Pod).byIndex("node", node)) {
    if (isTerminalPod(pod) || conditionOfType(pod, "Ready")?.status !== "True") continue;
    const { name = "", namespace, uid } = pod.metadata;
    const condition = { type: "Ready", status: "False", lastTransitionTime: rfc3339(clock.now()) };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const patch = { kind: "strategic", body } as const;
    const patched = client.patch(builtInTypes.Pod, { name, namespace }, patch, { subresource: "status" });
    await ignoreKubeErrors(patched, "not-found", "conflict");
  }
}
