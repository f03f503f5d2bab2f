import type { Loop } from "../../../kube/loop.ts";
import { cronJobLoop } from "./cron-job/cron-job.ts";
import { daemonSetLoop } from "./daemon-set/daemon-set.ts";
import { deploymentLoop } from "./deployment/deployment.ts";
import { disruptionBudgetLoop } from "./disruption-budget/disruption-budget.ts";
import { jobLoop } from "./job/job.ts";
import { replicaSetLoop } from "./replica-set/replica-set.ts";
import { statefulSetLoop } from "./stateful-set/stateful-set.ts";

/** Everything that makes pods, and the budgets over them. (05:CP-L1 to CP-L6) */
export const workloadLoops: readonly Loop[] = [
  deploymentLoop,
  replicaSetLoop,
  statefulSetLoop,
  daemonSetLoop,
  jobLoop,
  cronJobLoop,
  disruptionBudgetLoop,
];
