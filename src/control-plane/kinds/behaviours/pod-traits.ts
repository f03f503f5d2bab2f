import { copyJson, isSameJson } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object.ts";
import { Quantity } from "../../../util/quantity.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { forbiddenField, type StatusCause } from "../../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, type ObjectDraft } from "../object-draft.ts";
import type { AdmissionContext } from "../served-kind.ts";
import type { KindTraits } from "./built-in-behaviour.ts";
import { admitPod } from "./pod-admission.ts";
import { podSpecDefaults, requestsFromLimits } from "./pod-defaults.ts";
import { podSpecCauses } from "./pod-spec-causes.ts";

export const podTraits: KindTraits = {
  countsGenerations: true,
  hasStatus: true,
  admitCreate: admitPod,
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    podSpecDefaults(spec);
    for (const container of [...listAt(spec, "containers"), ...listAt(spec, "initContainers")]) {
      requestsFromLimits(ensureRecord(container, "resources"));
    }
    if (spec["enableServiceLinks"] === undefined) spec["enableServiceLinks"] = true;
  },
  prepareCreate: (draft, context) => {
    draft.status = { phase: "Pending", qosClass: qosClass(draft.spec), ...gatedCondition(draft, context) };
  },
  completeStatus: (draft, old) => {
    const qos = textAt(old.status, "qosClass");
    if (qos !== "") ensureRecord(draft, "status")["qosClass"] ??= qos;
  },
  check: (draft, old) => {
    const spec = draft.spec ?? {};
    return [...podSpecCauses(spec, ["spec"]), ...(old === undefined ? [] : changeCauses(spec, old))];
  },
};

function gatedCondition(draft: ObjectDraft, { now }: AdmissionContext): JsonObject {
  if (listAt(draft.spec, "schedulingGates").length === 0) return {};
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
    lastProbeTime: null,
    lastTransitionTime: rfc3339(now),
  };
  return { conditions: [condition] };
}

/** Guaranteed: every container's limits of cpu and memory equal its requests. BestEffort: none has any. */
export function qosClass(spec: unknown): "Guaranteed" | "Burstable" | "BestEffort" {
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  const podLevel = recordAt(spec, "resources");
  const all = podLevel === undefined ? containers.map((container) => recordAt(container, "resources")) : [podLevel];
  const hasCpuOrMemory = (list: JsonObject | undefined) =>
    ["cpu", "memory"].some((name) => Quantity.tryParse(String(list?.[name] ?? "0"))?.sign() === 1);
  const isBestEffort = all.every(
    (one) => !hasCpuOrMemory(recordAt(one, "requests")) && !hasCpuOrMemory(recordAt(one, "limits")),
  );
  if (isBestEffort) return "BestEffort";
  const isGuaranteed = all.every((one) =>
    ["cpu", "memory"].every((name) => {
      const limit = Quantity.tryParse(String(recordAt(one, "limits")?.[name] ?? "0"));
      const request = Quantity.tryParse(String(recordAt(one, "requests")?.[name] ?? "0"));
      return limit !== undefined && request !== undefined && limit.sign() > 0 && limit.equals(request);
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

const unchangeable =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Most fields of a pod are immutable. */
function changeCauses(spec: JsonObject, old: KubeObject): readonly StatusCause[] {
  const before = copyJson(old.spec ?? {}) as JsonObject;
  const isGated = listAt(before, "schedulingGates").length > 0;
  const isTolerant = listAt(before, "tolerations").every((one) =>
    listAt(spec, "tolerations").some((other) => isSameJson(one, other)),
  );
  if (!isTolerant)
    return [
      forbiddenField(["spec", "tolerations"], "existing toleration can not be modified except its tolerationSeconds"),
    ];
  const added = listAt(spec, "schedulingGates").filter(
    (gate) => !listAt(before, "schedulingGates").some((one) => isSameJson(one, gate)),
  );
  if (added.length > 0) return [forbiddenField(["spec", "schedulingGates"], "only deletion is allowed")];
  const allowed = ["activeDeadlineSeconds", "tolerations", "schedulingGates"];
  if (isGated) allowed.push("nodeSelector", "affinity");
  const strip = (from: JsonObject): JsonObject => {
    const rest = { ...from };
    for (const field of allowed) delete rest[field];
    for (const field of ["containers", "initContainers"]) {
      if (rest[field] !== undefined) rest[field] = listAt(rest, field).map((one) => ({ ...one, image: "" }));
    }
    return rest;
  };
  return isSameJson(strip(before), strip(spec)) ? [] : [forbiddenField(["spec"], unchangeable)];
}
