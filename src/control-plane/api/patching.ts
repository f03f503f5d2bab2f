import type { KubeObject } from "../../api/object.ts";
import type { Patch } from "../../kube/client.ts";
import type { Draft } from "../kinds/draft.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { applied } from "./apply/apply.ts";
import { badRequest, failure, notFound } from "./failures.ts";
import { assertReasonable } from "./limits.ts";
import { jsonPatch } from "./patch/json-patch.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { strategicMerge } from "./patch/strategic-merge.ts";
import type { Key, WriteRequest } from "./request.ts";
import { assertNameMatches, type Machine, type Writer, type Written } from "./writer.ts";

/** What an object becomes by a patch: still as unread as anything a client sends. */
export function patched(
  object: KubeObject,
  patch: Exclude<Patch, { kind: "apply" }>,
  { kind, isScale }: { readonly kind: ServedKind; readonly isScale: boolean },
): unknown {
  assertReasonable(patch.body);
  switch (patch.kind) {
    case "json":
      return jsonPatch(object, patch.body);
    case "merge":
      assertObject(patch.body);
      return mergePatch(object, patch.body);
    case "strategic":
      if (isScale) return mergePatch(object, patch.body);
      if (kind.custom !== undefined) throw notStrategic();
      return strategicMerge(object, patch.body, kind.fields);
  }
}

function assertObject(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw badRequest("a merge patch is an object");
}

/** The API server does not know how a custom kind's lists are merged. */
function notStrategic(): Error {
  return failure(
    "unsupported-media-type",
    "the body of the request was in an unknown format - accepted media types include: " +
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  );
}

export interface ApplyTarget {
  readonly machine: Machine;
  readonly writer: Writer;
  readonly kind: ServedKind;
  readonly stored: ServedKind;
  readonly key: Key;
  readonly old: KubeObject | undefined;
}

/** Server-side apply: creates what is not there. */
export function applyPatch(
  { machine, writer, kind, stored, key, old }: ApplyTarget,
  patch: Patch & { readonly kind: "apply" },
  request: WriteRequest,
): { readonly written: Written; readonly warnings: readonly string[] } {
  if (patch.fieldManager === "") throw badRequest("fieldManager is required for apply patch");
  const { draft: config, warnings } = writer.read(kind, patch.body, request);
  assertNameMatches(key, config);
  if (config.metadata.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  if (old === undefined && request.subresource !== undefined) throw notFound(kind, key.name);
  config.metadata.name = key.name;
  if (stored.namespaced && key.namespace !== undefined) config.metadata.namespace = key.namespace;
  const version = config.metadata.resourceVersion ?? old?.metadata.resourceVersion ?? "";
  const merged = applied({
    kind: stored,
    live: old,
    config,
    manager: patch.fieldManager,
    isForced: patch.force === true,
    request,
    now: machine.clock.now(),
  });
  // Read again: lists that lost their last item are gone, not empty.
  const draft = stored.behaviour.decode(merged).value as Draft;
  const options = { ...request, isApplied: true };
  if (old === undefined)
    return { written: writer.create(stored, draft, { ...options, namespace: key.namespace }), warnings };
  draft.metadata.resourceVersion = version;
  return { written: writer.replace(stored, old, draft, options), warnings };
}
