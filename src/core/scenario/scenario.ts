import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { KubeObject, ObjectMeta } from "../../api/object.ts";
import type { GroupKind } from "../../api/validation/node-pool.ts";
import type { InstanceType } from "../instance-type.ts";
import { applyOverlays, type OverlayFault } from "../overlay.ts";
import { compilePdb, isCurrentlyReschedulable, isProvisionable } from "../pod-predicates.ts";
import { QuantityReader } from "../pod-requests.ts";
import { ignoredPodText, podProblems } from "../pod-validation.ts";
import type { Pool, SchedulingPolicy, SchedulingProblem } from "../scheduling/problem.ts";
import type { Refusal } from "../scheduling/refusal.ts";
import type { NodeClassRef } from "./complete-nodes.ts";
import { daemonPods } from "./daemon-pods.ts";
import { ObjectsByKind, objectsByName } from "./objects-by-kind.ts";
import { existingNodeOf, isNodeBeingDeleted, type PairedNode, pairNodes, placedNodeOf } from "./paired-node.ts";
import { type BufferFault, resolveBuffers } from "./resolve-buffers.ts";
import { selectorOwners } from "./selector-owners.ts";
import { selectUsablePools, type UnusablePoolReason } from "./usable-pools.ts";

export interface ScenarioOptions {
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
export type ScenarioNote =
  | { readonly code: "pool-passed-over"; readonly pool: string; readonly because: UnusablePoolReason }
  | { readonly code: "pool-without-types"; readonly pool: string }
  | { readonly code: "overlay-refused"; readonly fault: OverlayFault }
  | { readonly code: "buffer-unresolved"; readonly buffer: ObjectMeta; readonly because: BufferFault }
  | { readonly code: "claim-not-launched"; readonly claim: string };

/** A scheduling problem and what was set aside on the way to it. */
export interface Scenario {
  readonly problem: SchedulingProblem;
  /** Pending pods that do not pass validation. (02 §1.5) */
  readonly ignored: readonly Refusal[];
  readonly notes: readonly ScenarioNote[];
  /** Types overlays changed: claims of them say so. (02:L-3) */
  readonly overlaid: { readonly priced: ReadonlySet<InstanceType>; readonly enlarged: ReadonlySet<InstanceType> };
}

/** What one provisioning round would be asked over these objects, which are complete. (02:P-30) */
export function scenarioOf(objects: readonly KubeObject[], options: ScenarioOptions): Scenario {
  const cluster = new ObjectsByKind(objects);
  const volumes = cluster.volumeIndex();
  const pods = cluster.ofKind("Pod");
  const { labelPolicy, policy, seed } = options;

  const sorted = selectUsablePools(cluster.ofKind("NodePool"), options.served);
  const poolsWithTypes = sorted.usable.map(
    (nodePool): Pool => ({ nodePool, instanceTypes: options.typesFor(nodePool.spec.template.spec.nodeClassRef) }),
  );
  const overlaid = applyOverlays(poolsWithTypes, { overlays: cluster.ofKind("NodeOverlay"), policy: labelPolicy });
  const workloads = [...objects, ...(options.workloads ?? [])];
  const buffers = resolveBuffers(cluster.ofKind("CapacityBuffer"), {
    podTemplates: cluster.ofKind("PodTemplate"),
    workloads,
  });

  const nodes = servedNodes(cluster, options);
  const context = { volumes, csiNodes: objectsByName(cluster.ofKind("CSINode")), reader: new QuantityReader() };
  const pending = pods.filter(isProvisionable);
  const ignored = invalidPodRefusals(pending, { labelPolicy, volumes });
  const isIgnored = new Set(ignored.map(({ pod }) => pod));

  return {
    problem: {
      pods: [
        ...pending.filter((pod) => !isIgnored.has(pod)),
        ...buffers.pods, // after validation (02:B-6)
        ...reschedulablePods(nodes, cluster, options.nowMs),
      ],
      nodes: nodes.filter((paired) => !isNodeBeingDeleted(paired)).map((paired) => existingNodeOf(paired, context)),
      pools: overlaid.pools,
      daemons: daemonPods(cluster.ofKind("DaemonSet"), pods),
      boundPods: pods.filter(({ spec }) => (spec.nodeName ?? "") !== ""),
      nodesByName: new Map(cluster.ofKind("Node").map((node) => [node.metadata.name ?? "", placedNodeOf(node)])),
      namespaces: cluster.ofKind("Namespace"),
      volumes,
      selectorOwners: selectorOwners(workloads),
      policy,
      labelPolicy,
      seed,
    },
    ignored,
    overlaid,
    notes: [
      ...sorted.unusable.map(({ pool, because }) => poolNote(pool.metadata.name, because)),
      ...poolsWithTypes.filter(({ instanceTypes }) => instanceTypes.length === 0).map(poolWithoutTypesNote),
      ...overlaid.faults.map((fault): ScenarioNote => ({ code: "overlay-refused", fault })),
      ...buffers.faults.map(bufferNote),
      ...unlaunchedClaimNotes(cluster),
    ],
  };
}

/** Claims of other providers' classes are none of ours; their Nodes are then unmanaged. (02:S-1) */
function servedNodes(cluster: ObjectsByKind, { served }: ScenarioOptions): readonly PairedNode[] {
  const claims = cluster
    .ofKind("NodeClaim")
    .filter(({ spec: { nodeClassRef } }) =>
      served.some(({ group, kind }) => group === nodeClassRef.group && kind === nodeClassRef.kind),
    );
  return pairNodes({ claims, nodes: cluster.ofKind("Node"), pods: cluster.ofKind("Pod") });
}

/** Pods of machines on their way out, as far as they can leave; they are not validated. (02:P-31) */
function reschedulablePods(nodes: readonly PairedNode[], cluster: ObjectsByKind, nowMs: number): readonly Pod[] {
  const leaving = nodes.filter((paired) => paired.node !== undefined && isNodeBeingDeleted(paired));
  if (leaving.length === 0) return [];
  const pdbs = cluster.ofKind("PodDisruptionBudget").map(compilePdb);
  return leaving.flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, { pdbs, nowMs })));
}

function invalidPodRefusals(
  pending: readonly Pod[],
  validation: Pick<SchedulingProblem, "labelPolicy" | "volumes">,
): readonly Refusal[] {
  return pending.flatMap((pod) => {
    const problems = podProblems(pod, validation);
    if (problems.length === 0) return [];
    return [{ pod, code: "invalid-pod", message: ignoredPodText(problems), pools: [] }];
  });
}

function poolNote(pool: string | undefined, because: UnusablePoolReason): ScenarioNote {
  return { code: "pool-passed-over", pool: pool ?? "", because };
}

function poolWithoutTypesNote({ nodePool }: Pool): ScenarioNote {
  return { code: "pool-without-types", pool: nodePool.metadata.name ?? "" };
}

function bufferNote({ buffer, reason }: ReturnType<typeof resolveBuffers>["faults"][number]): ScenarioNote {
  return { code: "buffer-unresolved", buffer: buffer.metadata as ObjectMeta, because: reason };
}

function unlaunchedClaimNotes(cluster: ObjectsByKind): readonly ScenarioNote[] {
  return cluster
    .ofKind("NodeClaim")
    .filter(({ status }) => !status?.providerID)
    .map(({ metadata }) => ({ code: "claim-not-launched", claim: metadata.name ?? "" }));
}
