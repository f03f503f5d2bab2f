import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import { labels } from "../../../api/labels.ts";
import { matchingVolume } from "../../../core/volume-matching.ts";
import { podVolumesByDriver, volumeLimitExcess } from "../../../core/volumes.ts";
import { labelOf, nodeSelectorTest } from "../node-selector.ts";
import { isVolumeReachable, isWaitingForConsumer, noProvisioner, selectedNode } from "../volumes/volume-matching.ts";
import { type FilterRefusal, filterReasons } from "./filter-refusal.ts";
import type { NodeFacts, NodeInfo } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";
import type { SchedulerSnapshot } from "./scheduler-snapshot.ts";

/** The volume filter of a pod; `problem` if no node can solve it. */
export type VolumeFilter =
  | { readonly problem: string; readonly test?: never }
  | { readonly problem?: never; readonly test: (node: NodeInfo) => FilterRefusal | undefined };

/** Undefined for pods without claims. (05:CP-L9, volume zone, limits and binding) */
export function volumeFilter(pod: PodProfile, snapshot: SchedulerSnapshot): VolumeFilter | undefined {
  if (pod.claims.length === 0) return undefined;
  const { volumes } = snapshot;
  const tests: ((node: NodeFacts) => string | undefined)[] = [];
  for (const key of pod.claims) {
    const claim = volumes.claims.get(key);
    const name = JSON.stringify(key.slice(key.indexOf("/") + 1));
    if (claim === undefined) return { problem: `persistentvolumeclaim ${name} not found` };
    if (claim.metadata.deletionTimestamp !== undefined) {
      return { problem: `persistentvolumeclaim ${name} is being deleted` };
    }
    const test = claimNodeTest(claim, snapshot);
    if (typeof test === "string") return { problem: test };
    if (test !== undefined) tests.push(test);
  }
  const attach = podVolumesByDriver(pod.pod, volumes);
  return {
    test: (node) => limitRefusal(node, { snapshot, attach }) ?? firstReason(tests, node.facts),
  };
}

function firstReason(
  tests: readonly ((node: NodeFacts) => string | undefined)[],
  node: NodeFacts,
): FilterRefusal | undefined {
  for (const test of tests) {
    const reason = test(node);
    if (reason !== undefined) return { filter: "volumes", reasons: [reason], isResolvable: false };
  }
  return undefined;
}

function claimNodeTest(
  claim: PersistentVolumeClaim,
  { volumes, freeVolumes }: SchedulerSnapshot,
): string | ((node: NodeFacts) => string | undefined) | undefined {
  const { volumeName = "", storageClassName = "" } = claim.spec ?? {};
  if (volumeName !== "") {
    const volume = volumes.volumes.get(volumeName);
    return volume === undefined
      ? `persistentvolume ${JSON.stringify(volumeName)} not found`
      : boundVolumeNodeTest(volume);
  }
  const storageClass = volumes.classes.get(storageClassName);
  if (!isWaitingForConsumer(storageClass)) return filterReasons.immediateClaims;
  return (node) => unboundReason(claim, node, { storageClass, freeVolumes });
}

function boundVolumeNodeTest(volume: PersistentVolume): (node: NodeFacts) => string | undefined {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  const affinity = terms === undefined ? undefined : nodeSelectorTest(terms);
  return (node) => {
    if (affinity !== undefined && !affinity(node)) return filterReasons.volumeAffinity;
    return isInVolumeZone(volume, node) ? undefined : filterReasons.volumeZone;
  };
}

/** Pre-CSI volumes state their zones in labels, joined by `__`. */
function isInVolumeZone({ metadata }: PersistentVolume, node: NodeFacts): boolean {
  return [labels.zone, labels.region].every((key) => {
    const zones = metadata.labels?.[key];
    const own = labelOf(node, key);
    return zones === undefined || own === undefined || zones.split("__").includes(own);
  });
}

/** An unbound WaitForFirstConsumer claim: needs an existing reachable volume, or one that can be provisioned. */
function unboundReason(
  claim: PersistentVolumeClaim,
  node: NodeFacts,
  { storageClass, freeVolumes }: { storageClass: StorageClass | undefined; freeVolumes: readonly PersistentVolume[] },
): string | undefined {
  const chosen = selectedNode(claim);
  if (chosen !== undefined && chosen !== node.name) return filterReasons.noVolume;
  if (matchingVolume(claim, freeVolumes, (one) => isVolumeReachable(one, node)) !== undefined) return undefined;
  if (storageClass === undefined || storageClass.provisioner === noProvisioner) return filterReasons.noVolume;
  return canProvisionFor(storageClass, node) ? undefined : filterReasons.noVolume;
}

function canProvisionFor({ allowedTopologies = [] }: StorageClass, node: NodeFacts): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => {
      const value = labelOf(node, key);
      return value !== undefined && values.includes(value);
    }),
  );
}

function limitRefusal(
  node: NodeInfo,
  { snapshot, attach }: { snapshot: SchedulerSnapshot; attach: ReadonlyMap<string, ReadonlySet<string>> },
): FilterRefusal | undefined {
  const limits = snapshot.volumeLimits.get(node.name);
  if (limits === undefined || limits.size === 0) return undefined;
  const attached = new Map<string, Set<string>>();
  for (const { pod, claims } of node.pods.values()) {
    if (claims.length === 0) continue;
    for (const [driver, keys] of podVolumesByDriver(pod, snapshot.volumes)) {
      attached.set(driver, new Set([...(attached.get(driver) ?? []), ...keys]));
    }
  }
  // Only drivers this pod adds volumes to: a node already over its limit is still open to other drivers.
  const wanted = new Map(
    [...attach].filter(([driver, keys]) => ![...keys].every((key) => attached.get(driver)?.has(key))),
  );
  const concerned = new Map([...limits].filter(([driver]) => wanted.has(driver)));
  if (volumeLimitExcess({ attached, limits: concerned }, wanted) === undefined) return undefined;
  return { filter: "volume-limits", reasons: [filterReasons.volumeLimit], isResolvable: true };
}
