import { type KubeObject, namespaceOf } from "../../api/object.ts";
import type { NameHasher } from "./name-hasher.ts";
import { projectObject } from "./project-object.ts";
import { volumeClaimNamers } from "./volume-claim-names.ts";

/** Projects objects with hashed names; a plan of them makes the same decisions. */
export function hashNames(objects: readonly KubeObject[], nameHasher: NameHasher): readonly KubeObject[] {
  for (const object of objects) projectObject(object, nameHasher.collectingWriter);
  const namersByNamespace = volumeClaimNamers(objects);
  return objects.flatMap((object) => {
    const names = nameHasher.hashingWriter(namersByNamespace(namespaceOf(object.metadata)));
    return projectObject(object, names) ?? [];
  });
}
