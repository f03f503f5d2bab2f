import type { ObjectDraftMetadata } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { apiError, notFound, resourceName } from "./api-errors.ts";

const namespaces = { group: "", kind: "Namespace", plural: "namespaces" } as const;

/** Objects can be created only in a namespace that exists and is not terminating. */
export function assertNamespace({
  kind,
  store,
  metadata,
}: {
  kind: ServedKind;
  store: ObjectStore;
  metadata: ObjectDraftMetadata;
}): void {
  const { namespace = "" } = metadata;
  const found = store.collection("namespaces").get(namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const name = metadata.name ?? metadata.generateName ?? "";
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw apiError("forbidden", `${resourceName(kind)} "${name}" is forbidden: ${because}`, {
    name,
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.plural,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}
