import type { KubeObject } from "../../api/object.ts";
import { labelSelectorText } from "../api/selectors/label-selector-text.ts";
import { fieldAt, hasTrueCondition, itemsAt, numberOrZero, recordOrEmpty, textAt } from "../object-fields.ts";
import { ageOf, humanDuration } from "./age.ts";
import { containersOf, labelsPhrase, selectorPhrase, trueFalseText } from "./phrases.ts";
import {
  ageColumn,
  column,
  integerColumn,
  type KindColumns,
  nameColumn,
  type TableColumnDefinition,
  wideColumn,
} from "./table-column.ts";

/** Containers and images of its pod template. */
function templateColumns(podSpec: (object: KubeObject) => unknown): readonly TableColumnDefinition[] {
  return [
    wideColumn("Containers", (object) => containersOf(podSpec(object)).names),
    wideColumn("Images", (object) => containersOf(podSpec(object)).images),
  ];
}

const template = templateColumns((object) => fieldAt(object, "spec", "template", "spec"));
const selector = wideColumn("Selector", (object) => selectorPhrase(fieldAt(object, "spec", "selector")));

/** The default is one replica. */
const replicas = (object: KubeObject) =>
  fieldAt(object, "spec", "replicas") === undefined ? 1 : numberOrZero(object, "spec", "replicas");
const readyOf = (object: KubeObject) => `${numberOrZero(object, "status", "readyReplicas")}/${replicas(object)}`;

const replicaCounts: readonly TableColumnDefinition[] = [
  nameColumn,
  integerColumn("Desired", replicas),
  integerColumn("Current", (object) => numberOrZero(object, "status", "replicas")),
  integerColumn("Ready", (object) => numberOrZero(object, "status", "readyReplicas")),
  ageColumn,
  ...template,
];

export const workloadColumns: KindColumns = {
  "apps/Deployment": [
    nameColumn,
    column("Ready", readyOf),
    column("Up-to-date", (object) => numberOrZero(object, "status", "updatedReplicas")),
    column("Available", (object) => numberOrZero(object, "status", "availableReplicas")),
    ageColumn,
    ...template,
    wideColumn("Selector", (object) => labelSelectorText(fieldAt(object, "spec", "selector"))),
  ],
  "apps/ReplicaSet": [...replicaCounts, selector],
  "/ReplicationController": [
    ...replicaCounts,
    wideColumn("Selector", (object) => labelsPhrase(fieldAt(object, "spec", "selector"))),
  ],
  "apps/StatefulSet": [nameColumn, column("Ready", readyOf), ageColumn, ...template],
  "apps/DaemonSet": [
    nameColumn,
    integerColumn("Desired", (object) => numberOrZero(object, "status", "desiredNumberScheduled")),
    integerColumn("Current", (object) => numberOrZero(object, "status", "currentNumberScheduled")),
    integerColumn("Ready", (object) => numberOrZero(object, "status", "numberReady")),
    integerColumn("Up-to-date", (object) => numberOrZero(object, "status", "updatedNumberScheduled")),
    integerColumn("Available", (object) => numberOrZero(object, "status", "numberAvailable")),
    column("Node Selector", (object) => labelsPhrase(fieldAt(object, "spec", "template", "spec", "nodeSelector"))),
    ageColumn,
    ...template,
    selector,
  ],
  "apps/ControllerRevision": [
    nameColumn,
    column("Controller", (object) => controllerOf(object)),
    column("Revision", (object) => numberOrZero(object, "revision")),
    ageColumn,
  ],
  "batch/Job": [
    nameColumn,
    column("Status", (job) => jobStatus(job)),
    column("Completions", (job) => completions(job)),
    column("Duration", (job, now) => jobDuration(job, now)),
    ageColumn,
    ...template,
    selector,
  ],
  "batch/CronJob": [
    nameColumn,
    column("Schedule", (object) => textAt(object, "spec", "schedule")),
    column("Timezone", (object) => textAt(object, "spec", "timeZone") || "<none>"),
    column("Suspend", (object) => trueFalseText(fieldAt(object, "spec", "suspend")), { type: "boolean" }),
    integerColumn("Active", (object) => itemsAt(object, "status", "active").length),
    column("Last Schedule", (object, now) => sinceOrNone(fieldAt(object, "status", "lastScheduleTime"), now)),
    ageColumn,
    ...templateColumns((object) => fieldAt(object, "spec", "jobTemplate", "spec", "template", "spec")),
    wideColumn("Selector", (object) => selectorPhrase(fieldAt(object, "spec", "jobTemplate", "spec", "selector"))),
  ],
  "policy/PodDisruptionBudget": [
    nameColumn,
    column("Min Available", (object) => writtenOr(fieldAt(object, "spec", "minAvailable"), "N/A")),
    column("Max Unavailable", (object) => writtenOr(fieldAt(object, "spec", "maxUnavailable"), "N/A")),
    integerColumn("Allowed Disruptions", (object) => numberOrZero(object, "status", "disruptionsAllowed")),
    ageColumn,
  ],
  "/PodTemplate": [
    nameColumn,
    column("Containers", (object) => containersOf(fieldAt(object, "template", "spec")).names),
    column("Images", (object) => containersOf(fieldAt(object, "template", "spec")).images),
    column("Pod Labels", (object) => labelsPhrase(fieldAt(object, "template", "metadata", "labels"))),
  ],
};

function writtenOr(value: unknown, otherwise: string): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}

function sinceOrNone(timestamp: unknown, now: number): string {
  return typeof timestamp === "string" ? ageOf(timestamp, now) : "<none>";
}

function completions(job: KubeObject): string {
  const succeeded = numberOrZero(job, "status", "succeeded");
  const wanted = fieldAt(job, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = numberOrZero(job, "spec", "parallelism");
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
  if (fieldAt(job, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  const others = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
  return others.find((type) => hasTrueCondition(job, type)) ?? "Running";
}

function controllerOf(object: KubeObject): string {
  const owner = itemsAt(object, "metadata", "ownerReferences").find((one) => recordOrEmpty(one)["controller"] === true);
  if (owner === undefined) return "<none>";
  const [group = ""] = textAt(owner, "apiVersion").includes("/") ? textAt(owner, "apiVersion").split("/") : [""];
  const kind = `${textAt(owner, "kind")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return `${kind}/${textAt(owner, "name")}`;
}
