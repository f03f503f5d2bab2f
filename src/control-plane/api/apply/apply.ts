import type { KubeObject } from "../../../api/object.ts";
import { copyJson, type Draft, draftOf } from "../../kinds/draft.ts";
import type { ServedKind } from "../../kinds/kind.ts";
import { apiVersionOf } from "../../kinds/registry.ts";
import { failure } from "../failures.ts";
import type { WriteRequest } from "../request.ts";
import { rfc3339 } from "../times.ts";
import {
  type FieldSet,
  fromFieldsV1,
  intersection,
  isEmptySet,
  paths,
  sameSet,
  without,
  withoutBelow,
} from "./field-set.ts";
import { type Manager, managersOf, ownable, setManagers } from "./managed-fields.ts";
import { mergeApplied, withoutAbandoned } from "./merge.ts";
import { compare, setOf } from "./parts.ts";

export interface Application {
  readonly kind: ServedKind;
  /** What is there; undefined: nothing yet. */
  readonly live: KubeObject | undefined;
  /** What the manager wants, and no more than that. */
  readonly config: Draft;
  readonly manager: string;
  readonly isForced: boolean;
  readonly request: WriteRequest;
  readonly now: number;
}

/** What an object becomes when someone applies their part of it; 409 where others own what would change. (05 §3) */
export function applied(application: Application): Draft {
  const { kind, live, config, request } = application;
  const wanted = endpointFields(kind, request, ownable(setOf(config, kind.fields)));
  if (live === undefined) return created(application, wanted);
  const managers = managersOrAll(live, kind);
  const isOwn = isApplierOf(application);
  const last = managers.find(isOwn);
  const others = managers.filter((one) => !isOwn(one));
  const merged = mergeApplied(live, config, kind.fields);
  const { changed } = compare(live, merged, kind.fields);
  const conflicts = conflictsOf(others, endpointFields(kind, request, ownable(changed)));
  const allowed = conflicts.length > 0 && application.manager === "kubectl" ? lastApplied(live, kind) : undefined;
  const remaining =
    allowed === undefined ? conflicts : conflicts.filter((one) => !isEmptySet(without(one.fields, allowed)));
  if (remaining.length > 0 && !application.isForced) throw conflictError(remaining);
  const losers = conflicts.map(({ fields }) => fields);
  const kept = others.map((one) => ({
    ...one,
    fields: losers.reduce((left, lost) => without(left, lost), one.fields),
  }));
  const keep = [wanted, ...kept.map(({ fields }) => fields)];
  const draft = copyJson(
    last === undefined ? merged : withoutAbandoned(merged, last.fields, { keep, schema: kind.fields }),
  ) as Draft;
  const { changed: now, removed } = compare(live, draft, kind.fields);
  const isSame =
    last !== undefined && sameSet(last.fields, wanted) && isEmptySet(ownable(now)) && isEmptySet(ownable(removed));
  const survivors = kept.map((one) => ({ ...one, fields: withoutBelow(one.fields, ownable(removed)) }));
  setManagers(draft, [...survivors, isSame ? last : entryOf(application, wanted)]);
  return draft;
}

function created(application: Application, wanted: FieldSet): Draft {
  const draft = draftOf(application.config as unknown as KubeObject);
  setManagers(draft, [entryOf(application, wanted)]);
  return draft;
}

function entryOf({ kind, manager, request, now }: Application, fields: FieldSet): Manager {
  const { subresource = "" } = request;
  return { name: manager, operation: "Apply", subresource, apiVersion: apiVersionOf(kind), time: rfc3339(now), fields };
}

function isApplierOf({ manager, request }: Application): (one: Manager) => boolean {
  return ({ name, operation, subresource }) =>
    name === manager && operation === "Apply" && subresource === (request.subresource ?? "");
}

const statusFields = fromFieldsV1({ "f:status": {} });

/** Only what the endpoint writes can be owned through it. */
function endpointFields({ behaviour }: ServedKind, { subresource }: WriteRequest, fields: FieldSet): FieldSet {
  if (subresource === "status") return intersectTree(fields, "f:status");
  return behaviour.hasStatus ? withoutBelow(fields, statusFields) : fields;
}

function intersectTree(fields: FieldSet, step: string): FieldSet {
  const child = fields.children.get(step);
  return { isMember: false, children: child === undefined ? new Map() : new Map([[step, child]]) };
}

/** What nobody has claimed when the first applier comes was written by those before. */
function managersOrAll(live: KubeObject, kind: ServedKind): readonly Manager[] {
  const managers = managersOf((live.metadata as { managedFields?: unknown }).managedFields);
  if (managers.length > 0) return managers;
  const fields = ownable(setOf(live, kind.fields));
  const apiVersion = apiVersionOf(kind);
  return [{ name: "before-first-apply", operation: "Update", subresource: "", apiVersion, time: "", fields }];
}

interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

function conflictsOf(others: readonly Manager[], changed: FieldSet): readonly Conflict[] {
  return others
    .map((manager) => ({ manager, fields: intersection(manager.fields, changed) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Fields kubectl wrote by client-side apply and that are still as it wrote them: they are its own to take over. */
function lastApplied(live: KubeObject, kind: ServedKind): FieldSet | undefined {
  const text = live.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return undefined;
  try {
    const config: unknown = JSON.parse(text);
    const { changed } = compare(live, mergeApplied(live, config, kind.fields), kind.fields);
    return without(ownable(setOf(config, kind.fields)), changed);
  } catch {
    return undefined;
  }
}

function conflictError(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.flatMap(({ manager, fields }) =>
    [...paths(fields)].map((field) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${managerText(manager)}`,
      field,
    })),
  );
  return failure("conflict", conflictMessage(conflicts, causes), { causes });
}

function conflictMessage(
  conflicts: readonly Conflict[],
  causes: readonly { readonly message: string; readonly field: string }[],
): string {
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
  const lines = conflicts.flatMap(({ manager, fields }) => [
    `conflicts with ${managerText(manager)}:`,
    ...[...paths(fields)].map((field) => `- ${field}`),
  ]);
  return `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`;
}

function managerText({ name, subresource, operation, apiVersion, time }: Manager): string {
  const who = `${JSON.stringify(name)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}`;
  if (operation === "Apply") return who;
  return `${who} using ${apiVersion}${time === "" ? "" : ` at ${time}`}`;
}
