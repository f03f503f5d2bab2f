import type { KubeObject } from "../../api/object.ts";
import { ageOf, humanDuration } from "./age.ts";
import { ageColumn, type Column, column, count, nameColumn, type Printer, wide } from "./column.ts";
import { containersOf, labelsPhrase, selectorPhrase, selectorText, trueFalse } from "./phrases.ts";
import { at, hasTrueCondition, listAt, numberAt, recordAt, textAt } from "./read.ts";

/** Containers and images of the pods it makes. */
function templateColumns(podSpec: (object: KubeObject) => unknown): readonly Column[] {
  return [
    wide("Containers", (object) => containersOf(podSpec(object)).names),
    wide("Images", (object) => containersOf(podSpec(object)).images),
  ];
}

const template = templateColumns((object) => at(object, "spec", "template", "spec"));
const selector = wide("Selector", (object) => selectorPhrase(at(object, "spec", "selector")));

/** Where nothing is said, one replica is meant. */
const replicas = (object: KubeObject) =>
  at(object, "spec", "replicas") === undefined ? 1 : numberAt(object, "spec", "replicas");
const readyOf = (object: KubeObject) => `${numberAt(object, "status", "readyReplicas")}/${replicas(object)}`;

const replicaCounts: readonly Column[] = [
  nameColumn,
  count("Desired", replicas),
  count("Current", (object) => numberAt(object, "status", "replicas")),
  count("Ready", (object) => numberAt(object, "status", "readyReplicas")),
  ageColumn,
  ...template,
];

export const workloadPrinters: Readonly<Record<string, Printer>> = {
  "apps/Deployment": {
    columns: [
      nameColumn,
      column("Ready", readyOf),
      column("Up-to-date", (object) => numberAt(object, "status", "updatedReplicas")),
      column("Available", (object) => numberAt(object, "status", "availableReplicas")),
      ageColumn,
      ...template,
      wide("Selector", (object) => selectorText(at(object, "spec", "selector"))),
    ],
  },
  "apps/ReplicaSet": { columns: [...replicaCounts, selector] },
  "/ReplicationController": {
    columns: [...replicaCounts, wide("Selector", (object) => labelsPhrase(at(object, "spec", "selector")))],
  },
  "apps/StatefulSet": { columns: [nameColumn, column("Ready", readyOf), ageColumn, ...template] },
  "apps/DaemonSet": {
    columns: [
      nameColumn,
      count("Desired", (object) => numberAt(object, "status", "desiredNumberScheduled")),
      count("Current", (object) => numberAt(object, "status", "currentNumberScheduled")),
      count("Ready", (object) => numberAt(object, "status", "numberReady")),
      count("Up-to-date", (object) => numberAt(object, "status", "updatedNumberScheduled")),
      count("Available", (object) => numberAt(object, "status", "numberAvailable")),
      column("Node Selector", (object) => labelsPhrase(at(object, "spec", "template", "spec", "nodeSelector"))),
      ageColumn,
      ...template,
      selector,
    ],
  },
  "apps/ControllerRevision": {
    columns: [
      nameColumn,
      column("Controller", (object) => controllerOf(object)),
      column("Revision", (object) => numberAt(object, "revision")),
      ageColumn,
    ],
  },
  "batch/Job": {
    columns: [
      nameColumn,
      column("Status", (job) => jobStatus(job)),
      column("Completions", (job) => completions(job)),
      column("Duration", (job, now) => jobDuration(job, now)),
      ageColumn,
      ...template,
      selector,
    ],
  },
  "batch/CronJob": {
    columns: [
      nameColumn,
      column("Schedule", (object) => textAt(object, "spec", "schedule")),
      column("Timezone", (object) => textAt(object, "spec", "timeZone") || "<none>"),
      column("Suspend", (object) => trueFalse(at(object, "spec", "suspend")), { type: "boolean" }),
      count("Active", (object) => listAt(object, "status", "active").length),
      column("Last Schedule", (object, now) => sinceOrNone(at(object, "status", "lastScheduleTime"), now)),
      ageColumn,
      ...templateColumns((object) => at(object, "spec", "jobTemplate", "spec", "template", "spec")),
      wide("Selector", (object) => selectorPhrase(at(object, "spec", "jobTemplate", "spec", "selector"))),
    ],
  },
  "policy/PodDisruptionBudget": {
    columns: [
      nameColumn,
      column("Min Available", (object) => writtenOr(at(object, "spec", "minAvailable"), "N/A")),
      column("Max Unavailable", (object) => writtenOr(at(object, "spec", "maxUnavailable"), "N/A")),
      count("Allowed Disruptions", (object) => numberAt(object, "status", "disruptionsAllowed")),
      ageColumn,
    ],
  },
  "/PodTemplate": {
    columns: [
      nameColumn,
      column("Containers", (object) => containersOf(at(object, "template", "spec")).names),
      column("Images", (object) => containersOf(at(object, "template", "spec")).images),
      column("Pod Labels", (object) => labelsPhrase(at(object, "template", "metadata", "labels"))),
    ],
  },
};

function writtenOr(value: unknown, otherwise: string): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}

function sinceOrNone(timestamp: unknown, now: number): string {
  return typeof timestamp === "string" ? ageOf(timestamp, now) : "<none>";
}

function completions(job: KubeObject): string {
  const succeeded = numberAt(job, "status", "succeeded");
  const wanted = at(job, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = numberAt(job, "spec", "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: KubeObject, now: number): string {
  const started = Date.parse(textAt(job, "status", "startTime"));
  if (Number.isNaN(started)) return "";
  const ended = Date.parse(textAt(job, "status", "completionTime"));
  return humanDuration((Number.isNaN(ended) ? now : ended) - started);
}

function jobStatus(job: KubeObject): string {
  if (hasTrueCondition(job, "Complete")) return "Complete";
  if (hasTrueCondition(job, "Failed")) return "Failed";
  if (at(job, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  const others = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
  return others.find((type) => hasTrueCondition(job, type)) ?? "Running";
}

function controllerOf(object: KubeObject): string {
  const owner = listAt(object, "metadata", "ownerReferences").find((one) => recordAt(one)["controller"] === true);
  if (owner === undefined) return "<none>";
  const [group = ""] = textAt(owner, "apiVersion").includes("/") ? textAt(owner, "apiVersion").split("/") : [""];
  const kind = `${textAt(owner, "kind")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return `${kind}/${textAt(owner, "name")}`;
}
