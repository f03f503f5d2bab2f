import type { StorageClass } from "./cluster-objects.ts";

type Class = Pick<StorageClass, "metadata">;

/** Either annotation marks the class of claims that name none. */
export const defaultStorageClassAnnotation = "storageclass.kubernetes.io/is-default-class";
const annotations = [defaultStorageClassAnnotation, "storageclass.beta.kubernetes.io/is-default-class"];

export function isDefaultStorageClass({ metadata }: Class): boolean {
  return annotations.some((key) => metadata.annotations?.[key] === "true");
}

/** Of several default classes the newest is used, as in Kubernetes, then the first by name. */
export function defaultStorageClassOf<T extends Class>(classes: Iterable<T>): T | undefined {
  let chosen: T | undefined;
  for (const one of classes) {
    if (isDefaultStorageClass(one) && (chosen === undefined || isPreferred(one, chosen))) chosen = one;
  }
  return chosen;
}

function isPreferred({ metadata: one }: Class, { metadata: other }: Class): boolean {
  const [created, otherCreated] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  return created === otherCreated ? (one.name ?? "") < (other.name ?? "") : created > otherCreated;
}
