import type { Toleration } from "../../../../api/kubernetes/pod.ts";
import type { Taint } from "../../../../api/labels.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { untolerated } from "../../../../core/tolerations.ts";
import { requiredNodes } from "../../cluster/node-terms.ts";
import type { LivePod, Template } from "../types.ts";

export interface LiveNode extends KubeObject {
  readonly spec?: { readonly taints?: readonly Taint[] | undefined; readonly unschedulable?: boolean | undefined };
}

/** Whether a node gets a daemon pod, and whether one that is there may stay. */
export interface Eligibility {
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
}

const always = ["not-ready:NoExecute", "unreachable:NoExecute"];
const pressures = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map(
  (one) => `${one}:NoSchedule`,
);

/** What daemons put up with beyond their template: a node in trouble needs its daemons most. (05:CP-L4) */
function daemonTolerations({ spec }: Template): readonly Toleration[] {
  const added = [...always, ...pressures, ...(spec.hostNetwork === true ? ["network-unavailable:NoSchedule"] : [])];
  return added.map((taint) => {
    const [name = "", effect = ""] = taint.split(":");
    return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect };
  });
}

/** The template's tolerations, and those of every daemon that it does not have yet. */
export function withDaemonTolerations(template: Template): readonly Toleration[] {
  const own = template.spec.tolerations ?? [];
  const isThere = ({ key, operator, effect }: Toleration) =>
    own.some((one) => one.key === key && one.operator === operator && one.effect === effect);
  return [...own, ...daemonTolerations(template).filter((one) => !isThere(one))];
}

/** By name, selector, required affinity and taints; how full a node is does not matter here, nor that it is cordoned. */
export function eligibility(template: Template): (node: LiveNode) => Eligibility {
  const wanted = requiredNodes(template.spec);
  const tolerations = withDaemonTolerations(template);
  const { nodeName = "" } = template.spec;
  return ({ metadata: { name = "", labels = {} }, spec }) => {
    const isMeant = (nodeName === "" || nodeName === name) && (wanted?.({ name, labels }) ?? true);
    if (!isMeant) return { shouldRun: false, mayStay: false };
    const repelling = (spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
    const expelling = repelling.filter(({ effect }) => effect === "NoExecute");
    return {
      shouldRun: untolerated(tolerations, repelling) === undefined,
      mayStay: untolerated(tolerations, expelling) === undefined,
    };
  };
}

/** The node a daemon pod is on, or is meant for before it is scheduled. */
export function targetNode({ spec }: LivePod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key, operator }) => key === "metadata.name" && operator === "In")?.values?.[0];
}

/** Only this node will do: the scheduler places it there, as for any pod, once there is room. */
export function pinnedTo(nodeName: string, { spec }: Template): LivePod["spec"]["affinity"] {
  const pin = { matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] };
  return {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pin] },
    },
  };
}
