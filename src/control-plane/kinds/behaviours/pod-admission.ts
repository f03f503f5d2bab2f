import { copyJson } from "../../../api/json.ts";
import { isRecord } from "../../../api/object.ts";
import { forbidden } from "../../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, type ObjectDraft } from "../object-draft.ts";
import type { AdmissionContext } from "../served-kind.ts";
import { requestsFromLimits } from "./pod-defaults.ts";

const pods = { group: "", kind: "Pod", plural: "pods" } as const;

/** What the admission plugins change in a pod before it is stored, in their order. (05 §5) */
export function admitPod(draft: ObjectDraft, context: AdmissionContext): void {
  const spec = ensureRecord(draft, "spec");
  serviceAccount(spec);
  limitRangeDefaults(draft, spec, context);
  runtimeClass(draft, spec, context);
  priority(draft, spec, context);
  defaultTolerations(spec);
}

function serviceAccount(spec: JsonObject): void {
  if (textAt(spec, "serviceAccountName") !== "" || textAt(spec, "serviceAccount") !== "") return;
  Object.assign(spec, { serviceAccountName: "default", serviceAccount: "default" });
}

function limitRangeDefaults(draft: ObjectDraft, spec: JsonObject, context: AdmissionContext): void {
  const ranges = context.list("limitranges", draft.metadata.namespace);
  for (const range of ranges) {
    for (const limit of listAt(range.spec, "limits")) {
      if (limit["type"] !== "Container") continue;
      for (const field of ["containers", "initContainers"]) {
        for (const container of listAt(spec, field)) applyLimits(container, limit);
      }
    }
  }
}

function applyLimits(container: JsonObject, limit: JsonObject): void {
  const resources = ensureRecord(container, "resources");
  // A container's own limit sets its request before the LimitRange default does.
  requestsFromLimits(resources);
  fillMissing(resources, "limits", recordAt(limit, "default"));
  fillMissing(resources, "requests", recordAt(limit, "defaultRequest"));
}

function fillMissing(resources: JsonObject, field: string, defaults: JsonObject | undefined): void {
  if (defaults === undefined) return;
  const list = ensureRecord(resources, field);
  for (const [name, amount] of Object.entries(defaults)) if (!Object.hasOwn(list, name)) list[name] = amount;
}

function runtimeClass(draft: ObjectDraft, spec: JsonObject, context: AdmissionContext): void {
  const name = textAt(spec, "runtimeClassName");
  if (name === "") return;
  const found = context.get("runtimeclasses.node.k8s.io", name) as unknown as JsonObject | undefined;
  if (found === undefined) throw forbiddenPod(draft, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = recordAt(found, "overhead", "podFixed");
  if (overhead !== undefined) spec["overhead"] = copyJson(overhead);
  const selector = recordAt(found, "scheduling", "nodeSelector");
  if (selector !== undefined) spec["nodeSelector"] = { ...recordAt(spec, "nodeSelector"), ...selector };
  const tolerations = listAt(found, "scheduling", "tolerations");
  if (tolerations.length > 0) spec["tolerations"] = [...listAt(spec, "tolerations"), ...copyJson(tolerations)];
}

function priority(draft: ObjectDraft, spec: JsonObject, context: AdmissionContext): void {
  const name = textAt(spec, "priorityClassName");
  const found =
    name === ""
      ? context.list("priorityclasses.scheduling.k8s.io").find((one) => isRecord(one) && one["globalDefault"] === true)
      : context.get("priorityclasses.scheduling.k8s.io", name);
  if (name !== "" && found === undefined) throw forbiddenPod(draft, `no PriorityClass with name ${name} was found`);
  const { value = 0, preemptionPolicy = "PreemptLowerPriority" } = (found ?? {}) as JsonObject;
  if (typeof spec["priority"] === "number" && spec["priority"] !== value) {
    const because =
      "the integer value of priority must not be provided in pod spec; priority admission controller computed";
    throw forbiddenPod(draft, `${because} ${String(value)} from the given PriorityClass name`);
  }
  spec["priority"] = value;
  if (found?.metadata.name !== undefined) spec["priorityClassName"] = found.metadata.name;
  if (textAt(spec, "preemptionPolicy") === "") spec["preemptionPolicy"] = preemptionPolicy;
}

const evictAfterSeconds = 300;

/** Default tolerations of 300 s for not-ready and unreachable nodes. */
function defaultTolerations(spec: JsonObject): void {
  const tolerations = [...listAt(spec, "tolerations")];
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    const covered = tolerations.some(
      (one) =>
        (textAt(one, "key") === key || textAt(one, "key") === "") &&
        (textAt(one, "effect") === "NoExecute" || textAt(one, "effect") === ""),
    );
    if (covered) continue;
    tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: evictAfterSeconds });
  }
  spec["tolerations"] = tolerations;
}

function forbiddenPod(draft: ObjectDraft, because: string): Error {
  return forbidden(pods, draft.metadata.name ?? draft.metadata.generateName ?? "", because);
}
