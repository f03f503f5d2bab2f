import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName, type ObjectMeta } from "../../api/object.ts";

/** `a, b, c and 7 other(s)`. */
export function listing(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(", ");
  return names.length <= most ? shown : `${shown} and ${names.length - most} other(s)`;
}

export function podNames(pods: readonly Pod[], most = 5): string {
  const names = pods.slice(0, most).map(({ metadata }) => namespacedName(metadata));
  return pods.length <= most ? listing(names, most) : `${names.join(", ")} and ${pods.length - most} other(s)`;
}

/** How log lines refer to objects. */
export function referred({
  name,
  namespace,
}: Pick<ObjectMeta, "name" | "namespace">): Readonly<Record<string, string>> {
  return { name: name ?? "", ...(namespace !== undefined && namespace !== "" && { namespace }) };
}
