import type { PodProblem, PodProblemCode } from "../pod-validation.ts";

/** What keeps a pod out of scheduling, in plain words; events and logs keep upstream's. (02 §1.5) */
const texts: Readonly<Partial<Record<PodProblemCode, string>>> = {
  "avoids-karpenter": "the pod asks for nodes that Karpenter does not launch",
  "match-fields": "the pod's node affinity uses matchFields, which can only name nodes that exist already",
  "claim-missing": "its PersistentVolumeClaim does not exist",
  "claim-deleting": "its PersistentVolumeClaim is being deleted",
  "claim-lost": "its PersistentVolumeClaim has lost its volume",
  "volume-missing": "the volume of its PersistentVolumeClaim does not exist",
  "volume-deleting": "the volume of its PersistentVolumeClaim is being deleted",
  "claim-not-bound": "its PersistentVolumeClaim names a volume and is not bound to it yet",
  "class-missing": "the StorageClass of its PersistentVolumeClaim does not exist",
  "class-immediate":
    "its PersistentVolumeClaim waits for its volume: the StorageClass binds at once (volumeBindingMode Immediate), and has not yet",
};

export function describePodProblem({ code, text }: PodProblem): string {
  const details = /\(([^()]*)\)$/.exec(text)?.[1]?.replaceAll("=", " ");
  const plain = texts[code];
  if (plain !== undefined) return details === undefined ? plain : `${plain} (${details})`;
  const value = /^no valid values found in \[(.*?)\] for (\S+), expected one of: map\[(.*?)\]/.exec(text);
  if (value !== null) {
    const known = (value[3] ?? "").replaceAll(":{}", "").split(" ").join(", ");
    return `the pod asks for ${value[2]}=${value[1]}, and only ${known} are known`;
  }
  const label = /label (\S+) is (?:not allowed|restricted)/.exec(text)?.[1];
  return label === undefined
    ? text
    : `the pod asks for the label ${label}, which cannot be chosen before a node is launched`;
}
