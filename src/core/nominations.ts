import type { Pod } from "../api/kubernetes/pod.ts";
import { isRecord, type ObjectMeta } from "../api/object.ts";

/** The field manager our nominations are written with: the API server keeps it, so that we know them after a restart. */
export const nominationManager = "karpenter-nomination";

/** What is kept of the managedFields of a pod that we nominated. */
export const ownNominationFields: NonNullable<ObjectMeta["managedFields"]> = [
  { manager: nominationManager, subresource: "status", fieldsV1: { "f:status": { "f:nominatedNodeName": {} } } },
];

/** Whether we nominated its node: nobody has written the field since. (02:P-3) */
export function isOwnNomination({ metadata, status }: Pod): boolean {
  if ((status?.nominatedNodeName ?? "") === "") return false;
  return metadata.managedFields?.some(ownsNomination) ?? false;
}

/** Whether its node was nominated by somebody else, such as a preemption: it is not ours to change. */
export function isNominatedByOthers(pod: Pod): boolean {
  return (pod.status?.nominatedNodeName ?? "") !== "" && !isOwnNomination(pod);
}

/**
 * A pod that somebody else nominated, as it will be once it is bound: it counts on that node already. kube-scheduler nominates
 * a pod that preempts, and one whose volumes are still being made. (02:S-15)
 */
export function withExpectedNode(pod: Pod): Pod {
  const { nominatedNodeName } = pod.status ?? {};
  if ((pod.spec.nodeName ?? "") !== "" || nominatedNodeName === undefined || !isNominatedByOthers(pod)) return pod;
  return { ...pod, spec: { ...pod.spec, nodeName: nominatedNodeName } };
}

function ownsNomination(entry: unknown): boolean {
  if (!isRecord(entry) || entry["manager"] !== nominationManager || entry["subresource"] !== "status") return false;
  const fields = entry["fieldsV1"];
  const status = isRecord(fields) ? fields["f:status"] : undefined;
  return isRecord(status) && "f:nominatedNodeName" in status;
}
