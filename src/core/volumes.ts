import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import type { Pod, RequirementItem, SelectorRequirement, Volume } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { namespaceOf } from "../api/object.ts";
import { requirementOperators } from "../api/vocabulary.ts";
import { intersects } from "./compatibility.ts";
import { Requirements } from "./requirements.ts";

/** Volumes attached to a node, and how many its drivers can attach. (02:S-55) */
export interface NodeVolumes {
  /** The keys of the attached claims, by driver. */
  readonly attached: ReadonlyMap<string, ReadonlySet<string>>;
  /** The most claims a driver can attach; a driver that is missing has no known limit. */
  readonly limits: ReadonlyMap<string, number>;
}

/** The volume objects of the cluster. */
export interface VolumeIndex {
  /** By namespace/name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
  readonly classes: ReadonlyMap<string, StorageClass>;
}

export const emptyVolumeIndex: VolumeIndex = { claims: new Map(), volumes: new Map(), classes: new Map() };

/** Where a pod's volumes allow it to run: one of the alternatives, or anywhere if there are none. (02:W-1) */
export type VolumeRequirementAlternatives =
  | { readonly alternatives: readonly Requirements[]; readonly problem?: never }
  /** A claim, volume or class does not exist, so the topology is unknown. (02:W-4) */
  | { readonly problem: string; readonly alternatives?: never };

const noVolumeRequirements: VolumeRequirementAlternatives = { alternatives: [] };

/** The alternatives of all volume claims combined. (02:W-1 to 02:W-4) */
export function volumeRequirementAlternatives(
  pod: Pod,
  index: VolumeIndex,
  policy: LabelPolicy,
): VolumeRequirementAlternatives {
  let merged: readonly Requirements[] | undefined;
  for (const key of volumeClaimKeys(pod)) {
    const claim = index.claims.get(key);
    if (claim === undefined) return { problem: `persistent volume claim ${key} not found` };
    const found = alternativesOf(claim, index);
    if ("problem" in found) return found;
    if (found.terms.length === 0) continue;
    const own = found.terms.map((term) => Requirements.fromItems(term, policy));
    merged = merged === undefined ? own : crossProduct(merged, own);
  }
  return merged === undefined ? noVolumeRequirements : { alternatives: merged };
}

/** namespace/name of every claim a pod uses. (02:V-5) */
export function volumeClaimKeys(pod: Pod): readonly string[] {
  const { volumes } = pod.spec;
  if (volumes === undefined || volumes.length === 0) return [];
  const namespace = namespaceOf(pod.metadata);
  return volumes.flatMap((volume) => {
    const name = volumeClaimName(pod, volume);
    return name === undefined ? [] : [`${namespace}/${name}`];
  });
}

/** An ephemeral volume's claim is named after the pod and the volume; other volumes have none. (02:V-5) */
export function volumeClaimName(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral === undefined ? undefined : `${pod.metadata.name ?? ""}-${volume.name}`;
}

/** Volume plugins that used to be part of Kubernetes, and the CSI drivers that took over from them. */
const csiDrivers: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/aws-ebs", "ebs.csi.aws.com"],
  ["kubernetes.io/gce-pd", "pd.csi.storage.gke.io"],
  ["kubernetes.io/azure-disk", "disk.csi.azure.com"],
  ["kubernetes.io/azure-file", "file.csi.azure.com"],
  ["kubernetes.io/cinder", "cinder.csi.openstack.org"],
  ["kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"],
  ["kubernetes.io/portworx-volume", "pxd.portworx.com"],
]);

/** The CSI driver of the claim's volume; undefined when unknown, and such volumes are not counted. (02:S-56) */
export function csiDriverOf(claim: PersistentVolumeClaim, index: VolumeIndex): string | undefined {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  if (volumeName !== "") {
    const source = index.volumes.get(volumeName)?.spec;
    if (source?.csi !== undefined) return source.csi.driver;
    return source?.awsElasticBlockStore === undefined ? undefined : csiDrivers.get("kubernetes.io/aws-ebs");
  }
  const provisioner = index.classes.get(storageClassName)?.provisioner;
  return provisioner === undefined ? undefined : csiDriverOfProvisioner(provisioner);
}

export function csiDriverOfProvisioner(provisioner: string): string {
  return csiDrivers.get(provisioner) ?? provisioner;
}

const nothingAttached: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/** A pod's claims by driver. Shared claims have one key, so that a node counts them once. (02:S-55) */
export function podVolumesByDriver(pod: Pod, index: VolumeIndex): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = volumeClaimKeys(pod);
  if (keys.length === 0) return nothingAttached;
  const byDriver = new Map<string, Set<string>>();
  for (const key of keys) {
    const claim = index.claims.get(key);
    const driver = claim && csiDriverOf(claim, index);
    if (driver === undefined || driver === "") continue;
    const attached = byDriver.get(driver);
    if (attached === undefined) byDriver.set(driver, new Set([key]));
    else attached.add(key);
  }
  return byDriver;
}

/** More volumes of one driver than a node can attach. */
export interface VolumeExcess {
  readonly driver: string;
  readonly count: number;
  readonly limit: number;
}

/** Drivers without a known limit are unlimited; of several in excess the first by name is reported. (02:S-57) */
export function volumeLimitExcess(
  node: NodeVolumes,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): VolumeExcess | undefined {
  let first: VolumeExcess | undefined;
  for (const [driver, limit] of node.limits) {
    const attached = node.attached.get(driver);
    let count = attached?.size ?? 0;
    for (const key of wanted.get(driver) ?? []) if (attached?.has(key) !== true) count++;
    if (count > limit && (first === undefined || driver < first.driver)) first = { driver, count, limit };
  }
  return first;
}

type Term = readonly RequirementItem[];

/** Where one claim's volume is, or may be provisioned. */
function alternativesOf(
  claim: PersistentVolumeClaim,
  index: VolumeIndex,
): { readonly terms: readonly Term[] } | { readonly problem: string } {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  if (volumeName !== "") {
    const volume = index.volumes.get(volumeName);
    return volume ? { terms: volumeTerms(volume) } : { problem: `persistent volume ${volumeName} not found` };
  }
  if (storageClassName === "") return { terms: [] };
  const storageClass = index.classes.get(storageClassName);
  return storageClass
    ? { terms: classTerms(storageClass) }
    : { problem: `storage class ${storageClassName} not found` };
}

/** A rescheduled pod cannot return to its host, so the hostname term of a local volume is ignored. (02:W-1) */
function volumeTerms({ spec }: PersistentVolume): readonly Term[] {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const isOfOneHost = spec?.local !== undefined || spec?.hostPath !== undefined;
  return terms.flatMap(({ matchExpressions = [] }) => {
    if (matchExpressions.length === 0) return [];
    return [matchExpressions.filter(({ key }) => !isOfOneHost || key !== labels.hostname).map(toItem)];
  });
}

function classTerms({ allowedTopologies = [] }: StorageClass): readonly Term[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.length === 0
      ? []
      : [matchLabelExpressions.map(({ key, values }) => ({ key, operator: "In" as const, values }))],
  );
}

/** Nothing satisfies an unknown operator. */
function toItem({ key, operator, values }: SelectorRequirement): RequirementItem {
  const known = requirementOperators.find((one) => one === operator);
  return known === undefined ? { key, operator: "DoesNotExist" } : { key, operator: known, values };
}

/** Every compatible pair; if there is none, all pairs, so that the conflict is reported. (02:W-2) */
function crossProduct(some: readonly Requirements[], others: readonly Requirements[]): readonly Requirements[] {
  const pairs = some.flatMap((a) => others.map((b) => [a, b] as const));
  const possible = pairs.filter(([a, b]) => intersects(a, b));
  return (possible.length === 0 ? pairs : possible).map(([a, b]) => a.add(...b));
}
