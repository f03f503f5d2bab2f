/** Labels that Kubernetes' workload controllers set. */
export const workloadLabels = {
  podTemplateHash: "pod-template-hash",
  revisionHash: "controller-revision-hash",
  /** On the ControllerRevisions of StatefulSets. */
  hash: "controller.kubernetes.io/hash",
  podName: "statefulset.kubernetes.io/pod-name",
  podIndex: "apps.kubernetes.io/pod-index",
  templateGeneration: "pod-template-generation",
  completionIndex: "batch.kubernetes.io/job-completion-index",
} as const;

export const workloadAnnotations = {
  revision: "deployment.kubernetes.io/revision",
  revisionHistory: "deployment.kubernetes.io/revision-history",
  desiredReplicas: "deployment.kubernetes.io/desired-replicas",
  maxReplicas: "deployment.kubernetes.io/max-replicas",
  templateGeneration: "deprecated.daemonset.template.generation",
  lastApplied: "kubectl.kubernetes.io/last-applied-configuration",
  rollbackTo: "deprecated.deployment.rollback.to",
  completionIndex: "batch.kubernetes.io/job-completion-index",
  scheduledTimestamp: "batch.kubernetes.io/cronjob-scheduled-timestamp",
} as const;

/** Keeps a finished pod until its Job has counted it. */
export const jobTrackingFinalizer = "batch.kubernetes.io/job-tracking";
