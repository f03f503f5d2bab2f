import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { KubeObject, ObjectMeta } from "../../api/object.ts";
import type { GroupKind } from "../../api/validation/node-pool.ts";
import type { InstanceType } from "../instance-type.ts";
import { applyOverlays, type OverlayFault } from "../overlay.ts";
import { QuantityReader } from "../pod-requests.ts";
import { ignoredText, podProblems } from "../pod-validation.ts";
import { disruptionBudget, isCurrentlyReschedulable, isProvisionable } from "../provisionable.ts";
import type { Pool, SchedulingPolicy, SchedulingProblem } from "../scheduling/problem.ts";
import type { Refusal } from "../scheduling/refusal.ts";
import { type BufferFault, resolveBuffers } from "./buffers.ts";
import { byName, Cluster } from "./cluster.ts";
import type { NodeClassRef } from "./complete-machines.ts";
import { daemonPods } from "./daemons.ts";
import { existingNode, isLeaving, type Machine, machinesOf, placedNode } from "./nodes.ts";
import { type PoolPass, usablePools } from "./pools.ts";
import { selectorOwners } from "./selector-owners.ts";

export interface ProblemOptions {
  /** What a node class sells. */
  readonly typesFor: (nodeClass: NodeClassRef) => readonly InstanceType[];
  /** Node classes the provider serves. (02:P-33) */
  readonly served: readonly GroupKind[];
  readonly labelPolicy: LabelPolicy;
  readonly policy: SchedulingPolicy;
  readonly seed: number;
  readonly nowMs: number;
  /** Workloads that became pods: what buffers may refer to. */
  readonly workloads?: readonly KubeObject[];
}

/** Something a reader of the result should know, though it is no pod's refusal. */
export type Note =
  | { readonly code: "pool-passed-over"; readonly pool: string; readonly because: PoolPass }
  | { readonly code: "pool-without-types"; readonly pool: string }
  | { readonly code: "overlay-refused"; readonly fault: OverlayFault }
  | { readonly code: "buffer-unresolved"; readonly buffer: ObjectMeta; readonly because: BufferFault }
  | { readonly code: "claim-not-launched"; readonly claim: string };

/** A scheduling problem and what was set aside on the way to it. */
export interface Scenario {
  readonly problem: SchedulingProblem;
  /** Pending pods that do not pass validation. (02 §1.5) */
  readonly ignored: readonly Refusal[];
  readonly notes: readonly Note[];
  /** Types overlays changed: claims of them say so. (02:L-3) */
  readonly overlaid: { readonly priced: ReadonlySet<InstanceType>; readonly enlarged: ReadonlySet<InstanceType> };
}

/** What one provisioning round would be asked over these objects, which are complete. (02:P-30) */
export function problemOf(objects: readonly KubeObject[], options: ProblemOptions): Scenario {
  const cluster = new Cluster(objects);
  const volumes = cluster.volumes();
  const pods = cluster.all("Pod");
  const { labelPolicy, policy, seed } = options;

  const sorted = usablePools(cluster.all("NodePool"), options.served);
  const onSale = sorted.usable.map(
    (nodePool): Pool => ({ nodePool, instanceTypes: options.typesFor(nodePool.spec.template.spec.nodeClassRef) }),
  );
  const overlaid = applyOverlays(onSale, { overlays: cluster.all("NodeOverlay"), policy: labelPolicy });
  const workloads = [...objects, ...(options.workloads ?? [])];
  const buffers = resolveBuffers(cluster.all("CapacityBuffer"), {
    podTemplates: cluster.all("PodTemplate"),
    workloads,
  });

  const machines = servedMachines(cluster, options);
  const world = { volumes, csiNodes: byName(cluster.all("CSINode")), reader: new QuantityReader() };
  const pending = pods.filter(isProvisionable);
  const ignored = refusals(pending, { labelPolicy, volumes });
  const isIgnored = new Set(ignored.map(({ pod }) => pod));

  return {
    problem: {
      pods: [
        ...pending.filter((pod) => !isIgnored.has(pod)),
        ...buffers.pods, // after validation (02:B-6)
        ...podsOnTheMove(machines, cluster, options.nowMs),
      ],
      nodes: machines.filter((machine) => !isLeaving(machine)).map((machine) => existingNode(machine, world)),
      pools: overlaid.pools,
      daemons: daemonPods(cluster.all("DaemonSet"), pods),
      boundPods: pods.filter(({ spec }) => (spec.nodeName ?? "") !== ""),
      nodesByName: new Map(cluster.all("Node").map((node) => [node.metadata.name ?? "", placedNode(node)])),
      namespaces: cluster.all("Namespace"),
      volumes,
      selectorOwners: selectorOwners(workloads),
      policy,
      labelPolicy,
      seed,
    },
    ignored,
    overlaid,
    notes: [
      ...sorted.passedOver.map(({ pool, because }) => poolNote(pool.metadata.name, because)),
      ...onSale.filter(({ instanceTypes }) => instanceTypes.length === 0).map(withoutTypes),
      ...overlaid.faults.map((fault): Note => ({ code: "overlay-refused", fault })),
      ...buffers.faults.map(bufferNote),
      ...unlaunched(cluster),
    ],
  };
}

/** Claims of other providers' classes are none of ours; their Nodes are then unmanaged. (02:S-1) */
function servedMachines(cluster: Cluster, { served }: ProblemOptions): readonly Machine[] {
  const claims = cluster
    .all("NodeClaim")
    .filter(({ spec: { nodeClassRef } }) =>
      served.some(({ group, kind }) => group === nodeClassRef.group && kind === nodeClassRef.kind),
    );
  return machinesOf({ claims, nodes: cluster.all("Node"), pods: cluster.all("Pod") });
}

/** Pods of machines on their way out, as far as they can leave; they are not validated. (02:P-31) */
function podsOnTheMove(machines: readonly Machine[], cluster: Cluster, nowMs: number): readonly Pod[] {
  const leaving = machines.filter((machine) => machine.node !== undefined && isLeaving(machine));
  if (leaving.length === 0) return [];
  const pdbs = cluster.all("PodDisruptionBudget").map(disruptionBudget);
  return leaving.flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, { pdbs, now: nowMs })));
}

function refusals(
  pending: readonly Pod[],
  validation: Pick<SchedulingProblem, "labelPolicy" | "volumes">,
): readonly Refusal[] {
  return pending.flatMap((pod) => {
    const problems = podProblems(pod, validation);
    if (problems.length === 0) return [];
    return [{ pod, code: "invalid-pod", message: ignoredText(problems), pools: [] }];
  });
}

function poolNote(pool: string | undefined, because: PoolPass): Note {
  return { code: "pool-passed-over", pool: pool ?? "", because };
}

function withoutTypes({ nodePool }: Pool): Note {
  return { code: "pool-without-types", pool: nodePool.metadata.name ?? "" };
}

function bufferNote({ buffer, reason }: ReturnType<typeof resolveBuffers>["faults"][number]): Note {
  return { code: "buffer-unresolved", buffer: buffer.metadata as ObjectMeta, because: reason };
}

function unlaunched(cluster: Cluster): readonly Note[] {
  return cluster
    .all("NodeClaim")
    .filter(({ status }) => !status?.providerID)
    .map(({ metadata }) => ({ code: "claim-not-launched", claim: metadata.name ?? "" }));
}
