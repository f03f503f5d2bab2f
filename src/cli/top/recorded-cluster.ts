import type { KubeObject } from "../../api/object.ts";
import type { Clock } from "../../util/clock.ts";
import type { Connect } from "../live-cluster.ts";

/** A cluster that answers lists from objects that were read before, so that a plan of them can be made without asking again. */
export function recordedCluster(objects: readonly KubeObject[], clock: Clock): Connect {
  const byKind = new Map<string, KubeObject[]>();
  for (const object of objects) {
    const known = byKind.get(object.kind);
    if (known === undefined) byKind.set(object.kind, [object]);
    else known.push(object);
  }
  const list = async <T extends KubeObject>({ kind }: { readonly kind: string }) => ({
    items: (byKind.get(kind) ?? []) as readonly KubeObject[] as readonly T[],
    resourceVersion: "",
  });
  return async () => ({ kube: { list }, server: "", clock, close: () => undefined });
}
