import { isKubeError } from "../../../../kube/error.ts";
import type { Lease } from "../../../../kube/lease.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { rfc3339 } from "../../../api/times.ts";
import { textAt } from "../../../kinds/draft.ts";
import { leaseNamespace } from "../kubelet/leases.ts";
import { conditionOf, isFinished, type LiveNode, type LivePod } from "../live.ts";
import { sameTaints, taintsFor } from "./node-taints.ts";

/** A kubelet not heard of for so long is not there. */
const graceMs = 40_000;
/** Young nodes get more time before their first word. */
const startupGraceMs = 60_000;
/** Not more often, however many nodes are about to be late. */
const minSweepMs = 1_000;
/** Not a name a node could have. */
const everyNode = "*";

/** Notices nodes that fell silent, and shows by taints how nodes are. (05:CP-L11) */
export function nodeLifecycleLoop(): Loop {
  return reconcileLoop({
    name: "node-controller",
    kinds: [builtIn.Pod],
    triggers: [
      on<LiveNode>(builtIn.Node, ({ object, old }) => {
        if (object === undefined) return [];
        const name = object.metadata.name ?? "";
        return old === undefined ? [name, everyNode] : [name];
      }),
    ],
    prepare: ({ view }) => view<LivePod>(builtIn.Pod).index("node", ({ spec }) => spec.nodeName),
    reconcile: (key, world) => (key === everyNode ? sweep(world) : lookAt(key, world)),
  });
}

/** Looks for silence, once for all nodes and again when the next could have been silent for too long. */
async function sweep({ client, clock, view }: LoopWorld): Promise<LookAgain | undefined> {
  const nodes = view<LiveNode>(builtIn.Node).all();
  if (nodes.length === 0) return undefined;
  // Listed, not watched: as long as nobody watches them, leases of healthy kubelets need not be written.
  const { items } = await client.list<Lease>(builtIn.Lease, { namespace: leaseNamespace });
  const renewedAt = new Map(items.map(({ metadata, spec }) => [metadata.name, Date.parse(spec?.renewTime ?? "")]));
  const now = clock.now();
  let next = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const expiresAt = silentAt(node, renewedAt.get(node.metadata.name));
    if (expiresAt > now) next = Math.min(next, expiresAt);
    else if (conditionOf(node, "Ready")?.status !== "Unknown") await markUnknown(node, { client, clock });
  }
  // A node that is back renews its lease again, and must be looked at before it can be late.
  return { afterMs: Math.max(minSweepMs, Math.min(next - now, graceMs)) };
}

function silentAt(node: LiveNode, renewedAt: number | undefined): number {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  const heartbeat = Date.parse(textAt(ready, "lastHeartbeatTime"));
  const created = Date.parse(node.metadata.creationTimestamp ?? "");
  const heard = [renewedAt, heartbeat].filter((time): time is number => time !== undefined && !Number.isNaN(time));
  return heard.length === 0 ? created + startupGraceMs : Math.max(...heard) + graceMs;
}

const reported = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

async function markUnknown(node: LiveNode, { client, clock }: Pick<LoopWorld, "client" | "clock">): Promise<void> {
  const { name = "", uid } = node.metadata;
  const time = rfc3339(clock.now());
  const conditions = reported.map((type) => {
    const before = conditionOf(node, type);
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
  try {
    await client.patch(builtIn.Node, { name }, patch, { subresource: "status" });
  } catch (error) {
    if (!isKubeError(error, "not-found", "conflict")) throw error;
  }
}

async function lookAt(name: string, world: LoopWorld): Promise<undefined> {
  const { client, clock, view } = world;
  const node = view<LiveNode>(builtIn.Node).get(name);
  if (node === undefined) return;
  const taints = taintsFor(node, clock.now());
  if (!sameTaints(taints, node.spec?.taints ?? [])) {
    const { resourceVersion } = node.metadata;
    // The list is replaced whole: nobody else's taint may get lost.
    const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
    await client.patch(builtIn.Node, { name }, { kind: "merge", body });
  }
  const ready = conditionOf(node, "Ready")?.status;
  if (ready === "False" || ready === "Unknown") await markPodsUnready(name, world);
}

/** Pods of a node that is not ready must not be counted on: not by Services, not by disruption budgets. */
async function markPodsUnready(node: string, { client, clock, view }: LoopWorld): Promise<void> {
  for (const pod of view<LivePod>(builtIn.Pod).by("node", node)) {
    if (isFinished(pod) || conditionOf(pod, "Ready")?.status !== "True") continue;
    const { name = "", namespace, uid } = pod.metadata;
    const condition = { type: "Ready", status: "False", lastTransitionTime: rfc3339(clock.now()) };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      await client.patch(builtIn.Pod, { name, namespace }, { kind: "strategic", body }, { subresource: "status" });
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) throw error;
    }
  }
}
