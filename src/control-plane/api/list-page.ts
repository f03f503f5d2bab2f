import type { KubeObject } from "../../api/object.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import type { StoreChange } from "../store/change-log.ts";
import type { Collection } from "../store/collection.ts";
import { badRequest, expiredVersion } from "./api-errors.ts";
import { assertRevisionReached, parseRevision } from "./revisions.ts";
import { Selection, type SelectionOptions } from "./selectors/selection.ts";

export interface ListRequest extends SelectionOptions {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
}

/** One page of a list. */
export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  /** Only known without a selector. */
  readonly remainingItemCount?: number;
}

interface ListPosition {
  readonly revision: number;
  readonly from: string;
}

/** All pages of a list show the same revision. */
export function listPage(
  { kind, collection, revision }: { kind: ServedKind; collection: Collection; revision: number },
  request: ListRequest,
): ListPage {
  const selection = new Selection(kind, request);
  const position = positionOf(request, revision);
  const limit = request.limit === undefined || request.limit <= 0 ? Number.POSITIVE_INFINITY : request.limit;
  const entries =
    position.revision === revision
      ? selection.select(collection, position.from)
      : entriesAtRevision(collection, { selection, position });
  const items = entries.slice(0, limit).map(([, object]) => object);
  const next = entries[items.length]?.[0];
  const remaining = entries.length - items.length;
  const page = { items, resourceVersion: String(position.revision) };
  if (next === undefined) return page;
  const hasSelector = (request.labelSelector ?? "") !== "" || (request.fieldSelector ?? "") !== "";
  const token = encodeContinueToken({ revision: position.revision, from: next });
  return { ...page, continue: token, ...(hasSelector ? {} : { remainingItemCount: remaining }) };
}

function positionOf(request: ListRequest, current: number): ListPosition {
  const { continue: token, resourceVersionMatch: match, resourceVersion } = request;
  const requestedRevision = parseRevision(resourceVersion);
  if (token !== undefined && token !== "") {
    if (requestedRevision !== undefined)
      throw badRequest("specifying resource version is not allowed when using continue");
    const position = decodeContinueToken(token);
    assertRevisionReached(position.revision, current);
    return position;
  }
  if (match !== undefined && (resourceVersion ?? "") === "") {
    throw badRequest("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  assertRevisionReached(requestedRevision, current);
  return { revision: match === "Exact" && requestedRevision !== undefined ? requestedRevision : current, from: "" };
}

/** The collection at an earlier revision: the current one with later changes undone. */
function entriesAtRevision(
  collection: Collection,
  { selection, position }: { selection: Selection; position: ListPosition },
): readonly (readonly [string, KubeObject])[] {
  const changes = collection.log.since(position.revision);
  if (changes === undefined) {
    throw expiredVersion(
      "The provided continue parameter is too old to display a consistent list result. " +
        "You can start a new list without the continue parameter.",
    );
  }
  const before = new Map<string, StoreChange>();
  for (const change of changes) if (!before.has(change.key)) before.set(change.key, change);
  const entries: (readonly [string, KubeObject])[] = [];
  for (const entry of collection.range({ prefix: selection.keyPrefix, from: position.from })) {
    if (!before.has(entry[0])) entries.push(entry);
  }
  for (const [key, { previous }] of before) {
    const inRange = key >= position.from && key.startsWith(selection.keyPrefix);
    if (inRange && previous !== undefined) entries.push([key, previous]);
  }
  return entries.filter(([, object]) => selection.matches(object)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function encodeContinueToken({ revision, from }: ListPosition): string {
  return Buffer.from(JSON.stringify({ v: "v1", rv: revision, start: from })).toString("base64url");
}

function decodeContinueToken(token: string): ListPosition {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString()) as Record<string, unknown>;
    if (v === "v1" && typeof rv === "number" && Number.isSafeInteger(rv) && rv >= 0 && typeof start === "string") {
      return { revision: rv, from: start };
    }
  } catch {
    // not a token of this server
  }
  throw badRequest("continue key is not valid: it was not issued by this server");
}
