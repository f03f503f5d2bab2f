import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../../api/kubernetes/cluster.ts";
import { labels } from "../../../../api/labels.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { recordAt, textAt } from "../../../kinds/draft.ts";
import { labelOf } from "../node-terms.ts";
import {
  accessModesOf,
  claimRefOf,
  isWaitingForConsumer,
  matchingVolume,
  noProvisioner,
  requestedStorage,
  selectedNode,
  selectedNodeAnnotation,
} from "./claims.ts";

type Claim = KubeObject & PersistentVolumeClaim;
type Volume = KubeObject & PersistentVolume;

export interface VolumeDelays {
  /** From the order of a volume until it is there. */
  readonly provisionMs: number;
  readonly attachMs: number;
  readonly detachMs: number;
}

export const defaultVolumeDelays: VolumeDelays = { provisionMs: 2_000, attachMs: 2_000, detachMs: 3_000 };

const byClaim = "claim";

/** Brings claims and volumes together, and makes volumes where a class says how. (05:CP-L12) */
export function claimBinderLoop({ provisionMs }: Pick<VolumeDelays, "provisionMs"> = defaultVolumeDelays): Loop {
  /** When a volume was ordered for a claim. */
  const ordered = new Map<string, number>();
  return reconcileLoop({
    name: "persistentvolume-controller",
    kinds: [builtIn.Node],
    triggers: [
      on<Claim>(builtIn.PersistentVolumeClaim, ({ object, old }) => {
        const key = cacheKey((object ?? (old as Claim)).metadata);
        if (object === undefined) ordered.delete(key);
        return object === undefined ? [] : [key];
      }),
      on<Volume>(builtIn.PersistentVolume, ({ object }, world) => {
        const ref = object && claimRefOf(object);
        return ref === undefined ? pendingClaims(world) : [ref.key];
      }),
      on(builtIn.StorageClass, (_, world) => pendingClaims(world)),
    ],
    prepare: ({ view }) => view<Volume>(builtIn.PersistentVolume).index(byClaim, (one) => claimRefOf(one)?.key),
    reconcile: (key, world) => lookAt(key, world, { ordered, provisionMs }),
  });
}

function pendingClaims({ view }: LoopWorld): readonly string[] {
  return view<Claim>(builtIn.PersistentVolumeClaim)
    .all()
    .filter(({ status }) => status?.phase !== "Bound")
    .map(({ metadata }) => cacheKey(metadata));
}

interface Orders {
  readonly ordered: Map<string, number>;
  readonly provisionMs: number;
}

async function lookAt(key: string, world: LoopWorld, { ordered, provisionMs }: Orders): Promise<LookAgain | undefined> {
  const claim = world.view<Claim>(builtIn.PersistentVolumeClaim).get(key);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || isBound(claim)) return undefined;
  const storageClass = classOf(claim, world);
  const found = volumeFor(claim, storageClass, world);
  if (found !== undefined) {
    ordered.delete(key);
    await bind(claim, found, world);
    return undefined;
  }
  if (!canBeMade(claim, storageClass)) return undefined;
  if (await isOfGoneNode(claim, world)) return undefined;
  const now = world.clock.now();
  const since = ordered.get(key) ?? now;
  ordered.set(key, since);
  if (now < since + provisionMs) return { afterMs: since + provisionMs - now };
  await bind(claim, await provision(claim, storageClass, world), world);
  ordered.delete(key);
  return undefined;
}

function isBound({ status, spec }: Claim): boolean {
  return status?.phase === "Bound" && (spec?.volumeName ?? "") !== "";
}

function classOf({ spec }: Claim, { view }: LoopWorld): StorageClass | undefined {
  return view<KubeObject & StorageClass>(builtIn.StorageClass).get(spec?.storageClassName ?? "");
}

/** The volume it names, or one kept for it, or, where nobody waits for a consumer, one that does. */
function volumeFor(claim: Claim, storageClass: StorageClass | undefined, { view }: LoopWorld): Volume | undefined {
  const volumes = view<Volume>(builtIn.PersistentVolume);
  const named = claim.spec?.volumeName ?? "";
  if (named !== "") {
    const volume = volumes.get(named);
    const owner = volume && claimRefOf(volume);
    const isFree = owner === undefined || (owner.key === cacheKey(claim.metadata) && isSameUid(owner.uid, claim));
    return isFree ? volume : undefined;
  }
  const kept = volumes
    .by(byClaim, cacheKey(claim.metadata))
    .find((one) => isSameUid(claimRefOf(one)?.uid ?? "", claim));
  if (kept !== undefined || isWaitingForConsumer(storageClass)) return kept;
  return matchingVolume(claim, volumes.all()) as Volume | undefined;
}

function isSameUid(uid: string, { metadata }: Claim): boolean {
  return uid === "" || uid === metadata.uid;
}

function canBeMade(claim: Claim, storageClass: StorageClass | undefined): storageClass is StorageClass {
  if (storageClass === undefined || storageClass.provisioner === noProvisioner) return false;
  if ((claim.spec?.volumeName ?? "") !== "") return false;
  return !isWaitingForConsumer(storageClass) || selectedNode(claim) !== undefined;
}

/** A node that is gone before its volume is made must be chosen again. */
async function isOfGoneNode(claim: Claim, { client, view }: LoopWorld): Promise<boolean> {
  const node = selectedNode(claim);
  if (node === undefined || view(builtIn.Node).get(node) !== undefined) return false;
  const { name = "", namespace } = claim.metadata;
  const body = { metadata: { annotations: { [selectedNodeAnnotation]: null } } };
  await client.patch(builtIn.PersistentVolumeClaim, { name, namespace }, { kind: "merge", body });
  return true;
}

async function provision(claim: Claim, storageClass: StorageClass, world: LoopWorld): Promise<Volume> {
  const { client, tell } = world;
  const name = `pvc-${claim.metadata.uid}`;
  const driver = storageClass.provisioner ?? "";
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
      claimRef: referenceTo(claim),
      csi: { driver, volumeHandle: name },
      ...placeOf(claim, storageClass, world),
    },
  };
  try {
    const made = await client.create<Volume>(builtIn.PersistentVolume, volume);
    const message = `Successfully provisioned volume ${name}`;
    tell(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
    return made;
  } catch (error) {
    if (isKubeError(error, "already-exists")) return client.get(builtIn.PersistentVolume, { name });
    throw error;
  }
}

function referenceTo({ metadata }: Claim): Readonly<Record<string, unknown>> {
  const { namespace, name, uid } = metadata;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
}

/** Where the volume is: with its first consumer, or somewhere the class allows. */
function placeOf(claim: Claim, storageClass: StorageClass, world: LoopWorld): Readonly<Record<string, unknown>> {
  const topology = consumerTopology(claim, storageClass, world) ?? drawnTopology(claim, storageClass, world);
  if (topology.length === 0) return {};
  const matchExpressions = topology.map(([key, value]) => ({ key, operator: "In", values: [value] }));
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

type Topology = readonly (readonly [key: string, value: string])[];

function consumerTopology(claim: Claim, { allowedTopologies = [] }: StorageClass, { view }: LoopWorld) {
  const node = view(builtIn.Node).get(selectedNode(claim) ?? "");
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

function drawnTopology(claim: Claim, { allowedTopologies = [] }: StorageClass, { view, random }: LoopWorld): Topology {
  const own = random.fork(claim.metadata.uid ?? "");
  if (allowedTopologies.length > 0) {
    const { matchLabelExpressions = [] } = own.pick(allowedTopologies);
    return matchLabelExpressions.flatMap(
      ({ key, values }): Topology => (values.length === 0 ? [] : [[key, own.pick(values)]]),
    );
  }
  const zones = view(builtIn.Node)
    .all()
    .flatMap(({ metadata }) => metadata.labels?.[labels.zone] ?? []);
  const distinct = [...new Set(zones)].sort();
  return distinct.length === 0 ? [] : [[labels.zone, own.pick(distinct)]];
}

/** Each side points to the other, the volume first: a claim that says it is bound has its volume. */
async function bind(claim: Claim, volume: Volume, { client }: LoopWorld): Promise<void> {
  const name = volume.metadata.name ?? "";
  const key = { name: claim.metadata.name ?? "", namespace: claim.metadata.namespace };
  if (claimRefOf(volume)?.uid !== claim.metadata.uid) {
    const body = { spec: { claimRef: referenceTo(claim) } };
    await client.patch(builtIn.PersistentVolume, { name }, { kind: "merge", body });
  }
  if (textAt(volume.status, "phase") !== "Bound") {
    const patch = { kind: "merge", body: { status: { phase: "Bound" } } } as const;
    await client.patch(builtIn.PersistentVolume, { name }, patch, { subresource: "status" });
  }
  const annotations = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
  const body = { metadata: { annotations }, spec: { volumeName: name } };
  await client.patch(builtIn.PersistentVolumeClaim, key, { kind: "merge", body });
  const capacity = recordAt(volume.spec, "capacity") ?? {};
  const status = { phase: "Bound", accessModes: accessModesOf(volume), capacity };
  const patch = { kind: "merge", body: { status } } as const;
  await client.patch(builtIn.PersistentVolumeClaim, key, patch, { subresource: "status" });
}
