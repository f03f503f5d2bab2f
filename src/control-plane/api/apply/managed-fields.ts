import { isRecord, type KubeObject } from "../../../api/object.ts";
import { apiVersionOf } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { JsonObject, ObjectDraft } from "../../kinds/object-draft.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import { textAt } from "../../object-fields.ts";
import type { WriteRequest } from "../request.ts";
import { compareFields } from "./compare-fields.ts";
import {
  type FieldSet,
  fieldSetDifference,
  fieldSetRecursiveDifference,
  fieldSetUnion,
  fromFieldsV1,
  isEmptyFieldSet,
  isSameFieldSet,
  toFieldsV1,
} from "./field-set.ts";

/** One entry of metadata.managedFields. */
export interface FieldManager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly subresource: string;
  readonly apiVersion: string;
  readonly time: string;
  readonly fields: FieldSet;
}

export function fieldManagersOf(entries: unknown): readonly FieldManager[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter(isRecord).flatMap((entry) => {
    const operation = entry["operation"];
    if (operation !== "Apply" && operation !== "Update") return [];
    const fields = fromFieldsV1(entry["fieldsV1"]);
    return [
      {
        name: textAt(entry, "manager"),
        operation,
        subresource: textAt(entry, "subresource"),
        apiVersion: textAt(entry, "apiVersion"),
        time: textAt(entry, "time"),
        fields,
      },
    ];
  });
}

/** Writes the entries, Apply before Update, and drops those that own nothing. */
export function setFieldManagers(draft: ObjectDraft, managers: readonly FieldManager[]): void {
  const entries = managers
    .filter(({ fields }) => !isEmptyFieldSet(fields))
    .sort((a, b) => compareText(a.operation, b.operation) || compareText(a.time, b.time) || compareText(a.name, b.name))
    .map(
      ({ name, operation, subresource, apiVersion, time, fields }): JsonObject => ({
        manager: name,
        operation,
        apiVersion,
        ...(time === "" ? {} : { time }),
        fieldsType: "FieldsV1",
        fieldsV1: toFieldsV1(fields),
        ...(subresource === "" ? {} : { subresource }),
      }),
    );
  if (entries.length > 0) draft.metadata.managedFields = entries;
  else delete draft.metadata.managedFields;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface UpdateTracking {
  readonly kind: ServedKind;
  readonly old: KubeObject | undefined;
  readonly draft: ObjectDraft;
  readonly request: WriteRequest;
  readonly now: number;
}

/**
 * A plain write makes its manager the owner of what it changes. Objects without any manager, like pods our controllers
 * create, get no managedFields. (05 §3)
 */
export function trackManagedFields({ kind, old, draft, request, now }: UpdateTracking): void {
  const known = managersBefore(old, draft);
  const isUnclaimed = known.length === 0 && (request.fieldManager ?? "") === "";
  if (isUnclaimed) {
    delete draft.metadata.managedFields;
    return;
  }
  const difference = compareFields(old, draft, kind.fields);
  const changed = withoutSystemFields(difference.changed);
  const removed = withoutSystemFields(difference.removed);
  const identity = {
    name: request.fieldManager || "unknown",
    operation: "Update",
    subresource: request.subresource ?? "",
    apiVersion: apiVersionOf(kind),
  } as const;
  const isOwn = (one: FieldManager) =>
    one.name === identity.name && one.operation === "Update" && one.subresource === identity.subresource;
  const others = known
    .filter((one) => !isOwn(one))
    .map((one) => ({ ...one, fields: fieldSetRecursiveDifference(fieldSetDifference(one.fields, changed), removed) }));
  const before = known.find(isOwn);
  const fields = fieldSetUnion(fieldSetRecursiveDifference(before?.fields ?? emptyFields, removed), changed);
  const isSame = before !== undefined && isSameFieldSet(fields, before.fields) && isEmptyFieldSet(changed);
  setFieldManagers(draft, [...others, isSame ? before : { ...identity, time: rfc3339(now), fields }]);
}

const emptyFields = fromFieldsV1(undefined);

/** A client may replace managedFields; a single empty entry resets them. */
function managersBefore(old: KubeObject | undefined, draft: ObjectDraft): readonly FieldManager[] {
  const written = draft.metadata.managedFields;
  const isReset = written?.length === 1 && Object.keys(written[0] ?? {}).length === 0;
  if (isReset) return [];
  const given = fieldManagersOf(written);
  return given.length > 0 ? given : fieldManagersOf(old?.metadata.managedFields);
}

const systemFields = fromFieldsV1({
  "f:apiVersion": {},
  "f:kind": {},
  "f:metadata": Object.fromEntries(
    [
      "name",
      "generateName",
      "namespace",
      "selfLink",
      "uid",
      "resourceVersion",
      "generation",
      "creationTimestamp",
      "deletionTimestamp",
      "deletionGracePeriodSeconds",
      "managedFields",
    ].map((field) => [`f:${field}`, {}]),
  ),
});

/** Fields only the server writes have no owner. */
export function withoutSystemFields(fields: FieldSet): FieldSet {
  return fieldSetRecursiveDifference(fields, systemFields);
}
