import type { Pod } from "../../api/kubernetes/pod.ts";

/**
 * Whether a pod ends by itself: one of a Job or CronJob, or without an owner and not restarted when it succeeds. A node that
 * has no other pods is needed only while they run.
 */
export function isFiniteWork({ metadata, spec }: Pod): boolean {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (owner !== undefined) return owner.kind === "Job" && owner.apiVersion.startsWith("batch/");
  return spec.restartPolicy === "Never" || spec.restartPolicy === "OnFailure";
}
