import { copyJson } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object.ts";
import { apiVersionOf } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { draftOf, type ObjectDraft } from "../../kinds/object-draft.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import { apiError } from "../api-errors.ts";
import type { WriteRequest } from "../request.ts";
import { compareFields, fieldSetOf } from "./compare-fields.ts";
import {
  type FieldSet,
  fieldPaths,
  fieldSetDifference,
  fieldSetIntersection,
  fieldSetRecursiveDifference,
  fromFieldsV1,
  isEmptyFieldSet,
  isSameFieldSet,
} from "./field-set.ts";
import { type FieldManager, fieldManagersOf, setFieldManagers, withoutSystemFields } from "./managed-fields.ts";
import { mergeApplied, pruneAbandoned } from "./merge-applied.ts";

export interface ApplyOperation {
  readonly kind: ServedKind;
  /** The stored object, if it exists. */
  readonly live: KubeObject | undefined;
  /** Exactly the fields the manager applies. */
  readonly config: ObjectDraft;
  readonly manager: string;
  readonly isForced: boolean;
  readonly request: WriteRequest;
  readonly now: number;
}

/**
 * Server-side apply: the object with the manager's configuration applied; 409 where another manager owns what would
 * change. (05 §3)
 */
export function serverSideApply(operation: ApplyOperation): ObjectDraft {
  const { kind, live, config, request } = operation;
  const appliedFields = endpointFields(kind, request, withoutSystemFields(fieldSetOf(config, kind.fields)));
  if (live === undefined) return createApplied(operation, appliedFields);
  const managers = managersOrDefault(live, kind);
  const isOwn = isApplierOf(operation);
  const last = managers.find(isOwn);
  const others = managers.filter((one) => !isOwn(one));
  const merged = mergeApplied(live, config, kind.fields);
  const { changed } = compareFields(live, merged, kind.fields);
  const conflicts = conflictsOf(others, endpointFields(kind, request, withoutSystemFields(changed)));
  const allowed = conflicts.length > 0 && operation.manager === "kubectl" ? lastApplied(live, kind) : undefined;
  const remaining =
    allowed === undefined
      ? conflicts
      : conflicts.filter((one) => !isEmptyFieldSet(fieldSetDifference(one.fields, allowed)));
  if (remaining.length > 0 && !operation.isForced) throw conflictError(remaining);
  const losers = conflicts.map(({ fields }) => fields);
  const kept = others.map((one) => ({
    ...one,
    fields: losers.reduce((left, lost) => fieldSetDifference(left, lost), one.fields),
  }));
  const keep = [appliedFields, ...kept.map(({ fields }) => fields)];
  const draft = copyJson(
    last === undefined ? merged : pruneAbandoned(merged, last.fields, { keep, schema: kind.fields }),
  ) as ObjectDraft;
  const { changed: now, removed } = compareFields(live, draft, kind.fields);
  const isSame =
    last !== undefined &&
    isSameFieldSet(last.fields, appliedFields) &&
    isEmptyFieldSet(withoutSystemFields(now)) &&
    isEmptyFieldSet(withoutSystemFields(removed));
  const otherManagers = kept.map((one) => ({
    ...one,
    fields: fieldSetRecursiveDifference(one.fields, withoutSystemFields(removed)),
  }));
  setFieldManagers(draft, [...otherManagers, isSame ? last : managerEntry(operation, appliedFields)]);
  return draft;
}

function createApplied(operation: ApplyOperation, appliedFields: FieldSet): ObjectDraft {
  const draft = draftOf(operation.config);
  setFieldManagers(draft, [managerEntry(operation, appliedFields)]);
  return draft;
}

function managerEntry({ kind, manager, request, now }: ApplyOperation, fields: FieldSet): FieldManager {
  const { subresource = "" } = request;
  return {
    name: manager,
    operation: "Apply",
    subresource,
    apiVersion: apiVersionOf(kind),
    time: rfc3339(now),
    fields,
  };
}

function isApplierOf({ manager, request }: ApplyOperation): (one: FieldManager) => boolean {
  return ({ name, operation, subresource }) =>
    name === manager && operation === "Apply" && subresource === (request.subresource ?? "");
}

const statusFields = fromFieldsV1({ "f:status": {} });

/** Only fields this endpoint writes can be owned through it. */
function endpointFields({ behaviour }: ServedKind, { subresource }: WriteRequest, fields: FieldSet): FieldSet {
  if (subresource === "status") return onlySubtree(fields, "f:status");
  return behaviour.hasStatus ? fieldSetRecursiveDifference(fields, statusFields) : fields;
}

function onlySubtree(fields: FieldSet, step: string): FieldSet {
  const child = fields.children.get(step);
  return { isMember: false, children: child === undefined ? new Map() : new Map([[step, child]]) };
}

/** Fields without a manager at the first apply belong to "before-first-apply". */
function managersOrDefault(live: KubeObject, kind: ServedKind): readonly FieldManager[] {
  const managers = fieldManagersOf(live.metadata.managedFields);
  if (managers.length > 0) return managers;
  const fields = withoutSystemFields(fieldSetOf(live, kind.fields));
  const apiVersion = apiVersionOf(kind);
  return [{ name: "before-first-apply", operation: "Update", subresource: "", apiVersion, time: "", fields }];
}

interface Conflict {
  readonly manager: FieldManager;
  readonly fields: FieldSet;
}

function conflictsOf(others: readonly FieldManager[], changed: FieldSet): readonly Conflict[] {
  return others
    .map((manager) => ({ manager, fields: fieldSetIntersection(manager.fields, changed) }))
    .filter(({ fields }) => !isEmptyFieldSet(fields));
}

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Fields kubectl wrote by client-side apply and that are unchanged since: kubectl may take them over without conflict.
 */
function lastApplied(live: KubeObject, kind: ServedKind): FieldSet | undefined {
  const text = live.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return undefined;
  try {
    const config: unknown = JSON.parse(text);
    const { changed } = compareFields(live, mergeApplied(live, config, kind.fields), kind.fields);
    return fieldSetDifference(withoutSystemFields(fieldSetOf(config, kind.fields)), changed);
  } catch {
    return undefined;
  }
}

function conflictError(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.flatMap(({ manager, fields }) =>
    [...fieldPaths(fields)].map((field) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${managerText(manager)}`,
      field,
    })),
  );
  return apiError("conflict", conflictMessage(conflicts, causes), { causes });
}

function conflictMessage(
  conflicts: readonly Conflict[],
  causes: readonly { readonly message: string; readonly field: string }[],
): string {
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
  const lines = conflicts.flatMap(({ manager, fields }) => [
    `conflicts with ${managerText(manager)}:`,
    ...[...fieldPaths(fields)].map((field) => `- ${field}`),
  ]);
  return `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`;
}

function managerText({ name, subresource, operation, apiVersion, time }: FieldManager): string {
  const who = `${JSON.stringify(name)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}`;
  if (operation === "Apply") return who;
  return `${who} using ${apiVersion}${time === "" ? "" : ` at ${time}`}`;
}
