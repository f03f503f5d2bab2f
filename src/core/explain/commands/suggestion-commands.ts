import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isRecord, type KubeObject, namespacedName, namespaceOf } from "../../../api/object.ts";
import { compileSelector } from "../../label-selector.ts";
import type { Edit, EditedObject } from "../edit.ts";
import type { Explanation, Suggestion } from "../explanation.ts";
import {
  addOperation,
  applyOperations,
  jsonPointer,
  memberAt,
  type PatchOperation,
  removeOperation,
} from "../json-patch.ts";
import { createCommand, deleteCommand, patchCommand, referenceText, replaceCommand } from "./kubectl-command.ts";
import { templateOperations } from "./template-operations.ts";
import {
  type FindObject,
  type OwnerKey,
  ownerKeyOf,
  runtimeClassKeyOf,
  type TemplateOwner,
  templateOwnerOf,
} from "./template-owner.ts";

/** How a person makes the edits of a suggestion. */
export interface SuggestionCommands {
  /** To run one after the other. */
  readonly commands: readonly string[];
  /** What else happens then; whole sentences without a full stop. */
  readonly remarks: readonly string[];
}

/** The explanation with commands for its suggestions. Those that cannot be made on the objects people own are left out. */
export function withCommands(explanation: Explanation, find: FindObject): Explanation {
  const complete = (suggestions: readonly Suggestion[]): readonly Suggestion[] =>
    suggestions.flatMap((suggestion) => {
      const made = commandsFor(suggestion.edits, find, explanation.pod);
      if (made === "not-applicable") return [];
      return [made === "unknown-owner" ? suggestion : { ...suggestion, ...made }];
    });
  const { suggestions, lastResorts } = explanation;
  return {
    ...explanation,
    suggestions: complete(suggestions),
    ...(lastResorts && { lastResorts: complete(lastResorts) }),
  };
}

/**
 * `unknown-owner`: the object that makes the pod is not known. `not-applicable`: it has nothing that could be edited so.
 * `podKey`: namespace/name of the pod that waits.
 */
export function commandsFor(
  edits: readonly Edit[],
  find: FindObject,
  podKey?: string,
): SuggestionCommands | "unknown-owner" | "not-applicable" {
  const commands = new Set<string>();
  const remarks = new Set<string>();
  for (const { object, operations, siblings } of withSiblings(editsByObject(edits), podKey)) {
    const made =
      object.kind === "Pod"
        ? podCommands({ object, operations, siblings }, find)
        : objectCommands(object, operations, find);
    if (typeof made === "string") return made;
    for (const one of made.commands) commands.add(one);
    for (const one of made.remarks) remarks.add(one);
  }
  return { commands: [...commands], remarks: [...remarks] };
}

interface ObjectEdits {
  readonly object: EditedObject;
  readonly operations: readonly PatchOperation[];
  /** Pods of the same controller that run and change too. */
  readonly siblings: readonly EditedObject[];
}

/** Pods of the same controller as the one that waits are changed with it, not each on its own. */
function withSiblings(all: readonly ObjectEdits[], podKey: string | undefined): readonly ObjectEdits[] {
  const isAsked = ({ kind, namespace, name }: EditedObject): boolean =>
    kind === "Pod" && namespacedName({ namespace, name }) === podKey;
  const asked = all.find(({ object }) => isAsked(object))?.object;
  const isSibling = ({ kind, namespace, workload }: EditedObject): boolean =>
    kind === "Pod" &&
    workload !== undefined &&
    namespace === asked?.namespace &&
    workload.kind === asked?.workload?.kind &&
    workload.name === asked.workload.name;
  return all.flatMap((one) => {
    if (one.object === asked)
      return [
        { ...one, siblings: all.map(({ object }) => object).filter((object) => object !== asked && isSibling(object)) },
      ];
    return isSibling(one.object) ? [] : [one];
  });
}

function editsByObject(edits: readonly Edit[]): readonly ObjectEdits[] {
  const byObject = new Map<string, ObjectEdits & { operations: PatchOperation[] }>();
  for (const { object, ...operation } of edits) {
    const key = JSON.stringify([object.kind, object.namespace, object.name]);
    const known = byObject.get(key) ?? { object, operations: [], siblings: [] };
    byObject.set(key, known);
    known.operations.push(operation);
  }
  return [...byObject.values()];
}

const apiVersions: Readonly<Record<EditedObject["kind"], string>> = {
  Pod: "v1",
  Node: "v1",
  PersistentVolumeClaim: "v1",
  NodePool: "karpenter.sh/v1",
  EC2NodeClass: "karpenter.k8s.aws/v1",
  StorageClass: "storage.k8s.io/v1",
};

function objectReference({ kind, name, namespace = "" }: EditedObject): OwnerKey {
  return { apiVersion: apiVersions[kind], kind, name, namespace };
}

/** An object that is edited as it is. */
function objectCommands(
  edited: EditedObject,
  operations: readonly PatchOperation[],
  find: FindObject,
): SuggestionCommands | "unknown-owner" {
  const reference = objectReference(edited);
  const [first] = operations;
  if (first?.path === "" && isRecord(first.value)) {
    const { apiVersion, kind } = reference;
    return { commands: [createCommand({ apiVersion, kind, ...first.value })], remarks: [] };
  }
  const object = find(reference);
  if (object === undefined) return "unknown-owner";
  // The class of a claim cannot be changed; the claim has no volume yet.
  const isReplaced = edited.kind === "PersistentVolumeClaim";
  return { commands: [(isReplaced ? replaceCommand : patchCommand)(object, operations)], remarks: [] };
}

/** A pod is edited where it comes from. */
function podCommands(
  { object: edited, operations, siblings }: ObjectEdits,
  find: FindObject,
): SuggestionCommands | "unknown-owner" | "not-applicable" {
  const podObject = find(objectReference(edited));
  if (podObject === undefined) return "unknown-owner";
  const pod = podObject as unknown as Pod;
  const found = templateOwnerOf(pod, podObject, find);
  if (found === undefined) return "unknown-owner";
  const owner = { ...found, object: inNamespaceOf(pod, found.object) };
  const template = owner.path.reduce<unknown>((here, token) => memberAt(here, token), owner.object);
  if (undoesRuntimeClass(operations, pod, find)) return "not-applicable";
  const translated = templateOperations(operations, { pod, template });
  if (translated === undefined) return "not-applicable";
  const prefix = jsonPointer(owner.path);
  const placed = translated.map((one) => ({ ...one, path: `${prefix}${one.path}` }));
  if (!keepsSelector(owner.object, placed)) return "not-applicable";
  return siblings.length === 0
    ? ownerCommands(owner, placed, ownerKeyOf(podObject))
    : replaceAllCommands(owner, placed, [
        podObject,
        ...siblings.map(objectReference).flatMap((one) => find(one) ?? []),
      ]);
}

/**
 * For pods that refuse to run beside those of a changed template: a rolling update would wait for them for ever, unless it
 * may take one more away.
 */
function replaceAllCommands(
  { object }: TemplateOwner,
  operations: readonly PatchOperation[],
  pods: readonly KubeObject[],
): SuggestionCommands | "not-applicable" {
  const { replicas = 1, strategy } = (object.spec ?? {}) as WorkloadSpec;
  if (object.kind === "ReplicaSet") {
    const deletions = pods.map((pod) => deleteCommand(ownerKeyOf(pod)));
    return {
      commands: [patchCommand(object, operations), ...deletions],
      remarks: [`all pods of ReplicaSet ${object.metadata.name} are made anew at once`],
    };
  }
  if (object.kind !== "Deployment") return "not-applicable";
  const missing = replicas - pods.length + 2; // the pod that waits is missing already
  const allowsMissing = addOperation(object, ["spec", "strategy", "rollingUpdate", "maxUnavailable"], missing);
  return {
    commands: [patchCommand(object, strategy?.type === "Recreate" ? operations : [...operations, allowsMissing])],
    remarks: [
      `the pods of Deployment ${object.metadata.name} are replaced; ${missing} may be missing meanwhile (maxUnavailable), since those that run refuse the new ones beside them`,
    ],
  };
}

/** The node selector of a RuntimeClass is put into every pod that names it, whatever the pod's template says. */
function undoesRuntimeClass(operations: readonly PatchOperation[], { spec }: Pod, find: FindObject): boolean {
  const reference = runtimeClassKeyOf(spec);
  const { scheduling } = ((reference && find(reference)) ?? {}) as RuntimeClassFields;
  const keys = Object.keys(scheduling?.nodeSelector ?? {});
  return keys.some((key) => operations.some(({ path }) => path === jsonPointer(["spec", "nodeSelector", key])));
}

interface RuntimeClassFields {
  readonly scheduling?: { readonly nodeSelector?: Readonly<Record<string, string>> };
}

/** A workload of a file may leave the namespace to the default. */
function inNamespaceOf({ metadata }: Pod, object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace: namespaceOf(metadata) } };
}

/** A workload refuses a template that its selector does not match. */
function keepsSelector(object: KubeObject, operations: readonly PatchOperation[]): boolean {
  const { spec } = applyOperations(object, operations) as { readonly spec?: WorkloadSpec };
  if (spec?.selector === undefined || spec.template === undefined || !("matchLabels" in spec.selector)) return true;
  return compileSelector(spec.selector).matches(spec.template.metadata?.labels ?? {});
}

interface WorkloadSpec {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
  readonly paused?: boolean;
  readonly replicas?: number;
  readonly strategy?: { readonly type?: string };
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: { readonly type?: string };
}

function ownerCommands(owner: TemplateOwner, operations: readonly PatchOperation[], pod: OwnerKey): SuggestionCommands {
  const { object, between, manager } = owner;
  const spec = (object.spec ?? {}) as WorkloadSpec;
  const patch = patchCommand(object, operations);
  const remarks =
    manager === undefined
      ? []
      : [
          `${object.kind} ${object.metadata.name} belongs to ${manager.kind} ${manager.name}, which may undo the change: make it there too`,
        ];
  switch (object.kind) {
    case "Pod":
      return isPodMutable(operations, object)
        ? { commands: [patch], remarks }
        : { commands: [replaceCommand(object, operations)], remarks: ["the pod is deleted and created anew"] };
    case "Job":
      return {
        commands: [replaceCommand(object, [...operations, ...generatedJobFields(object)])],
        remarks: [...remarks, `Job ${object.metadata.name} starts over, since its template cannot be changed`],
      };
    case "CronJob": {
      const [job] = between;
      if (job === undefined) return { commands: [patch], remarks };
      const again = `kubectl create job ${job.metadata.name} -n ${pod.namespace} --from=cronjob/${object.metadata.name}`;
      return { commands: [patch, deleteCommand(ownerKeyOf(job)), again], remarks };
    }
    case "Deployment":
      return spec.paused === true
        ? { commands: [patch, `kubectl rollout resume ${referenceText(ownerKeyOf(object))}`], remarks }
        : { commands: [patch], remarks };
    case "StatefulSet":
      // A StatefulSet waits for its pods one by one, also for one that never starts.
      return spec.podManagementPolicy === "Parallel" && spec.updateStrategy?.type !== "OnDelete"
        ? { commands: [patch], remarks }
        : { commands: [patch, deleteCommand(pod)], remarks };
    case "ReplicaSet":
    case "ReplicationController":
      return { commands: [patch, deleteCommand(pod)], remarks };
    default:
      return { commands: [patch], remarks };
  }
}

/** Labels may change, and tolerations may be added. */
function isPodMutable(operations: readonly PatchOperation[], object: KubeObject): boolean {
  const { spec } = object as { readonly spec?: { readonly tolerations?: readonly unknown[] } };
  return operations.every(
    ({ op, path }) =>
      path.startsWith("/metadata/labels") ||
      (op === "add" &&
        (path === "/spec/tolerations/-" || (path === "/spec/tolerations" && !spec?.tolerations?.length))),
  );
}

/** What the API server filled in with the Job's uid, and refuses in a new Job. */
function generatedJobFields(object: KubeObject): readonly PatchOperation[] {
  const { spec } = object as { readonly spec?: WorkloadSpec & { readonly manualSelector?: boolean } };
  if (spec?.manualSelector === true) return [];
  const labels = spec?.template?.metadata?.labels ?? {};
  return [
    ...(spec?.selector === undefined ? [] : [removeOperation(["spec", "selector"])]),
    ...["batch.kubernetes.io/controller-uid", "controller-uid"]
      .filter((key) => Object.hasOwn(labels, key))
      .map((key) => removeOperation(["spec", "template", "metadata", "labels", key])),
  ];
}
