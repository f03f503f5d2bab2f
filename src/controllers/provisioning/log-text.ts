import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName, type ObjectMeta } from "../../api/object.ts";

/** `a, b, c and 7 other(s)`. */
export function joinedNames(names: readonly string[], max = 5): string {
  const shown = names.slice(0, max).join(", ");
  return names.length <= max ? shown : `${shown} and ${names.length - max} other(s)`;
}

export function joinedPodNames(pods: readonly Pod[], max = 5): string {
  const names = pods.slice(0, max).map(({ metadata }) => namespacedName(metadata));
  return pods.length <= max ? joinedNames(names, max) : `${names.join(", ")} and ${pods.length - max} other(s)`;
}

/** An object as log lines refer to it. */
export function logReference({
  name,
  namespace,
}: Pick<ObjectMeta, "name" | "namespace">): Readonly<Record<string, string>> {
  return { name: name ?? "", ...(namespace !== undefined && namespace !== "" && { namespace }) };
}
