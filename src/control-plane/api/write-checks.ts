import { isRecord, type KubeObject } from "../../api/object.ts";
import type { ObjectKey } from "../../kube/client.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { textAt } from "../object-fields.ts";
import { badRequest, conflict, forbiddenField, invalidObject, invalidValue } from "./api-errors.ts";
import type { DeleteRequest } from "./request.ts";

/** The body must be of the kind and version of the endpoint. */
export function assertIdentity(kind: ServedKind, body: unknown): void {
  if (!isRecord(body)) throw badRequest("the body of the request is not an object");
  // A built-in kind may leave both out; the official JavaScript client does.
  const isCustom = kind.custom !== undefined;
  const { apiVersion = isCustom ? "" : apiVersionOf(kind), kind: name = isCustom ? "" : kind.kind } = body;
  if (typeof name !== "string" || name === "") throw badRequest("Object 'Kind' is missing");
  if (typeof apiVersion !== "string" || apiVersion === "") throw badRequest("Object 'apiVersion' is missing");
  if (name !== kind.kind || apiVersion !== apiVersionOf(kind)) {
    throw badRequest(
      `${name} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${kind.kind}: ` +
        `expected ${kind.kind} in ${apiVersionOf(kind)}`,
    );
  }
}

/** Name and namespace of the body must match the URL. */
export function assertNameMatches(key: ObjectKey, draft: ObjectDraft): void {
  const written = textAt(draft.metadata, "name");
  if (written !== "" && written !== key.name) {
    throw badRequest(`the name of the object (${written}) does not match the name on the URL (${key.name})`);
  }
  const namespace = textAt(draft.metadata, "namespace");
  if (namespace !== "" && key.namespace !== undefined && namespace !== key.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the URL (${key.namespace})`,
    );
  }
}

/** An update must be of the object and version the client has seen. */
export function assertUpdatePreconditions(kind: ServedKind, old: KubeObject, draft: ObjectDraft): void {
  const { resourceVersion = "", uid = "" } = draft.metadata;
  const name = old.metadata.name ?? "";
  if (uid !== "") assertUid(kind, old, uid);
  if (resourceVersion !== "" && resourceVersion !== "0") {
    if (resourceVersion !== old.metadata.resourceVersion) throw conflict(kind, name);
  } else if (kind.behaviour.needsVersionToUpdate === true) {
    throw invalidObject(kind, name, [
      invalidValue(["metadata", "resourceVersion"], 0, "must be specified for an update"),
    ]);
  }
}

export function assertDeletePreconditions(kind: ServedKind, old: KubeObject, { preconditions }: DeleteRequest): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const { name = "", resourceVersion: current } = old.metadata;
  if (uid !== undefined) assertUid(kind, old, uid);
  if (resourceVersion !== undefined && resourceVersion !== current) {
    const because = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current}`;
    throw conflict(kind, name, `Precondition failed: ${because}`);
  }
}

function assertUid(kind: ServedKind, { metadata }: KubeObject, uid: string): void {
  if (uid === metadata.uid) return;
  const because = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
  throw conflict(kind, metadata.name ?? "", because);
}

export function assertFinalizers(kind: ServedKind, draft: ObjectDraft, old: KubeObject): void {
  if (old.metadata.deletionTimestamp === undefined) return;
  const known = new Set(old.metadata.finalizers);
  const added = (draft.metadata.finalizers ?? []).filter((one) => !known.has(one));
  if (added.length === 0) return;
  const because = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  throw invalidObject(kind, old.metadata.name ?? "", [forbiddenField(["metadata", "finalizers"], because)]);
}
