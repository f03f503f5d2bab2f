import type { PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster.ts";
import type { Expression, Pod } from "../../../api/kubernetes/pod.ts";
import { closest } from "../../../api/manifest/closest.ts";
import { namespaceOf } from "../../../api/object.ts";
import type { SchedulingProblem, VolumeIndex } from "../../scheduling/problem.ts";
import { claimName } from "../../volumes.ts";
import type { EditedObject } from "../edit.ts";
import { adding, type Path, pointer, removing, replacing } from "../patch.ts";
import { type Change, change, podObject, together, weights } from "./change.ts";

/** Ways to have a pod's volumes where its nodes are: in one of these values of a label. */
export function volumeMoves(
  pod: Pod,
  problem: SchedulingProblem,
  places: ReadonlyMap<string, readonly string[]>,
): readonly Change[] {
  const moved = claimsOf(pod, problem.volumes).flatMap(({ claim }) => {
    const { volumeName = "", storageClassName = "" } = claim?.spec ?? {};
    return volumeName === ""
      ? classMoves(storageClassName, problem.volumes, places)
      : volumeMove(volumeName, problem.volumes, places);
  });
  return [...moved, ...removals(pod)];
}

/** A volume's place is where its data is: it has to be made anew elsewhere. */
function volumeMove(
  name: string,
  { volumes }: VolumeIndex,
  places: ReadonlyMap<string, readonly string[]>,
): readonly Change[] {
  const terms = volumes.get(name)?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const path = ["spec", "nodeAffinity", "required", "nodeSelectorTerms", terms.length - 1, "matchExpressions"];
  return (terms.at(-1)?.matchExpressions ?? []).flatMap((expression, index) =>
    (places.get(expression.key) ?? [])
      .filter((value) => !isAllowed(expression, value))
      .map((value) =>
        change(
          { kind: "PersistentVolume", name },
          {
            text: `recreate volume ${name} at ${expression.key} ${value}`,
            weight: weights.moveVolume,
            operations: [replacing([...path, index], { key: expression.key, operator: "In", values: [value] })],
          },
        ),
      ),
  );
}

function isAllowed({ operator, values = [] }: Expression, value: string): boolean {
  return operator === "In" && values.includes(value);
}

function classMoves(
  name: string,
  { classes }: VolumeIndex,
  places: ReadonlyMap<string, readonly string[]>,
): readonly Change[] {
  const terms = classes.get(name)?.allowedTopologies ?? [];
  return (terms.at(-1)?.matchLabelExpressions ?? []).flatMap(({ key, values }, index) => {
    const path: Path = ["allowedTopologies", terms.length - 1, "matchLabelExpressions", index, "values", "-"];
    return (places.get(key) ?? [])
      .filter((value) => !values.includes(value))
      .map((value) =>
        change(
          { kind: "StorageClass", name },
          {
            text: `let storage class ${name} also make volumes at ${key} ${value}`,
            weight: weights.dropPoolRule,
            operations: [{ op: "add", path: pointer(path), value }],
          },
        ),
      );
  });
}

/** Values of labels that a pod's volumes themselves name: for volumes that are in each other's way. */
export function volumePlaces(pod: Pod, { volumes }: SchedulingProblem): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const { claim } of claimsOf(pod, volumes)) {
    const terms =
      volumes.volumes.get(claim?.spec?.volumeName ?? "")?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    for (const { key, operator, values = [] } of terms.flatMap(({ matchExpressions = [] }) => matchExpressions)) {
      if (operator === "In") places.set(key, [...(places.get(key) ?? []), ...values]);
    }
  }
  return places;
}

/** One volume less, or none at all. */
function removals(pod: Pod): readonly Change[] {
  const each = (pod.spec.volumes ?? []).flatMap((volume, index) =>
    claimName(pod, volume) === undefined
      ? []
      : [
          change(podObject(pod), {
            text: `drop volume ${volume.name} from the pod`,
            weight: weights.dropVolume,
            operations: [removing(["spec", "volumes", index])],
          }),
        ],
  );
  const all = each.length > 1 ? together(each) : undefined;
  return all === undefined ? each : [...each, all];
}

interface ClaimUse {
  readonly name: string;
  readonly volumeIndex: number;
  readonly claim: PersistentVolumeClaim | undefined;
}

function claimsOf(pod: Pod, { claims }: VolumeIndex): readonly ClaimUse[] {
  const namespace = namespaceOf(pod.metadata);
  return (pod.spec.volumes ?? []).flatMap((volume, volumeIndex) => {
    const name = claimName(pod, volume);
    return name === undefined ? [] : [{ name, volumeIndex, claim: claims.get(`${namespace}/${name}`) }];
  });
}

/** What makes a claim usable that is missing, or that names what is missing. (02:V-5, W-4) */
export function claimRepairs(pod: Pod, { volumes }: SchedulingProblem): readonly Change[] {
  const namespace = namespaceOf(pod.metadata);
  const repairs = claimsOf(pod, volumes).flatMap((use) => {
    const object: EditedObject = { kind: "PersistentVolumeClaim", namespace, name: use.name };
    return use.claim === undefined
      ? [...renamings(pod, use, volumes), ...creation(object, volumes)]
      : mendings(use.claim, object, volumes);
  });
  return [...repairs, ...removals(pod)];
}

/** A claim with nearly that name. */
function renamings(pod: Pod, { name, volumeIndex }: ClaimUse, { claims }: VolumeIndex): readonly Change[] {
  if (pod.spec.volumes?.[volumeIndex]?.persistentVolumeClaim === undefined) return [];
  const prefix = `${namespaceOf(pod.metadata)}/`;
  const others = [...claims.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  const meant = closest(name, others);
  if (meant === undefined) return [];
  const path = ["spec", "volumes", volumeIndex, "persistentVolumeClaim", "claimName"];
  return [
    change(podObject(pod), {
      text: `write ${meant} for ${name}, the claim of volume ${pod.spec.volumes[volumeIndex]?.name ?? ""}`,
      weight: weights.fixTypo,
      operations: [replacing(path, meant)],
    }),
  ];
}

function creation(object: EditedObject, volumes: VolumeIndex): readonly Change[] {
  const storageClass = usableClass(volumes);
  if (storageClass === undefined) return [];
  const { name, namespace } = object;
  const storageClassName = storageClass.metadata.name;
  return [
    change(object, {
      text: `create the claim ${namespace}/${name}, with storage class ${storageClassName}`,
      weight: weights.fixClaim,
      operations: [{ op: "add", path: "", value: { metadata: { name, namespace }, spec: { storageClassName } } }],
    }),
  ];
}

const defaultMark = "storageclass.kubernetes.io/is-default-class";

/** A class that makes volumes where the pod goes, the cluster's default before others. */
function usableClass({ classes }: VolumeIndex): StorageClass | undefined {
  const usable = [...classes.values()].filter(({ volumeBindingMode }) => volumeBindingMode === "WaitForFirstConsumer");
  return usable.find(({ metadata }) => metadata.annotations?.[defaultMark] === "true") ?? usable[0];
}

const bindCompleted = "pv.kubernetes.io/bind-completed";

function mendings(claim: PersistentVolumeClaim, object: EditedObject, volumes: VolumeIndex): readonly Change[] {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  const key = `${object.namespace}/${object.name}`;
  if (volumeName !== "") {
    const isThere = volumes.volumes.has(volumeName);
    const storageClass = usableClass(volumes)?.metadata.name;
    if (isThere) {
      return [
        change(object, {
          text: `let claim ${key} be bound to its volume ${volumeName} (annotation ${bindCompleted})`,
          weight: weights.fixClaim,
          operations: [adding(claim, ["metadata", "annotations", bindCompleted], "yes")],
        }),
      ];
    }
    if (storageClass === undefined) return [];
    return [
      change(object, {
        text: `recreate claim ${key}, whose volume ${volumeName} is gone, with storage class ${storageClass}`,
        weight: weights.moveVolume,
        operations: [replacing(["spec"], { storageClassName: storageClass })],
      }),
    ];
  }
  const found = volumes.classes.get(storageClassName);
  const meant = closest(storageClassName, volumes.classes.keys()) ?? usableClass(volumes)?.metadata.name;
  if (found !== undefined) {
    return found.volumeBindingMode === "WaitForFirstConsumer" ? [] : [patience(storageClassName)];
  }
  if (meant === undefined) return [];
  return [
    change(object, {
      text: `let claim ${key} use storage class ${meant}${storageClassName === "" ? "" : ` instead of ${storageClassName}`}`,
      weight: weights.changeValue,
      operations: [adding(claim, ["spec", "storageClassName"], meant)],
    }),
  ];
}

function patience(name: string): Change {
  return change(
    { kind: "StorageClass", name },
    {
      text: `let storage class ${name} wait for the pod (volumeBindingMode: WaitForFirstConsumer)`,
      weight: weights.dropPoolRule,
      operations: [replacing(["volumeBindingMode"], "WaitForFirstConsumer")],
    },
  );
}
