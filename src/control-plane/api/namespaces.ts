import type { DraftMeta } from "../kinds/draft.ts";
import type { ServedKind } from "../kinds/kind.ts";
import type { Store } from "../store/store.ts";
import { failure, notFound, resourceName } from "./failures.ts";

const namespaces = { group: "", kind: "Namespace", plural: "namespaces" } as const;

/** Nothing is created in a namespace that is not there or is going. */
export function assertNamespace({
  kind,
  store,
  metadata,
}: {
  kind: ServedKind;
  store: Store;
  metadata: DraftMeta;
}): void {
  const { namespace = "" } = metadata;
  const found = store.collection("namespaces").get(namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const name = metadata.name ?? metadata.generateName ?? "";
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw failure("forbidden", `${resourceName(kind)} "${name}" is forbidden: ${because}`, {
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
