import { isRecord, type KubeObject } from "../../api/object.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { Quantity } from "../../util/quantity.ts";
import { projectObject } from "../snapshot/project-object.ts";

/** What an API server fills in; an object without it means the same. */
const defaults: Readonly<Record<string, unknown>> = {
  schedulerName: "default-scheduler",
  terminationGracePeriodSeconds: 30,
  preemptionPolicy: "PreemptLowerPriority",
  protocol: "TCP",
};

/**
 * Whether pods of two versions of a workload are alike for scheduling: an image or a command may differ, and one may have
 * been completed by an API server.
 */
export function hasSameTemplate(before: KubeObject, after: KubeObject): boolean {
  return templateText(before) === templateText(after);
}

function templateText(object: KubeObject): string {
  const { spec } = projectObject(object) ?? {};
  const { template, volumeClaimTemplates } = isRecord(spec) ? spec : {};
  return canonicalJson(normalized({ template, volumeClaimTemplates }) ?? {});
}

/** Without defaults and what is empty; quantities in one spelling. */
function normalized(value: unknown, isResourceList = false): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => normalized(item)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isRecord(value)) return isResourceList ? canonicalQuantity(value) : (value ?? undefined);
  const entries = Object.entries(value)
    .filter(([key, field]) => !Object.hasOwn(defaults, key) || defaults[key] !== field)
    .map(([key, field]) => [key, normalized(field, isResourceList || key === "requests" || key === "limits")] as const)
    .filter(([, field]) => field !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function canonicalQuantity(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value ?? undefined;
  return Quantity.tryParse(value)?.canonical() ?? value;
}
