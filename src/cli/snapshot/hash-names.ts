import { type KubeObject, namespaceOf } from "../../api/object.ts";
import { NameHasher, type NameHasherOptions } from "./name-hasher.ts";
import { projectObject } from "./project-object.ts";
import { volumeClaimNamers } from "./volume-claim-names.ts";

export interface HashedObjects {
  readonly objects: readonly KubeObject[];
  /** Gives the replacement of a name. */
  readonly nameHasher: NameHasher;
}

/** Projects objects with hashed names; a plan of them makes the same decisions. */
export function hashNames(objects: readonly KubeObject[], options: NameHasherOptions): HashedObjects {
  const nameHasher = new NameHasher(options);
  for (const object of objects) projectObject(object, nameHasher.collectingWriter);
  const namersByNamespace = volumeClaimNamers(objects);
  const hashed = objects.flatMap((object) => {
    const names = nameHasher.hashingWriter(namersByNamespace(namespaceOf(object.metadata)));
    return projectObject(object, names) ?? [];
  });
  return { objects: hashed, nameHasher };
}
