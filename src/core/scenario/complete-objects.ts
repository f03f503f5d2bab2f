import type { DaemonSet } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { finalizers } from "../../api/labels.ts";
import { type KubeObject, namespaceOf, type ObjectMeta } from "../../api/object.ts";
import { mapInSteps, runSteps, type Steps } from "../../util/steps.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { type CompletionContext, completeNodesAndClaims } from "./complete-nodes.ts";
import { PodCompletion } from "./complete-pods.ts";
import { completePool } from "./complete-pools.ts";
import { PodAdmission } from "./pod-admission.ts";
import { isNamespaced, nodeClassKinds, type ScenarioKind, scenarioKind } from "./scenario-kind.ts";

const namespaceNameLabel = "kubernetes.io/metadata.name";

/**
 * Fills in what an API server, kubelets and the lifecycle controllers would have; fields that are set are never changed.
 * Returns one object for each given one, in order, then namespaces that are used and not given.
 */
export function completeObjects(
  objects: readonly KubeObject[],
  context: CompletionContext,
  admission: PodAdmission = new PodAdmission(objects),
): readonly KubeObject[] {
  return runSteps(completeObjectsInSteps(objects, context, admission));
}

/** The same in short steps. */
export function* completeObjectsInSteps(
  objects: readonly KubeObject[],
  context: CompletionContext,
  admission: PodAdmission,
): Steps<readonly KubeObject[]> {
  const all = [...objects, ...missingNamespaces(objects)];
  const pods = new PodCompletion(admission);
  let ordinal = 0;
  const named = yield* mapInSteps(all, (object) => {
    const kind = scenarioKind(object);
    if (kind === undefined) return object;
    const createdMs = kind === "Pod" && context.hasNewPods === true ? context.nowMs : ordinal * 1_000;
    const completed = { ...object, metadata: completeMetadata(object.metadata, { kind, ordinal, createdMs }) };
    if (!nodeClassKinds.has(kind)) ordinal++;
    return completeKind(completed, kind, pods);
  });
  const nodes = completeNodesAndClaims(named, context);
  return named.map((object) => nodes.get(object) ?? object);
}

function completeKind(object: KubeObject, kind: ScenarioKind, pods: PodCompletion): KubeObject {
  switch (kind) {
    case "Pod":
      return pods.completePod(object as KubeObject & Pod) as KubeObject;
    case "DaemonSet": {
      const { spec, metadata } = object as unknown as DaemonSet;
      const namespace = namespaceOf(metadata);
      return {
        ...object,
        spec: { ...spec, template: { ...spec.template, spec: pods.completeSpec(spec.template.spec, namespace) } },
      };
    }
    case "NodePool":
      return completePool(object);
    case "StorageClass":
      return { volumeBindingMode: "Immediate", ...object } as KubeObject;
    case "PersistentVolumeClaim":
      return completeVolumeClaim(object);
    case "Namespace": {
      const { name = "", labels } = object.metadata;
      return { ...object, metadata: { ...object.metadata, labels: { [namespaceNameLabel]: name, ...labels } } };
    }
    default:
      return object;
  }
}

function completeVolumeClaim(object: KubeObject): KubeObject {
  const { volumeName = "" } = (object.spec ?? {}) as { readonly volumeName?: string };
  const status = (object.status ?? {}) as { readonly phase?: string };
  return { ...object, status: { ...status, phase: status.phase || (volumeName === "" ? "Pending" : "Bound") } };
}

interface MetadataCompletion {
  readonly kind: ScenarioKind;
  readonly ordinal: number;
  /** Its creation time, if none is written. */
  readonly createdMs: number;
}

/** Name, uid and creation time; of objects created at the same time the earlier one has the smaller uid. */
function completeMetadata(metadata: ObjectMeta, { kind, ordinal, createdMs }: MetadataCompletion): ObjectMeta {
  const hasOwnAge = kind === "Node" || kind === "NodeClaim"; // completed together, see complete-nodes.ts
  const isDeletingWithoutFinalizer =
    metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
  return {
    ...metadata,
    name: metadata.name || `${metadata.generateName ?? ""}${ordinal}`,
    ...(isNamespaced(kind) && { namespace: namespaceOf(metadata) }),
    uid: metadata.uid || `00000000-0000-0000-0000-${String(ordinal).padStart(12, "0")}`,
    ...(!hasOwnAge && { creationTimestamp: metadata.creationTimestamp || rfc3339(createdMs) }),
    ...(isDeletingWithoutFinalizer && { finalizers: [finalizers.termination] }), // it exists, so something holds it
  };
}

function missingNamespaces(objects: readonly KubeObject[]): readonly KubeObject[] {
  const declared = new Set<string>();
  const used = new Set<string>();
  for (const object of objects) {
    const kind = scenarioKind(object);
    if (kind === "Namespace") declared.add(object.metadata.name ?? "");
    else if (kind === "Pod" || kind === "DaemonSet" || kind === "PersistentVolumeClaim" || kind === "CapacityBuffer") {
      used.add(namespaceOf(object.metadata));
    }
  }
  const missing = [...used].filter((name) => !declared.has(name)).sort();
  return missing.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}
