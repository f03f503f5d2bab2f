import { type KubeObject, namespaceOf } from "../../api/object.ts";
import { claimNamesOf } from "./claim-names.ts";
import { NameBook, type NameBookOptions } from "./name-book.ts";
import { project } from "./project.ts";

export interface Hashed {
  readonly objects: readonly KubeObject[];
  /** What stands for which name. */
  readonly book: NameBook;
}

/** Objects as the engine reads them, under other names: a plan of them decides the same. */
export function hashNames(objects: readonly KubeObject[], options: NameBookOptions): Hashed {
  const book = new NameBook(options);
  for (const object of objects) project(object, book.listener);
  const claimNames = claimNamesOf(objects);
  const hashed = objects.flatMap((object) => {
    const scribe = book.writer(claimNames(namespaceOf(object.metadata)));
    return project(object, scribe) ?? [];
  });
  return { objects: hashed, book };
}
