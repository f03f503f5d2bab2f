import { isRecord, type KubeObject } from "../api/object.ts";
import { isKubeError } from "../kube/kube-error.ts";
import type { ApiServer } from "./api/server.ts";
import type { ServedKind } from "./kinds/served-kind.ts";

/** Creates objects that are known to be valid; throws the first refusal. */
export async function createObjects(api: ApiServer, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const kind = api.kinds.findByApiVersion(object);
    if (kind === undefined) throw new Error(`no kind ${object.kind} in ${object.apiVersion}`);
    const request = { namespace: namespaceFor(kind, object.metadata.namespace), fieldManager };
    try {
      await api.create(kind, object, request);
    } catch (error) {
      if (!isKubeError(error, "already-exists")) throw error;
    }
  }
}

const fieldManager = "karpenter-up";

/** Applied first: other objects are instances of them or live in them. */
const appliedFirst: readonly unknown[] = ["CustomResourceDefinition", "Namespace"];

/** Applies manifests, CRDs and namespaces first. Returns the errors as text. */
export async function loadObjects(api: ApiServer, objects: readonly unknown[]): Promise<readonly string[]> {
  const isAppliedFirst = (object: unknown) => isRecord(object) && appliedFirst.includes(object["kind"]);
  const ordered = [...objects.filter(isAppliedFirst), ...objects.filter((object) => !isAppliedFirst(object))];
  const refusals: string[] = [];
  for (const object of ordered) {
    const refusal = await applyObject(api, object);
    if (refusal !== undefined) refusals.push(refusal);
  }
  return refusals;
}

async function applyObject(api: ApiServer, object: unknown): Promise<string | undefined> {
  const { apiVersion, kind: name, metadata } = isRecord(object) ? object : {};
  if (typeof apiVersion !== "string" || typeof name !== "string" || !isRecord(metadata)) {
    return "a document is not a Kubernetes object: apiVersion, kind or metadata is missing";
  }
  const kind = api.kinds.findByApiVersion({ apiVersion, kind: name });
  const what = `${name} ${String(metadata["name"] ?? "")}`.trim();
  if (kind === undefined)
    return `${what}: no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(apiVersion)}`;
  try {
    await write(api, kind, { object, metadata });
    return undefined;
  } catch (error) {
    if (isKubeError(error)) return `${what}: ${error.message}`;
    throw error;
  }
}

interface ManifestObject {
  readonly object: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Applied, so that two manifests may describe one object; created where the server generates the name. */
async function write(api: ApiServer, kind: ServedKind, { object, metadata }: ManifestObject): Promise<void> {
  const namespace = namespaceFor(kind, metadata["namespace"]);
  const { name } = metadata;
  if (typeof name !== "string" || name === "") await api.create(kind, object, { namespace, fieldManager });
  else await api.patch(kind, { name, namespace }, { kind: "apply", body: object, fieldManager, force: true });
}

function namespaceFor({ namespaced }: ServedKind, written: unknown): string | undefined {
  if (!namespaced) return undefined;
  return typeof written === "string" && written !== "" ? written : "default";
}
