import { isSameJson } from "../../api/json.ts";
import type { KubeObject } from "../../api/object.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { metadataDraftOf, type ObjectDraft } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { numberAt, textAt } from "../object-fields.ts";
import { badRequest } from "./api-errors.ts";
import { isReadyForRemoval } from "./object-writer.ts";
import type { DeleteRequest } from "./request.ts";
import { type ServerContext, storageKey } from "./server-context.ts";
import { assertDeletePreconditions } from "./write-checks.ts";

const foreground = "foregroundDeletion";
const orphan = "orphan";

export interface DeleteResult {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/** Deletes the object, or marks it for deletion while a grace period or finalizers hold it. (05 §3, CP-L7) */
export function deleteObject(
  server: ServerContext,
  kind: ServedKind,
  old: KubeObject,
  request: DeleteRequest,
): DeleteResult {
  assertDeletePreconditions(kind, old, request);
  const draft = metadataDraftOf(old);
  markPropagation(draft, request);
  const now = server.clock.now();
  const isFirst = draft.metadata.deletionTimestamp === undefined;
  const grace = graceSeconds(old, request);
  const before = draft.metadata.deletionGracePeriodSeconds;
  if (isFirst || (before !== undefined && grace < before)) {
    draft.metadata.deletionTimestamp = isFirst ? rfc3339(now + grace * 1000) : shortenedDeletionTime(old, grace);
    draft.metadata.deletionGracePeriodSeconds = grace;
    if (isFirst && typeof draft.metadata.generation === "number") draft.metadata.generation++;
  }
  if (kind.storage === "namespaces" && draft.status !== undefined)
    draft.status = { ...draft.status, phase: "Terminating" };
  const key = storageKey(kind, { name: old.metadata.name ?? "", namespace: old.metadata.namespace });
  if (isReadyForRemoval(draft)) {
    if (request.dryRun === true) return { object: draft, isGone: true };
    return { object: server.store.remove(kind.storage, key) ?? old, isGone: true };
  }
  const isUnchanged = !isFirst && isSameJson(draft.metadata, old.metadata);
  if (isUnchanged) return { object: old, isGone: false };
  if (request.dryRun === true) return { object: draft, isGone: false };
  return { object: server.store.put(kind.storage, key, draft), isGone: false };
}

/** Foreground and orphan deletion are finalizers that the garbage collector removes; background needs none. */
function markPropagation(draft: ObjectDraft, { propagation }: DeleteRequest): void {
  if (propagation === undefined) return;
  const others = (draft.metadata.finalizers ?? []).filter((one) => one !== foreground && one !== orphan);
  const own = propagation === "Foreground" ? [foreground] : propagation === "Orphan" ? [orphan] : [];
  const finalizers = [...others, ...own];
  if (finalizers.length > 0) draft.metadata.finalizers = finalizers;
  else delete draft.metadata.finalizers;
}

/** 68 years: times stay within what dates and timers can hold, whatever a pod asks for. */
const maxGraceSeconds = 2 ** 31 - 1;

/** Only pods bound to a node get a grace period. */
function graceSeconds({ kind, apiVersion, spec, status }: KubeObject, { gracePeriodSeconds }: DeleteRequest): number {
  if (gracePeriodSeconds !== undefined && !Number.isSafeInteger(gracePeriodSeconds)) {
    throw badRequest("gracePeriodSeconds is not an integer");
  }
  if (kind !== "Pod" || apiVersion !== "v1" || textAt(spec, "nodeName") === "") return 0;
  const phase = textAt(status, "phase");
  if (phase === "Succeeded" || phase === "Failed") return 0;
  const requestedSeconds = gracePeriodSeconds ?? numberAt(spec, "terminationGracePeriodSeconds") ?? 30;
  return requestedSeconds < 0 ? 1 : Math.min(requestedSeconds, maxGraceSeconds);
}

/** A shorter grace period counts from the first delete request. */
function shortenedDeletionTime({ metadata }: KubeObject, grace: number): string {
  const old = metadata.deletionGracePeriodSeconds ?? 0;
  return rfc3339(Date.parse(metadata.deletionTimestamp ?? "") - old * 1000 + grace * 1000);
}
