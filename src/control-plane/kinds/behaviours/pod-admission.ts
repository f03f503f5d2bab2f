import { isRecord } from "../../../api/object.ts";
import { forbidden } from "../../api/failures.ts";
import { child, copyJson, type Draft, type Json, listAt, recordAt, textAt } from "../draft.ts";
import type { World } from "../kind.ts";
import { requestsFromLimits } from "./pod-template.ts";

const pods = { group: "", kind: "Pod", plural: "pods" } as const;

/** What admission plugins add to a pod before it is stored, in their order. (05 §5) */
export function admitPod(draft: Draft, world: World): void {
  const spec = child(draft, "spec");
  serviceAccount(spec);
  limitRangeDefaults(draft, spec, world);
  runtimeClass(draft, spec, world);
  priority(draft, spec, world);
  defaultTolerations(spec);
}

function serviceAccount(spec: Json): void {
  if (textAt(spec, "serviceAccountName") !== "" || textAt(spec, "serviceAccount") !== "") return;
  Object.assign(spec, { serviceAccountName: "default", serviceAccount: "default" });
}

function limitRangeDefaults(draft: Draft, spec: Json, world: World): void {
  const ranges = world.list("limitranges", draft.metadata.namespace);
  for (const range of ranges) {
    for (const limit of listAt(range.spec, "limits")) {
      if (limit["type"] !== "Container") continue;
      for (const field of ["containers", "initContainers"]) {
        for (const container of listAt(spec, field)) applyLimits(container, limit);
      }
    }
  }
}

function applyLimits(container: Json, limit: Json): void {
  const resources = child(container, "resources");
  // A container with a limit of its own asks for that, not for the namespace's default request.
  requestsFromLimits(resources);
  fill(resources, "limits", recordAt(limit, "default"));
  fill(resources, "requests", recordAt(limit, "defaultRequest"));
}

function fill(resources: Json, field: string, defaults: Json | undefined): void {
  if (defaults === undefined) return;
  const list = child(resources, field);
  for (const [name, amount] of Object.entries(defaults)) if (!Object.hasOwn(list, name)) list[name] = amount;
}

function runtimeClass(draft: Draft, spec: Json, world: World): void {
  const name = textAt(spec, "runtimeClassName");
  if (name === "") return;
  const found = world.get("runtimeclasses.node.k8s.io", name) as unknown as Json | undefined;
  if (found === undefined) throw refuse(draft, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = recordAt(found, "overhead", "podFixed");
  if (overhead !== undefined) spec["overhead"] = copyJson(overhead);
  const selector = recordAt(found, "scheduling", "nodeSelector");
  if (selector !== undefined) spec["nodeSelector"] = { ...recordAt(spec, "nodeSelector"), ...selector };
  const tolerations = listAt(found, "scheduling", "tolerations");
  if (tolerations.length > 0) spec["tolerations"] = [...listAt(spec, "tolerations"), ...copyJson(tolerations)];
}

function priority(draft: Draft, spec: Json, world: World): void {
  const name = textAt(spec, "priorityClassName");
  const found =
    name === ""
      ? world.list("priorityclasses.scheduling.k8s.io").find((one) => isRecord(one) && one["globalDefault"] === true)
      : world.get("priorityclasses.scheduling.k8s.io", name);
  if (name !== "" && found === undefined) throw refuse(draft, `no PriorityClass with name ${name} was found`);
  const { value = 0, preemptionPolicy = "PreemptLowerPriority" } = (found ?? {}) as Json;
  if (typeof spec["priority"] === "number" && spec["priority"] !== value) {
    const because =
      "the integer value of priority must not be provided in pod spec; priority admission controller computed";
    throw refuse(draft, `${because} ${String(value)} from the given PriorityClass name`);
  }
  spec["priority"] = value;
  if (found?.metadata.name !== undefined) spec["priorityClassName"] = found.metadata.name;
  if (textAt(spec, "preemptionPolicy") === "") spec["preemptionPolicy"] = preemptionPolicy;
}

const evictAfterSeconds = 300;

/** Pods survive a node that is briefly away. */
function defaultTolerations(spec: Json): void {
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

function refuse(draft: Draft, because: string): Error {
  return forbidden(pods, draft.metadata.name ?? draft.metadata.generateName ?? "", because);
}
