import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster.ts";
import { labels, taints } from "../../api/labels.ts";
import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import { machines } from "../aws/families.ts";
import { defaultRegion, knownRegions, type Region, regionNamed } from "../aws/regions.ts";
import { kwokNodeName } from "../kwok/node-fleet.ts";
import type { Machine } from "./machine.ts";
import { nodeNameOf } from "./vpc.ts";

export interface Remembered {
  readonly nodes: readonly Node[];
  readonly claims: readonly NodeClaim[];
}

/** The machines a cluster that was saved must have had: one for each claim that got one, and for each Node besides. */
export function restoredMachines({ nodes, claims }: Remembered): readonly Machine[] {
  const regionOf = regionsByName();
  const byProvider = new Map(nodes.map((node) => [node.spec?.providerID ?? "", node]));
  const launched = claims.flatMap((claim) => {
    const providerId = claim.status?.providerID ?? "";
    return isOurs(providerId) ? [ofClaim(claim, { providerId, node: byProvider.get(providerId), regionOf })] : [];
  });
  const known = new Set(launched.map(({ instance }) => instance.providerId));
  const alone = nodes.filter(({ spec }) => isOurs(spec?.providerID ?? "") && !known.has(spec?.providerID ?? ""));
  return [...launched, ...alone.map((node) => ofNode(node, regionOf))];
}

function isOurs(providerId: string): boolean {
  return kwokNodeName(providerId) !== undefined || ec2Place(providerId) !== undefined;
}

interface Known {
  readonly providerId: string;
  readonly node: Node | undefined;
  readonly regionOf: RegionOf;
}

type RegionOf = (name: string) => Region | undefined;

function regionsByName(): RegionOf {
  const known = machines();
  const found = new Map(knownRegions.map((name) => [name, regionNamed(name, known)]));
  return (name) => {
    const result = found.get(name);
    return result !== undefined && "region" in result ? result.region : undefined;
  };
}

function ofClaim(claim: NodeClaim, { providerId, node, regionOf }: Known): Machine {
  const { metadata, spec, status } = claim;
  const own = { ...metadata.labels };
  return {
    instance: {
      ...identity(providerId, regionOf(own[labels.region] ?? defaultRegion)),
      labels: own,
      taints: [taints.unregistered, ...(spec.taints ?? []), ...(spec.startupTaints ?? [])],
      capacity: status?.capacity ?? {},
      allocatable: status?.allocatable ?? {},
      ...since(node?.metadata.creationTimestamp ?? metadata.creationTimestamp),
    },
    key: keyOf(own),
    token: metadata.uid ?? "",
    claimName: metadata.name ?? "",
    imageId: status?.imageID,
    isTerminating: isTrue(claim, "InstanceTerminating"),
  };
}

/** Nobody's machine: to be collected. (03:G-3) */
function ofNode({ metadata, spec, status }: Node, regionOf: RegionOf): Machine {
  const own = { ...metadata.labels };
  return {
    instance: {
      ...identity(spec?.providerID ?? "", regionOf(own[labels.region] ?? defaultRegion)),
      nodeName: metadata.name ?? "",
      labels: own,
      taints: spec?.taints ?? [],
      capacity: status?.capacity ?? {},
      allocatable: status?.allocatable ?? {},
      ...since(metadata.creationTimestamp),
    },
    key: keyOf(own),
    token: "",
    claimName: "",
    isTerminating: false,
  };
}

/** It is up by now. */
function since(created: string | undefined): Pick<SimulatedInstance, "launchedAt" | "bootMs" | "state" | "kubelet"> {
  return { launchedAt: Date.parse(created ?? "") || 0, bootMs: 0, state: "running", kubelet: "healthy" };
}

function identity(providerId: string, region: Region | undefined) {
  const name = kwokNodeName(providerId);
  if (name !== undefined) return { id: name, providerId, nodeName: name };
  const { id = "", zone = "" } = ec2Place(providerId) ?? {};
  return { id, providerId, nodeName: region === undefined ? id : nodeNameOf(id, { region, zone }) };
}

function ec2Place(providerId: string): { readonly zone: string; readonly id: string } | undefined {
  const [, zone, id] = /^aws:\/\/\/([^/]*)\/(i-[0-9a-f]+)$/.exec(providerId) ?? [];
  return zone === undefined || id === undefined ? undefined : { zone, id };
}

function keyOf(own: Readonly<Record<string, string>>): OfferingKey {
  return {
    instanceType: own[labels.instanceType] ?? "",
    zone: own[labels.zone] ?? "",
    capacityType: own[labels.capacityType] ?? "",
  };
}
