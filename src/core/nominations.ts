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

function ownsNomination(entry: unknown): boolean {
  if (!isRecord(entry) || entry["manager"] !== nominationManager || entry["subresource"] !== "status") return false;
  const fields = entry["fieldsV1"];
  const status = isRecord(fields) ? fields["f:status"] : undefined;
  return isRecord(status) && "f:nominatedNodeName" in status;
}
