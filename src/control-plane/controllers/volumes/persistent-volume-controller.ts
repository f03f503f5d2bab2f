import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import { defaultStorageClassOf } from "../../../api/kubernetes/default-storage-class.ts";
import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { accessModesOf, claimRefOf, matchingVolume, requestedStorage } from "../../../core/volume-matching.ts";
import { csiDriverOfProvisioner } from "../../../core/volumes.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { recordAt, textAt } from "../../object-fields.ts";
import { labelOf } from "../node-selector.ts";
import {
  claimReference,
  isWaitingForConsumer,
  noProvisioner,
  selectedNode,
  selectedNodeAnnotation,
} from "./volume-matching.ts";

type Claim = KubeObject & PersistentVolumeClaim;
type Volume = KubeObject & PersistentVolume;

export interface VolumeDelays {
  /** From the request until the volume exists. */
  readonly provisionMs: number;
  readonly attachMs: number;
  readonly detachMs: number;
}

export const defaultVolumeDelays: VolumeDelays = { provisionMs: 2_000, attachMs: 2_000, detachMs: 3_000 };

const claimIndex = "claim";

/** Binds claims to volumes, and provisions volumes by StorageClass. (05:CP-L12) */
export function persistentVolumeController({
  provisionMs,
}: Pick<VolumeDelays, "provisionMs"> = defaultVolumeDelays): Controller {
  return reconcileController({
    name: "persistentvolume-controller",
    kinds: [builtInTypes.Node],
    triggers: [
      triggerOn<Claim>(builtInTypes.PersistentVolumeClaim, ({ object, old }) => [cacheKey((object ?? old).metadata)]),
      triggerOn<Volume>(builtInTypes.PersistentVolume, ({ object }, context) => {
        const ref = object && claimRefOf(object);
        return ref === undefined ? pendingClaims(context) : [ref.key];
      }),
      triggerOn(builtInTypes.StorageClass, (_, context) => pendingClaims(context)),
    ],
    start: ({ view }) => {
      view<Volume>(builtInTypes.PersistentVolume).addIndex(claimIndex, (one) => claimRefOf(one)?.key);
      return new Map<string, number>();
    },
    reconcile: (key, context, provisioningSince) => bindOrProvision(key, context, { provisioningSince, provisionMs }),
  });
}

function pendingClaims({ view }: ControllerContext): readonly string[] {
  return view<Claim>(builtInTypes.PersistentVolumeClaim)
    .all()
    .filter(({ status }) => status?.phase !== "Bound")
    .map(({ metadata }) => cacheKey(metadata));
}

interface ProvisioningState {
  /** When provisioning for a claim began, by key. */
  readonly provisioningSince: Map<string, number>;
  readonly provisionMs: number;
}

async function bindOrProvision(
  key: string,
  context: ControllerContext,
  { provisioningSince, provisionMs }: ProvisioningState,
): Promise<RequeueAfter | undefined> {
  const claim = context.view<Claim>(builtInTypes.PersistentVolumeClaim).get(key);
  if (claim === undefined) provisioningSince.delete(key);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || isBound(claim)) return undefined;
  const storageClass = storageClassOf(claim, context);
  const found = volumeFor(claim, storageClass, context);
  if (found !== undefined) {
    provisioningSince.delete(key);
    await bind(claim, found, context);
    return undefined;
  }
  if (await assignDefaultClass(claim, context)) return undefined;
  if (!canProvision(claim, storageClass)) return undefined;
  if (await clearMissingSelectedNode(claim, context)) return undefined;
  const now = context.clock.now();
  const since = provisioningSince.get(key) ?? now;
  provisioningSince.set(key, since);
  if (now < since + provisionMs) return { afterMs: since + provisionMs - now };
  await bind(claim, await provision(claim, storageClass, context), context);
  provisioningSince.delete(key);
  return undefined;
}

function isBound({ status, spec }: Claim): boolean {
  return status?.phase === "Bound" && (spec?.volumeName ?? "") !== "";
}

function storageClassOf({ spec }: Claim, { view }: ControllerContext): StorageClass | undefined {
  return view<KubeObject & StorageClass>(builtInTypes.StorageClass).get(spec?.storageClassName ?? "");
}

/** A claim that came before the default class gets it later; an empty name asks for no class. */
async function assignDefaultClass({ metadata, spec }: Claim, { client, view }: ControllerContext): Promise<boolean> {
  if (spec?.storageClassName !== undefined || (spec?.volumeName ?? "") !== "") return false;
  const chosen = defaultStorageClassOf(view<KubeObject & StorageClass>(builtInTypes.StorageClass).all());
  if (chosen === undefined) return false;
  const body = { spec: { storageClassName: chosen.metadata.name } };
  const key = { name: metadata.name ?? "", namespace: metadata.namespace };
  await client.patch(builtInTypes.PersistentVolumeClaim, key, { kind: "merge", body });
  return true;
}

/** The volume the claim names, one pre-bound to it, or, with Immediate binding, any that matches. */
function volumeFor(
  claim: Claim,
  storageClass: StorageClass | undefined,
  { view }: ControllerContext,
): Volume | undefined {
  const volumes = view<Volume>(builtInTypes.PersistentVolume);
  const volumeName = claim.spec?.volumeName ?? "";
  if (volumeName !== "") {
    const volume = volumes.get(volumeName);
    const owner = volume && claimRefOf(volume);
    const isFree = owner === undefined || (owner.key === cacheKey(claim.metadata) && isSameUid(owner.uid, claim));
    return isFree ? volume : undefined;
  }
  const preBound = volumes
    .byIndex(claimIndex, cacheKey(claim.metadata))
    .find((one) => isSameUid(claimRefOf(one)?.uid ?? "", claim));
  if (preBound !== undefined || isWaitingForConsumer(storageClass)) return preBound;
  return matchingVolume(claim, volumes.all());
}

function isSameUid(uid: string, { metadata }: Claim): boolean {
  return uid === "" || uid === metadata.uid;
}

function canProvision(claim: Claim, storageClass: StorageClass | undefined): storageClass is StorageClass {
  if (storageClass === undefined || storageClass.provisioner === noProvisioner) return false;
  if ((claim.spec?.volumeName ?? "") !== "") return false;
  return !isWaitingForConsumer(storageClass) || selectedNode(claim) !== undefined;
}

/** If the selected node is gone, clears the annotation so that the scheduler chooses again. */
async function clearMissingSelectedNode(claim: Claim, { client, view }: ControllerContext): Promise<boolean> {
  const node = selectedNode(claim);
  if (node === undefined || view(builtInTypes.Node).get(node) !== undefined) return false;
  const { name = "", namespace } = claim.metadata;
  const body = { metadata: { annotations: { [selectedNodeAnnotation]: null } } };
  await client.patch(builtInTypes.PersistentVolumeClaim, { name, namespace }, { kind: "merge", body });
  return true;
}

async function provision(claim: Claim, storageClass: StorageClass, context: ControllerContext): Promise<Volume> {
  const { client, recordEvent } = context;
  const name = `pvc-${claim.metadata.uid}`;
  const driver = csiDriverOfProvisioner(storageClass.provisioner ?? "");
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": driver } },
    spec: {
      capacity: { storage: requestedStorage(claim).toString() },
      accessModes: claim.spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: textAt(storageClass, "reclaimPolicy") || "Delete",
      storageClassName: storageClass.metadata.name ?? "",
      volumeMode: textAt(claim.spec, "volumeMode") || "Filesystem",
      claimRef: claimReference(claim),
      csi: { driver, volumeHandle: name },
      ...volumeNodeAffinity(claim, storageClass, context),
    },
  };
  try {
    const made = await client.create<Volume>(builtInTypes.PersistentVolume, volume);
    const message = `Successfully provisioned volume ${name}`;
    recordEvent(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
    return made;
  } catch (error) {
    if (isKubeError(error, "already-exists")) return client.get(builtInTypes.PersistentVolume, { name });
    throw error;
  }
}

/** The volume's node affinity: the topology of its first consumer, or one the class allows. */
function volumeNodeAffinity(
  claim: Claim,
  storageClass: StorageClass,
  context: ControllerContext,
): Readonly<Record<string, unknown>> {
  const topology = consumerTopology(claim, storageClass, context) ?? randomTopology(claim, storageClass, context);
  if (topology.length === 0) return {};
  const matchExpressions = topology.map(([key, value]) => ({ key, operator: "In", values: [value] }));
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

type Topology = readonly (readonly [key: string, value: string])[];

function consumerTopology(claim: Claim, { allowedTopologies = [] }: StorageClass, { view }: ControllerContext) {
  const node = view(builtInTypes.Node).get(selectedNode(claim) ?? "");
  if (node === undefined) return undefined;
  const own = { labels: node.metadata.labels ?? {} };
  const keys = new Set(
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }) => matchLabelExpressions.map(({ key }) => key)),
  );
  const wanted = keys.size === 0 ? [labels.zone] : [...keys].sort();
  return wanted.flatMap((key): Topology => {
    const value = labelOf(own, key);
    return value === undefined ? [] : [[key, value]];
  });
}

function randomTopology(
  claim: Claim,
  { allowedTopologies = [] }: StorageClass,
  { view, random }: ControllerContext,
): Topology {
  const own = random.fork(claim.metadata.uid ?? "");
  if (allowedTopologies.length > 0) {
    const { matchLabelExpressions = [] } = own.pick(allowedTopologies);
    return matchLabelExpressions.flatMap(
      ({ key, values }): Topology => (values.length === 0 ? [] : [[key, own.pick(values)]]),
    );
  }
  const zones = view(builtInTypes.Node)
    .all()
    .flatMap(({ metadata }) => metadata.labels?.[labels.zone] ?? []);
  const distinct = [...new Set(zones)].sort();
  return distinct.length === 0 ? [] : [[labels.zone, own.pick(distinct)]];
}

/** Both sides point to each other, the volume first: a bound claim always has its volume. */
async function bind(claim: Claim, volume: Volume, { client }: ControllerContext): Promise<void> {
  const name = volume.metadata.name ?? "";
  const key = { name: claim.metadata.name ?? "", namespace: claim.metadata.namespace };
  if (claimRefOf(volume)?.uid !== claim.metadata.uid) {
    const body = { spec: { claimRef: claimReference(claim) } };
    await client.patch(builtInTypes.PersistentVolume, { name }, { kind: "merge", body });
  }
  if (textAt(volume.status, "phase") !== "Bound") {
    const patch = { kind: "merge", body: { status: { phase: "Bound" } } } as const;
    await client.patch(builtInTypes.PersistentVolume, { name }, patch, { subresource: "status" });
  }
  const annotations = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
  const body = { metadata: { annotations }, spec: { volumeName: name } };
  await client.patch(builtInTypes.PersistentVolumeClaim, key, { kind: "merge", body });
  const capacity = recordAt(volume.spec, "capacity") ?? {};
  const status = { phase: "Bound", accessModes: accessModesOf(volume), capacity };
  const patch = { kind: "merge", body: { status } } as const;
  await client.patch(builtInTypes.PersistentVolumeClaim, key, patch, { subresource: "status" });
}
