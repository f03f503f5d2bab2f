import type { Pod } from "../../api/kubernetes/pod.ts";
import { nestedKindOf } from "./nested-kinds.ts";

/**
 * Whether a pod ends by itself: one of a Job, CronJob or a like kind (a JobSet, a PyTorchJob), or without an owner and not
 * restarted when it succeeds. A node that has no other pods is needed only while they run.
 */
export function isFiniteWork({ metadata, spec }: Pod): boolean {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (owner !== undefined) {
    const isJob = owner.kind === "Job" && owner.apiVersion.startsWith("batch/");
    return isJob || nestedKindOf(owner)?.isFinite === true;
  }
  return spec.restartPolicy === "Never" || spec.restartPolicy === "OnFailure";
}
