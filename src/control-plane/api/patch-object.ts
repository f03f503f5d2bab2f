import type { KubeObject } from "../../api/object.ts";
import { type ObjectKey, type Patch, patchMediaTypes } from "../../kube/client.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { apiError, badRequest, notFound } from "./api-errors.ts";
import { serverSideApply } from "./apply/server-side-apply.ts";
import { assertWithinLimits } from "./object-limits.ts";
import type { ObjectWriter, WriteResult } from "./object-writer.ts";
import { jsonPatch } from "./patch/json-patch.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { strategicMerge } from "./patch/strategic-merge.ts";
import type { WriteRequest } from "./request.ts";
import type { ServerContext } from "./server-context.ts";
import { assertNameMatches } from "./write-checks.ts";

/** The patched object, not decoded or validated yet. */
export function patchObject(
  object: KubeObject,
  patch: Exclude<Patch, { kind: "apply" }>,
  { kind, isScale }: { readonly kind: ServedKind; readonly isScale: boolean },
): unknown {
  assertWithinLimits(patch.body);
  switch (patch.kind) {
    case "json":
      return jsonPatch(object, patch.body);
    case "merge":
      assertObject(patch.body);
      return mergePatch(object, patch.body);
    case "strategic":
      if (isScale) return mergePatch(object, patch.body);
      if (kind.custom !== undefined) throw unknownPatchFormat(kind);
      return strategicMerge(object, patch.body, kind.fields);
  }
}

function assertObject(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw badRequest("error decoding patch: a merge patch must be an object");
}

/** Custom kinds have no merge rules for their lists, so strategic merge is not offered. */
export function unknownPatchFormat({ custom }: ServedKind): Error {
  const { strategic, ...others } = patchMediaTypes;
  const accepted = Object.values(custom === undefined ? patchMediaTypes : others).join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return apiError("unsupported-media-type", message);
}

export interface ApplyTarget {
  readonly server: ServerContext;
  readonly writer: ObjectWriter;
  readonly kind: ServedKind;
  readonly stored: ServedKind;
  readonly key: ObjectKey;
  readonly old: KubeObject | undefined;
}

/** Server-side apply; creates the object if it does not exist. */
export function applyPatch(
  { server, writer, kind, stored, key, old }: ApplyTarget,
  patch: Patch & { readonly kind: "apply" },
  request: WriteRequest,
): { readonly written: WriteResult; readonly warnings: readonly string[] } {
  if (patch.fieldManager === "") throw badRequest("fieldManager is required for apply patch");
  const { draft: config, warnings } = writer.decode(kind, patch.body, request);
  assertNameMatches(key, config);
  if (config.metadata.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  if (old === undefined && request.subresource !== undefined) throw notFound(kind, key.name);
  config.metadata.name = key.name;
  if (stored.namespaced && key.namespace !== undefined) config.metadata.namespace = key.namespace;
  const version = config.metadata.resourceVersion ?? old?.metadata.resourceVersion ?? "";
  const merged = serverSideApply({
    kind: stored,
    live: old,
    config,
    manager: patch.fieldManager,
    isForced: patch.force === true,
    request,
    now: server.clock.now(),
  });
  // Decoded again, because a list that lost its last item is absent, not empty.
  const draft = stored.behaviour.decode(merged).value as ObjectDraft;
  const options = { ...request, isApplied: true };
  if (old === undefined)
    return { written: writer.create(stored, draft, { ...options, namespace: key.namespace }), warnings };
  draft.metadata.resourceVersion = version;
  return { written: writer.replace(stored, old, draft, options), warnings };
}
