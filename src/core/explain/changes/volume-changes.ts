import type { PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../../api/kubernetes/pod.ts";
import { closestMatch } from "../../../api/manifest/closest-match.ts";
import { namespaceOf } from "../../../api/object.ts";
import type { SchedulingProblem } from "../../scheduling/problem.ts";
import { type VolumeIndex, volumeClaimName } from "../../volumes.ts";
import { podController } from "../edit.ts";
import { addOperation, jsonPointer, type PatchPath, replaceOperation } from "../json-patch.ts";
import { type CandidateChange, changeOf, changeWeights, editedPod } from "./candidate-change.ts";

/*
 * Data stays where it is: no change drops a volume, moves one, or edits a claim that has one. A claim is only ever named
 * otherwise, created, or given a class before it has a volume, and never where a StatefulSet makes the claims.
 */

/** Changes after which a volume that is not there yet may be made where the pool's nodes can be. */
export function storageClassMoves(
  pod: Pod,
  { index, valuesOf }: { index: VolumeIndex; valuesOf: (label: string) => readonly string[] },
): readonly CandidateChange[] {
  return volumeClaimsOf(pod, index).flatMap(({ claim }) => {
    const { volumeName = "", storageClassName = "" } = claim?.spec ?? {};
    return volumeName === "" ? allowedTopologyChanges(storageClassName, index, valuesOf) : [];
  });
}

function allowedTopologyChanges(
  name: string,
  { classes }: VolumeIndex,
  valuesOf: (label: string) => readonly string[],
): readonly CandidateChange[] {
  const terms = classes.get(name)?.allowedTopologies ?? [];
  return (terms.at(-1)?.matchLabelExpressions ?? []).flatMap(({ key, values }, index) => {
    const path: PatchPath = ["allowedTopologies", terms.length - 1, "matchLabelExpressions", index, "values", "-"];
    return valuesOf(key)
      .filter((value) => !values.includes(value))
      .map((value) =>
        changeOf(
          { kind: "StorageClass", name },
          {
            text: `allow ${key} ${value} in storage class ${name} (allowedTopologies)`,
            weight: changeWeights.dropPoolRule,
            operations: [{ op: "add", path: jsonPointer(path), value }],
          },
        ),
      );
  });
}

interface VolumeClaimUse {
  readonly name: string;
  readonly volumeIndex: number;
  readonly claim: PersistentVolumeClaim | undefined;
}

function volumeClaimsOf(pod: Pod, { claims }: VolumeIndex): readonly VolumeClaimUse[] {
  const namespace = namespaceOf(pod.metadata);
  return (pod.spec.volumes ?? []).flatMap((volume, volumeIndex) => {
    const name = volumeClaimName(pod, volume);
    return name === undefined ? [] : [{ name, volumeIndex, claim: claims.get(`${namespace}/${name}`) }];
  });
}

/** Repairs for a PersistentVolumeClaim that is missing, or has no volume and names a missing class. (02:V-5, W-4) */
export function volumeClaimRepairs(pod: Pod, { volumes }: SchedulingProblem): readonly CandidateChange[] {
  if (podController(pod)?.kind === "StatefulSet") return [];
  return volumeClaimsOf(pod, volumes).flatMap((use) => {
    const isNamed = pod.spec.volumes?.[use.volumeIndex]?.persistentVolumeClaim !== undefined;
    if (!isNamed) return []; // the claim of an ephemeral volume is made with the pod
    return use.claim === undefined
      ? [...renameClaimChanges(pod, use, volumes), ...createClaimChanges(pod, use, volumes)]
      : storageClassChanges(pod, use.claim, volumes);
  });
}

/** An existing claim with a similar name. */
function renameClaimChanges(
  pod: Pod,
  { name, volumeIndex }: VolumeClaimUse,
  { claims }: VolumeIndex,
): readonly CandidateChange[] {
  const prefix = `${namespaceOf(pod.metadata)}/`;
  const others = [...claims.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  const meant = closestMatch(name, others);
  if (meant === undefined) return [];
  const path = ["spec", "volumes", volumeIndex, "persistentVolumeClaim", "claimName"];
  return [
    changeOf(editedPod(pod), {
      text: `use claim ${meant} instead of ${name} for volume ${pod.spec.volumes?.[volumeIndex]?.name ?? ""}`,
      weight: changeWeights.fixTypo,
      precedence: "correction",
      operations: [replaceOperation(path, meant)],
    }),
  ];
}

/** What a claim needs that says nothing else; a person knows how large it should be. */
const newClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } };

function createClaimChanges(pod: Pod, { name }: VolumeClaimUse, volumes: VolumeIndex): readonly CandidateChange[] {
  const storageClassName = usableClass(volumes)?.metadata.name;
  if (storageClassName === undefined) return [];
  const namespace = namespaceOf(pod.metadata);
  const spec = { storageClassName, ...newClaimSpec };
  return [
    changeOf(
      { kind: "PersistentVolumeClaim", namespace, name },
      {
        text: `create the claim ${name}, with a new and empty volume of storage class ${storageClassName}`,
        weight: changeWeights.fixClaim,
        operations: [{ op: "add", path: "", value: { metadata: { name, namespace }, spec } }],
      },
    ),
  ];
}

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

/** A WaitForFirstConsumer class, the cluster's default first. */
function usableClass({ classes }: VolumeIndex): StorageClass | undefined {
  const usable = [...classes.values()].filter(({ volumeBindingMode }) => volumeBindingMode === "WaitForFirstConsumer");
  return usable.find(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === "true") ?? usable[0];
}

/** Another class for a claim that has no volume yet and names a class that does not exist. */
function storageClassChanges(pod: Pod, claim: PersistentVolumeClaim, volumes: VolumeIndex): readonly CandidateChange[] {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  if (volumeName !== "" || volumes.classes.has(storageClassName)) return [];
  const typo = closestMatch(storageClassName, volumes.classes.keys());
  const meant = typo ?? usableClass(volumes)?.metadata.name;
  if (meant === undefined) return [];
  const { name = "" } = claim.metadata;
  return [
    changeOf(
      { kind: "PersistentVolumeClaim", namespace: namespaceOf(pod.metadata), name },
      {
        text: `use storage class ${meant}${storageClassName === "" ? "" : ` instead of ${storageClassName}`} for claim ${name}, which has no volume yet`,
        weight: typo === undefined ? changeWeights.fixClaim : changeWeights.fixTypo,
        ...(typo !== undefined && { precedence: "correction" }),
        operations: [addOperation(claim, ["spec", "storageClassName"], meant)],
      },
    ),
  ];
}
