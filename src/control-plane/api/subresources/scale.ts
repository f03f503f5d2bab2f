import { copyJson } from "../../../api/json.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { draftOf, type JsonObject, type ObjectDraft } from "../../kinds/object-draft.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import { numberAt, recordAt, textAt } from "../../object-fields.ts";
import { badRequest, conflict, invalidObject, invalidValue, noSuchResource } from "../api-errors.ts";
import { labelSelectorText } from "../selectors/label-selector-text.ts";

/** The replica counts of an object, as `autoscaling/v1 Scale`. */
export function scaleOf(kind: ServedKind, object: KubeObject): KubeObject {
  const { scale } = kind;
  if (scale === undefined) throw noSuchResource();
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = scale.selector === undefined ? "" : selectorText(object, scale.selector.split("."));
  const desired = numberAt(object, ...scale.specReplicas.split("."));
  return {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: desired === undefined ? {} : { replicas: desired },
    status: {
      replicas: numberAt(object, ...scale.statusReplicas.split(".")) ?? 0,
      ...(selector === "" ? {} : { selector }),
    },
  };
}

/** The object with the replicas of the Scale. */
export function withScale(kind: ServedKind, old: KubeObject, scale: unknown): ObjectDraft {
  if (kind.scale === undefined) throw noSuchResource();
  if (!isRecord(scale) || scale["kind"] !== "Scale") throw badRequest("expected a Scale in version autoscaling/v1");
  const replicas = recordAt(scale, "spec")?.["replicas"] ?? 0;
  const name = old.metadata.name ?? "";
  const version = textAt(scale, "metadata", "resourceVersion");
  if (version !== "" && version !== old.metadata.resourceVersion) throw conflict(kind, name);
  const isCount = typeof replicas === "number" && Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31;
  if (!isCount) {
    const subject = { group: "autoscaling", kind: "Scale", plural: "scales" };
    throw invalidObject(subject, name, [
      invalidValue(["spec", "replicas"], replicas, "must be greater than or equal to 0"),
    ]);
  }
  const draft = draftOf(old);
  const steps = kind.scale.specReplicas.split(".");
  let parent: JsonObject = draft;
  for (const step of steps.slice(0, -1)) {
    const next = recordAt(parent, step) ?? {};
    parent[step] = next;
    parent = next;
  }
  parent[steps.at(-1) ?? ""] = replicas;
  return copyJson(draft);
}

/** The selector as text; a structured one is formatted. */
function selectorText(object: KubeObject, path: readonly string[]): string {
  const written = textAt(object, ...path);
  if (written !== "") return written;
  const selector = recordAt(object, ...path);
  // A ReplicationController's selector is a plain map.
  const isStructured = selector?.["matchLabels"] !== undefined || selector?.["matchExpressions"] !== undefined;
  return labelSelectorText(isStructured ? selector : { matchLabels: selector });
}
