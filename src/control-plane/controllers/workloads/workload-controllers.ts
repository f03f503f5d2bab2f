import type { Controller } from "../../../kube/controller.ts";
import { horizontalPodAutoscalerController } from "../autoscaling/horizontal-pod-autoscaler-controller.ts";
import { endpointSliceController } from "../services/endpoint-slice-controller.ts";
import { cronJobController } from "./cron-job/cron-job-controller.ts";
import { daemonSetController } from "./daemon-set/daemon-set-controller.ts";
import { deploymentController } from "./deployment/deployment-controller.ts";
import { jobController } from "./job/job-controller.ts";
import { podDisruptionBudgetController } from "./pod-disruption-budget/pod-disruption-budget-controller.ts";
import { replicaSetController } from "./replica-set/replica-set-controller.ts";
import { statefulSetController } from "./stateful-set/stateful-set-controller.ts";

/** The workload controllers, PodDisruptionBudgets, endpoints of Services and autoscalers. (05:CP-L1 to CP-L6, CP-L15, CP-L16) */
export const workloadControllers: readonly Controller[] = [
  deploymentController,
  replicaSetController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  podDisruptionBudgetController,
  endpointSliceController,
  horizontalPodAutoscalerController,
];
