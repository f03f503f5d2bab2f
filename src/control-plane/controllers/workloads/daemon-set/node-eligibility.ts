import type { PodTemplateSpec } from "../../../../api/kubernetes/cluster-objects.ts";
import type { Toleration } from "../../../../api/kubernetes/pod.ts";
import { firstUntoleratedTaint } from "../../../../core/tolerations.ts";
import type { ApiNode, ApiPod } from "../../api-pod-and-node.ts";
import { requiredNodeTest } from "../../node-selector.ts";

/** Whether a DaemonSet should run a pod on a node, and whether one that is there should continue to run. */
export interface NodeEligibility {
  readonly shouldRun: boolean;
  readonly shouldContinueRunning: boolean;
}

const toleratedNoExecuteTaints = ["not-ready:NoExecute", "unreachable:NoExecute"];
const toleratedNoScheduleTaints = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map(
  (one) => `${one}:NoSchedule`,
);

/** Tolerations every daemon pod gets in addition to its template's, so that daemons keep running on unhealthy nodes. (05:CP-L4) */
function daemonTolerations({ spec }: PodTemplateSpec): readonly Toleration[] {
  const added = [
    ...toleratedNoExecuteTaints,
    ...toleratedNoScheduleTaints,
    ...(spec.hostNetwork === true ? ["network-unavailable:NoSchedule"] : []),
  ];
  return added.map((taint) => {
    const [name = "", effect = ""] = taint.split(":");
    return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect };
  });
}

/** The template's tolerations, and the daemon tolerations it lacks. */
export function withDaemonTolerations(template: PodTemplateSpec): readonly Toleration[] {
  const own = template.spec.tolerations ?? [];
  const isThere = ({ key, operator, effect }: Toleration) =>
    own.some((one) => one.key === key && one.operator === operator && one.effect === effect);
  return [...own, ...daemonTolerations(template).filter((one) => !isThere(one))];
}

/** By name, selector, required affinity and taints; free capacity and cordons do not matter here. */
export function nodeEligibility(template: PodTemplateSpec): (node: ApiNode) => NodeEligibility {
  const wanted = requiredNodeTest(template.spec);
  const tolerations = withDaemonTolerations(template);
  const { nodeName = "" } = template.spec;
  return ({ metadata: { name = "", labels = {} }, spec }) => {
    const matchesNode = (nodeName === "" || nodeName === name) && (wanted?.({ name, labels }) ?? true);
    if (!matchesNode) return { shouldRun: false, shouldContinueRunning: false };
    const hardTaints = (spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
    const noExecuteTaints = hardTaints.filter(({ effect }) => effect === "NoExecute");
    return {
      shouldRun: firstUntoleratedTaint(tolerations, hardTaints) === undefined,
      shouldContinueRunning: firstUntoleratedTaint(tolerations, noExecuteTaints) === undefined,
    };
  };
}

/** The node of a daemon pod; before it is scheduled, the one its affinity names. */
export function targetNodeName({ spec }: ApiPod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key, operator }) => key === "metadata.name" && operator === "In")?.values?.[0];
}

/** Affinity that admits only this node, so that the scheduler places the pod there like any other. */
export function affinityToNode(nodeName: string, { spec }: PodTemplateSpec): ApiPod["spec"]["affinity"] {
  const pin = { matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] };
  return {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pin] },
    },
  };
}
