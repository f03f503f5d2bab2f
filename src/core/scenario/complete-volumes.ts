import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/kubernetes/cluster-objects.ts";
import { defaultStorageClassOf } from "../../api/kubernetes/default-storage-class.ts";
import type { PersistentVolumeClaimSpec, Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName, namespaceOf } from "../../api/object.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { claimRefOf, isPreBoundTo, matchingVolume } from "../volume-matching.ts";
import { volumeClaimName } from "../volumes.ts";
import type { InputNote } from "./input-note.ts";
import { scenarioKind } from "./scenario-kind.ts";

export interface VolumeCompletionOptions {
  /** Whether classes and volumes that are not given are assumed: a cluster's own list of them is complete. */
  readonly assumes: boolean;
}

export interface CompletedVolumes {
  /** The given objects in order, then those that were added. */
  readonly objects: readonly KubeObject[];
  readonly notes: readonly InputNote[];
}

type Claim = KubeObject & PersistentVolumeClaim;
type Volume = KubeObject & PersistentVolume;
type Class = KubeObject & StorageClass;

const bindCompleted = "pv.kubernetes.io/bind-completed";
/** The class of claims that name none, where no default class is given. */
const assumedClassName = "assumed-default";

/**
 * Does what the controllers of a cluster do about volumes before pods are scheduled: creates the claims of ephemeral
 * volumes, gives claims the default class, binds them to volumes. Objects must be complete.
 */
export function completeVolumes(objects: readonly KubeObject[], options: VolumeCompletionOptions): CompletedVolumes {
  const completion = new VolumeCompletion(objects, options);
  return completion.complete(objects);
}

class VolumeCompletion {
  readonly #assumes: boolean;
  readonly #classes: Map<string, Class>;
  readonly #volumes: Map<string, Volume>;
  /** By the claim they are reserved for. */
  readonly #reserved = new Map<string, Volume[]>();
  readonly #added: KubeObject[] = [];
  /** Claims by the class, or the volume, that was assumed for them. */
  readonly #assumedClasses = new Map<string, string[]>();
  readonly #assumedVolumes = new Map<string, string[]>();
  readonly #immediate: string[] = [];

  constructor(objects: readonly KubeObject[], { assumes }: VolumeCompletionOptions) {
    this.#assumes = assumes;
    const byName = <T extends KubeObject>(kind: string) =>
      new Map(
        objects
          .filter((one) => scenarioKind(one) === kind)
          .map((one) => [one.metadata.name ?? "", one as unknown as T]),
      );
    this.#classes = byName<Class>("StorageClass");
    this.#volumes = byName<Volume>("PersistentVolume");
    for (const volume of this.#volumes.values()) {
      const key = claimRefOf(volume)?.key;
      if (key !== undefined) this.#reserved.set(key, [...(this.#reserved.get(key) ?? []), volume]);
    }
  }

  complete(objects: readonly KubeObject[]): CompletedVolumes {
    const given = objects.map((object) => (isClaim(object) ? this.#claim(object) : object));
    const ephemeral = ephemeralClaims(objects).map((claim) => this.#claim(claim));
    return { objects: [...given, ...ephemeral, ...this.#added], notes: this.#notes() };
  }

  #claim(claim: Claim): KubeObject {
    const { spec = {}, status, metadata } = claim;
    if (metadata.deletionTimestamp !== undefined || status?.phase === "Lost") return claim;
    if (metadata.annotations?.[bindCompleted] !== undefined && (spec.volumeName ?? "") !== "") {
      return this.#named(claim, spec.volumeName ?? "");
    }
    const volumeName = spec.volumeName || this.#preBoundTo(claim);
    if (volumeName !== undefined && volumeName !== "") return this.#named(claim, volumeName);
    const classed = spec.storageClassName === undefined ? this.#withDefaultClass(claim) : claim;
    return this.#unbound(classed);
  }

  /** Binds to the volume it names, if that is there or assumed to be. */
  #named(claim: Claim, volumeName: string): KubeObject {
    if (!this.#volumes.has(volumeName)) {
      if (!this.#assumes) return claim;
      this.#assumedVolumes.set(volumeName, [namespacedName(claim.metadata)]);
      this.#addVolume(volumeName, claim);
    }
    return bound(claim, volumeName);
  }

  #unbound(claim: Claim): KubeObject {
    const { storageClassName = "" } = claim.spec ?? {};
    const storageClass = this.#classOf(claim, storageClassName);
    if (storageClass?.volumeBindingMode === "WaitForFirstConsumer") return claim;
    const found = matchingVolume(claim, this.#volumes.values());
    if (found !== undefined) return this.#bind(claim, found);
    const isProvisioned = storageClass !== undefined && storageClass.provisioner !== "kubernetes.io/no-provisioner";
    if (!isProvisioned || !this.#assumes) return claim;
    this.#immediate.push(namespacedName(claim.metadata));
    const name = `pvc-${claim.metadata.uid ?? claim.metadata.name ?? ""}`;
    this.#addVolume(name, claim, storageClass);
    return bound(claim, name);
  }

  #classOf(claim: Claim, name: string): Class | undefined {
    const known = this.#classes.get(name);
    const isGiven = known !== undefined && !this.#assumedClasses.has(name);
    if (isGiven || name === "" || name === assumedClassName || !this.#assumes) return known;
    this.#assumeClass(name, claim);
    return this.#classes.get(name);
  }

  #withDefaultClass(claim: Claim): Claim {
    const newest = defaultStorageClassOf(this.#classes.values());
    const name = newest?.metadata.name ?? (this.#assumes ? assumedClassName : undefined);
    if (name === undefined) return claim;
    if (newest === undefined) this.#assumeClass(name, claim);
    return { ...claim, spec: { ...claim.spec, storageClassName: name } };
  }

  #assumeClass(name: string, claim: Claim): void {
    this.#assumedClasses.set(name, [...(this.#assumedClasses.get(name) ?? []), namespacedName(claim.metadata)]);
    if (this.#classes.has(name)) return;
    const assumed = {
      ...madeObject("storage.k8s.io/v1", "StorageClass", name),
      volumeBindingMode: "WaitForFirstConsumer",
    } as unknown as Class;
    this.#classes.set(name, assumed);
    this.#added.push(assumed);
  }

  #preBoundTo(claim: Claim): string | undefined {
    const reserved = this.#reserved.get(namespacedName(claim.metadata)) ?? [];
    return reserved.find((volume) => isPreBoundTo(claim, volume))?.metadata.name;
  }

  /** A volume serves one claim. */
  #bind(claim: Claim, volume: Volume): KubeObject {
    const name = volume.metadata.name ?? "";
    const claimRef = { namespace: namespaceOf(claim.metadata), name: claim.metadata.name };
    this.#volumes.set(name, { ...volume, spec: { ...volume.spec, claimRef } } as Volume);
    return bound(claim, name);
  }

  /** Reachable from everywhere the class allows: where it would be made is not known. */
  #addVolume(name: string, claim: Claim, storageClass?: Class): void {
    const nodeSelectorTerms = (storageClass?.allowedTopologies ?? []).map(({ matchLabelExpressions = [] }) => ({
      matchExpressions: matchLabelExpressions.map((one) => ({ ...one, operator: "In" })),
    }));
    const driver = storageClass?.provisioner;
    const volume = {
      ...madeObject("v1", "PersistentVolume", name),
      spec: {
        ...(driver !== undefined && { csi: { driver } }),
        ...(nodeSelectorTerms.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms } } }),
        claimRef: { namespace: namespaceOf(claim.metadata), name: claim.metadata.name },
      },
    } as unknown as Volume;
    this.#volumes.set(name, volume);
    this.#added.push(volume);
  }

  #notes(): readonly InputNote[] {
    return [
      ...[...this.#assumedClasses].map(([name, claims]): InputNote => {
        return { code: "class-assumed", storageClass: name === assumedClassName ? undefined : name, claims };
      }),
      ...[...this.#assumedVolumes].map(([volume, claims]): InputNote => ({ code: "volume-assumed", volume, claims })),
      ...(this.#immediate.length === 0 ? [] : [{ code: "zone-unknown", claims: this.#immediate } as const]),
    ];
  }
}

function isClaim(object: KubeObject): object is Claim {
  return scenarioKind(object) === "PersistentVolumeClaim";
}

function bound(claim: Claim, volumeName: string): KubeObject {
  const { metadata, spec, status } = claim;
  const annotations = { [bindCompleted]: "yes", ...metadata.annotations };
  const made = { ...claim, metadata: { ...metadata, annotations }, spec: { ...spec, volumeName } };
  return { ...made, status: { ...status, phase: "Bound" } };
}

/** The claims that a cluster creates for ephemeral volumes, but for those that are given. */
function ephemeralClaims(objects: readonly KubeObject[]): readonly Claim[] {
  const given = new Set(objects.filter(isClaim).map(({ metadata }) => namespacedName(metadata)));
  return objects
    .flatMap((object) => (scenarioKind(object) === "Pod" ? claimsOfPod(object as KubeObject & Pod) : []))
    .filter(({ metadata }) => !given.has(namespacedName(metadata)));
}

function claimsOfPod(pod: KubeObject & Pod): readonly Claim[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const { volumeClaimTemplate } = (volume.ephemeral ?? {}) as EphemeralVolume;
    if (volumeClaimTemplate === undefined) return [];
    const name = volumeClaimName(pod, volume) ?? "";
    const made = madeObject("v1", "PersistentVolumeClaim", name);
    const metadata = { ...made.metadata, namespace: namespaceOf(pod.metadata) };
    return [{ ...made, metadata, spec: volumeClaimTemplate.spec ?? {}, status: { phase: "Pending" } } as Claim];
  });
}

interface EphemeralVolume {
  readonly volumeClaimTemplate?: { readonly spec?: PersistentVolumeClaimSpec };
}

function madeObject(apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { name, uid: `${kind}-${name}`, creationTimestamp: rfc3339(0) } };
}
