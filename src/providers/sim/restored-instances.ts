import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { labels, taints } from "../../api/labels.ts";
import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import { offeringKeyOfLabels } from "../../cloud/offering-key.ts";
import { defaultRegion, findRegion, knownRegions, type Region } from "../aws/regions.ts";
import { kwokNodeName } from "../kwok/kwok-nodes.ts";
import type { InstanceRecord } from "./fleet-request.ts";
import { ec2NodeName } from "./vpc.ts";

export interface SavedCluster {
  readonly nodes: readonly Node[];
  readonly claims: readonly NodeClaim[];
}

/** Rebuilds the instances of a saved cluster: one per launched claim, and one per other Node. */
export function restoredInstances({ nodes, claims }: SavedCluster): readonly InstanceRecord[] {
  const regionOf = regionsByName();
  const byProvider = new Map(nodes.map((node) => [node.spec?.providerID ?? "", node]));
  const launched = claims.flatMap((claim) => {
    const providerId = claim.status?.providerID ?? "";
    return isSimulatedProviderId(providerId)
      ? [recordOfClaim(claim, { providerId, node: byProvider.get(providerId), regionOf })]
      : [];
  });
  const known = new Set(launched.map(({ instance }) => instance.providerId));
  const unclaimed = nodes.filter(
    ({ spec }) => isSimulatedProviderId(spec?.providerID ?? "") && !known.has(spec?.providerID ?? ""),
  );
  return [...launched, ...unclaimed.map((node) => recordOfNode(node, regionOf))];
}

function isSimulatedProviderId(providerId: string): boolean {
  return kwokNodeName(providerId) !== undefined || parseEc2ProviderId(providerId) !== undefined;
}

interface ClaimOrigin {
  readonly providerId: string;
  readonly node: Node | undefined;
  readonly regionOf: RegionOf;
}

type RegionOf = (name: string) => Region | undefined;

function regionsByName(): RegionOf {
  const found = new Map(knownRegions.map((name) => [name, findRegion(name)]));
  return (name) => {
    const result = found.get(name);
    return result !== undefined && "region" in result ? result.region : undefined;
  };
}

function recordOfClaim(claim: NodeClaim, { providerId, node, regionOf }: ClaimOrigin): InstanceRecord {
  const { metadata, spec, status } = claim;
  const own = { ...metadata.labels };
  return {
    instance: {
      ...instanceIdentity(providerId, regionOf(own[labels.region] ?? defaultRegion)),
      labels: own,
      taints: [taints.unregistered, ...(spec.taints ?? []), ...(spec.startupTaints ?? [])],
      capacity: status?.capacity ?? {},
      allocatable: status?.allocatable ?? {},
      ...runningSince(node?.metadata.creationTimestamp ?? metadata.creationTimestamp),
    },
    key: offeringKeyOfLabels(own),
    clientToken: metadata.uid ?? "",
    claimName: metadata.name ?? "",
    imageId: status?.imageID,
    isTerminating: isStatusConditionTrue(claim, "InstanceTerminating"),
  };
}

/** An instance without a claim: garbage collection will remove it. (03:G-3) */
function recordOfNode({ metadata, spec, status }: Node, regionOf: RegionOf): InstanceRecord {
  const own = { ...metadata.labels };
  return {
    instance: {
      ...instanceIdentity(spec?.providerID ?? "", regionOf(own[labels.region] ?? defaultRegion)),
      nodeName: metadata.name ?? "",
      labels: own,
      taints: spec?.taints ?? [],
      capacity: status?.capacity ?? {},
      allocatable: status?.allocatable ?? {},
      ...runningSince(metadata.creationTimestamp),
    },
    key: offeringKeyOfLabels(own),
    clientToken: "",
    claimName: "",
    isTerminating: false,
  };
}

/** A restored instance has already booted. */
function runningSince(
  created: string | undefined,
): Pick<SimulatedInstance, "launchedAt" | "bootMs" | "state" | "kubelet"> {
  return { launchedAt: Date.parse(created ?? "") || 0, bootMs: 0, state: "running", kubelet: "healthy" };
}

function instanceIdentity(providerId: string, region: Region | undefined) {
  const name = kwokNodeName(providerId);
  if (name !== undefined) return { id: name, providerId, nodeName: name };
  const { id = "", zone = "" } = parseEc2ProviderId(providerId) ?? {};
  return { id, providerId, nodeName: region === undefined ? id : ec2NodeName(id, { region, zone }) };
}

function parseEc2ProviderId(providerId: string): { readonly zone: string; readonly id: string } | undefined {
  const [, zone, id] = /^aws:\/\/\/([^/]*)\/(i-[0-9a-f]+)$/.exec(providerId) ?? [];
  return zone === undefined || id === undefined ? undefined : { zone, id };
}
