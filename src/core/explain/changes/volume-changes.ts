import type { PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import type { Pod, SelectorRequirement } from "../../../api/kubernetes/pod.ts";
import { closestMatch } from "../../../api/manifest/closest-match.ts";
import { namespaceOf } from "../../../api/object.ts";
import type { SchedulingProblem } from "../../scheduling/problem.ts";
import { type VolumeIndex, volumeClaimName } from "../../volumes.ts";
import type { EditedObject } from "../edit.ts";
import { addOperation, jsonPointer, type PatchPath, removeOperation, replaceOperation } from "../json-patch.ts";
import { type CandidateChange, changeOf, changeWeights, combineChanges, editedPod } from "./candidate-change.ts";

/** Changes that make the pod's volumes usable on nodes with one of these label values. */
export function volumeMoveChanges(
  pod: Pod,
  problem: SchedulingProblem,
  valuesByLabel: ReadonlyMap<string, readonly string[]>,
): readonly CandidateChange[] {
  const moved = volumeClaimsOf(pod, problem.volumes).flatMap(({ claim }) => {
    const { volumeName = "", storageClassName = "" } = claim?.spec ?? {};
    return volumeName === ""
      ? storageClassMoves(storageClassName, problem.volumes, valuesByLabel)
      : boundVolumeMoves(volumeName, problem.volumes, valuesByLabel);
  });
  return [...moved, ...dropVolumeChanges(pod)];
}

/** A bound volume cannot move; it has to be recreated elsewhere. */
function boundVolumeMoves(
  name: string,
  { volumes }: VolumeIndex,
  valuesByLabel: ReadonlyMap<string, readonly string[]>,
): readonly CandidateChange[] {
  const terms = volumes.get(name)?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const path = ["spec", "nodeAffinity", "required", "nodeSelectorTerms", terms.length - 1, "matchExpressions"];
  return (terms.at(-1)?.matchExpressions ?? []).flatMap((expression, index) =>
    (valuesByLabel.get(expression.key) ?? [])
      .filter((value) => !isAllowed(expression, value))
      .map((value) =>
        changeOf(
          { kind: "PersistentVolume", name },
          {
            text: `recreate volume ${name} with ${expression.key} ${value}`,
            weight: changeWeights.moveVolume,
            operations: [replaceOperation([...path, index], { key: expression.key, operator: "In", values: [value] })],
          },
        ),
      ),
  );
}

function isAllowed({ operator, values = [] }: SelectorRequirement, value: string): boolean {
  return operator === "In" && values.includes(value);
}

function storageClassMoves(
  name: string,
  { classes }: VolumeIndex,
  valuesByLabel: ReadonlyMap<string, readonly string[]>,
): readonly CandidateChange[] {
  const terms = classes.get(name)?.allowedTopologies ?? [];
  return (terms.at(-1)?.matchLabelExpressions ?? []).flatMap(({ key, values }, index) => {
    const path: PatchPath = ["allowedTopologies", terms.length - 1, "matchLabelExpressions", index, "values", "-"];
    return (valuesByLabel.get(key) ?? [])
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

/** Label values the pod's own volumes name, for volumes that contradict each other. */
export function volumeLabelValues(pod: Pod, { volumes }: SchedulingProblem): ReadonlyMap<string, readonly string[]> {
  const valuesByLabel = new Map<string, string[]>();
  for (const { claim } of volumeClaimsOf(pod, volumes)) {
    const terms =
      volumes.volumes.get(claim?.spec?.volumeName ?? "")?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    for (const { key, operator, values = [] } of terms.flatMap(({ matchExpressions = [] }) => matchExpressions)) {
      if (operator === "In") valuesByLabel.set(key, [...(valuesByLabel.get(key) ?? []), ...values]);
    }
  }
  return valuesByLabel;
}

/** Drops one volume, or all. */
function dropVolumeChanges(pod: Pod): readonly CandidateChange[] {
  const each = (pod.spec.volumes ?? []).flatMap((volume, index) =>
    volumeClaimName(pod, volume) === undefined
      ? []
      : [
          changeOf(editedPod(pod), {
            text: `drop volume ${volume.name} from the pod`,
            weight: changeWeights.dropVolume,
            operations: [removeOperation(["spec", "volumes", index])],
          }),
        ],
  );
  const all = each.length > 1 ? combineChanges(each) : undefined;
  return all === undefined ? each : [...each, all];
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

/** Repairs for a PersistentVolumeClaim that is missing or refers to something missing. (02:V-5, W-4) */
export function volumeClaimRepairs(pod: Pod, { volumes }: SchedulingProblem): readonly CandidateChange[] {
  const namespace = namespaceOf(pod.metadata);
  const repairs = volumeClaimsOf(pod, volumes).flatMap((use) => {
    const object: EditedObject = { kind: "PersistentVolumeClaim", namespace, name: use.name };
    return use.claim === undefined
      ? [...renameClaimChanges(pod, use, volumes), ...createClaimChanges(object, volumes)]
      : existingClaimRepairs(use.claim, object, volumes);
  });
  return [...repairs, ...dropVolumeChanges(pod)];
}

/** An existing claim with a similar name. */
function renameClaimChanges(
  pod: Pod,
  { name, volumeIndex }: VolumeClaimUse,
  { claims }: VolumeIndex,
): readonly CandidateChange[] {
  if (pod.spec.volumes?.[volumeIndex]?.persistentVolumeClaim === undefined) return [];
  const prefix = `${namespaceOf(pod.metadata)}/`;
  const others = [...claims.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  const meant = closestMatch(name, others);
  if (meant === undefined) return [];
  const path = ["spec", "volumes", volumeIndex, "persistentVolumeClaim", "claimName"];
  return [
    changeOf(editedPod(pod), {
      text: `use claim ${meant} instead of ${name} for volume ${pod.spec.volumes[volumeIndex]?.name ?? ""}`,
      weight: changeWeights.fixTypo,
      operations: [replaceOperation(path, meant)],
    }),
  ];
}

function createClaimChanges(object: EditedObject, volumes: VolumeIndex): readonly CandidateChange[] {
  const storageClass = usableClass(volumes);
  if (storageClass === undefined) return [];
  const { name, namespace } = object;
  const storageClassName = storageClass.metadata.name;
  return [
    changeOf(object, {
      text: `create the claim ${namespace}/${name}, with storage class ${storageClassName}`,
      weight: changeWeights.fixClaim,
      operations: [{ op: "add", path: "", value: { metadata: { name, namespace }, spec: { storageClassName } } }],
    }),
  ];
}

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

/** A WaitForFirstConsumer class, the cluster's default first. */
function usableClass({ classes }: VolumeIndex): StorageClass | undefined {
  const usable = [...classes.values()].filter(({ volumeBindingMode }) => volumeBindingMode === "WaitForFirstConsumer");
  return usable.find(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === "true") ?? usable[0];
}

const bindCompletedAnnotation = "pv.kubernetes.io/bind-completed";

function existingClaimRepairs(
  claim: PersistentVolumeClaim,
  object: EditedObject,
  volumes: VolumeIndex,
): readonly CandidateChange[] {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  const key = `${object.namespace}/${object.name}`;
  if (volumeName !== "") {
    const isThere = volumes.volumes.has(volumeName);
    const storageClass = usableClass(volumes)?.metadata.name;
    if (isThere) {
      return [
        changeOf(object, {
          text: `mark claim ${key} as bound to volume ${volumeName} (annotation ${bindCompletedAnnotation})`,
          weight: changeWeights.fixClaim,
          operations: [addOperation(claim, ["metadata", "annotations", bindCompletedAnnotation], "yes")],
        }),
      ];
    }
    if (storageClass === undefined) return [];
    return [
      changeOf(object, {
        text: `recreate claim ${key}, whose volume ${volumeName} is gone, with storage class ${storageClass}`,
        weight: changeWeights.moveVolume,
        operations: [replaceOperation(["spec"], { storageClassName: storageClass })],
      }),
    ];
  }
  const found = volumes.classes.get(storageClassName);
  const meant = closestMatch(storageClassName, volumes.classes.keys()) ?? usableClass(volumes)?.metadata.name;
  if (found !== undefined) {
    return found.volumeBindingMode === "WaitForFirstConsumer" ? [] : [waitForConsumerChange(storageClassName)];
  }
  if (meant === undefined) return [];
  return [
    changeOf(object, {
      text: `use storage class ${meant} for claim ${key}${storageClassName === "" ? "" : ` instead of ${storageClassName}`}`,
      weight: changeWeights.changeValue,
      operations: [addOperation(claim, ["spec", "storageClassName"], meant)],
    }),
  ];
}

function waitForConsumerChange(name: string): CandidateChange {
  return changeOf(
    { kind: "StorageClass", name },
    {
      text: `make storage class ${name} wait for the pod (volumeBindingMode: WaitForFirstConsumer)`,
      weight: changeWeights.dropPoolRule,
      operations: [replaceOperation(["volumeBindingMode"], "WaitForFirstConsumer")],
    },
  );
}
