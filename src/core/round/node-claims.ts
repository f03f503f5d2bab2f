import { nodePoolHashVersion } from "../../api/hash/hash-drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { annotations, groups, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Random } from "../../util/random.ts";
import { isCompatible } from "../compatibility.ts";
import { offeringCapacityType } from "../instance-type.ts";
import type { OverlaidTypes } from "../overlay.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { Resources } from "../resources.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import { nodeClaimTemplateOf, simulationKeys } from "../scheduling/node-claim-template.ts";

export interface NodeClaimContext {
  readonly pool: NodePool;
  readonly policy: LabelPolicy;
  /** Draws a value for labels with several possible ones. */
  readonly random: Random;
  /** Types changed by overlays. */
  readonly overlaid: OverlaidTypes;
  /** For pools that set none. (02:L-5) */
  readonly defaultGracePeriod?: string | undefined;
}

/** The NodeClaim of a planned node. (02:L-2 to L-5) */
export function nodeClaimOf(node: PlannedNode, context: NodeClaimContext): KubeObject {
  const { pool, policy, random, overlaid } = context;
  const has = (types: OverlaidTypes["priced"]): boolean => node.instanceTypes.some((type) => types.has(type));
  return nodeClaimFromTemplate(pool, {
    labels: claimLabels(node.requirements, { base: nodeClaimTemplateOf(pool, policy).labels, policy, random }),
    annotations: {
      [annotations.minValuesRelaxed]: String(node.minValuesRelaxed),
      ...(node.draDrivers !== undefined && { [annotations.requestedDraDrivers]: node.draDrivers.join(",") }),
      ...(has(overlaid.priced) && { [annotations.priceOverlayApplied]: "true" }),
      ...(has(overlaid.enlarged) && { [annotations.capacityOverlayApplied]: "true" }),
    },
    requirements: launchRequirements(node, policy),
    requests: node.requests,
    defaultGracePeriod: context.defaultGracePeriod,
  });
}

/** A NodeClaim made from the template alone: the provider chooses among all compatible types. (02:Z-2, 03:SP-3) */
export function staticNodeClaimOf(
  pool: NodePool,
  { policy, random, defaultGracePeriod }: Omit<NodeClaimContext, "pool" | "overlaid">,
): KubeObject {
  const { requirements, labels: base } = nodeClaimTemplateOf(pool, policy);
  const asked = simulationKeys.reduce((left, key) => left.without(key), requirements);
  return nodeClaimFromTemplate(pool, {
    labels: claimLabels(asked, { base, policy, random }),
    annotations: {},
    requirements: asked,
    defaultGracePeriod,
  });
}

/** What differs between the claims of a pool. */
interface NodeClaimParts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly requirements: Requirements;
  readonly requests?: Resources | undefined;
  readonly defaultGracePeriod: string | undefined;
}

/** What all claims of a pool have in common. (02:L-3, L-5) */
function nodeClaimFromTemplate(pool: NodePool, { requests, defaultGracePeriod, ...parts }: NodeClaimParts): KubeObject {
  const { template } = pool.spec;
  const { taints, startupTaints, nodeClassRef, expireAfter } = template.spec;
  const terminationGracePeriod = template.spec.terminationGracePeriod ?? defaultGracePeriod;
  return {
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodeClaim",
    metadata: {
      generateName: `${pool.metadata.name ?? ""}-`,
      labels: parts.labels,
      annotations: {
        ...template.metadata?.annotations,
        [annotations.nodePoolHash]: nodePoolHash(template),
        [annotations.nodePoolHashVersion]: nodePoolHashVersion,
        ...parts.annotations,
      },
      ...poolOwnerReference(pool),
    },
    spec: {
      ...(taints && { taints }),
      ...(startupTaints && { startupTaints }),
      requirements: parts.requirements.toItems(),
      ...(requests && { resources: { requests: toCanonicalResourceList(requests) } }),
      nodeClassRef,
      expireAfter,
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

/** NodeClaims are garbage-collected with their NodePool; a pool that was never stored has no uid to refer to. (02:L-5) */
function poolOwnerReference({ apiVersion, kind, metadata }: NodePool): Pick<KubeObject["metadata"], "ownerReferences"> {
  const { name = "", uid } = metadata;
  if (uid === undefined) return {};
  return { ownerReferences: [{ apiVersion, kind, name, uid, blockOwnerDeletion: true }] };
}

function toCanonicalResourceList(amounts: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, one]) => [name, one.canonical()]));
}

/** With the remaining instance types and capacity types. (02:L-2) */
function launchRequirements({ requirements, instanceTypes }: PlannedNode, policy: LabelPolicy): Requirements {
  const launchableCapacityTypes = new Set<string>();
  for (const { offerings } of instanceTypes) {
    for (const one of offerings) {
      if (!one.available || !isCompatible(requirements, one.requirements, { allowUndefined: policy.wellKnown }))
        continue;
      const type = offeringCapacityType(one);
      if (type !== undefined) launchableCapacityTypes.add(type);
    }
  }
  const names = Requirement.in(
    labels.instanceType,
    instanceTypes.map(({ name }) => name),
  );
  const named = requirements.add(names).without(labels.hostname);
  return launchableCapacityTypes.size === 0
    ? named
    : named.add(Requirement.in(labels.capacityType, launchableCapacityTypes));
}

/** Labels that neither kubelet nor provider sets on the node. (02:L-4) */
function claimLabels(
  requirements: Requirements,
  { base, policy, random }: { base: Readonly<Record<string, string>>; policy: LabelPolicy; random: Random },
): Readonly<Record<string, string>> {
  const chosen: Record<string, string> = { ...base };
  for (const key of requirements.sortedKeys()) {
    if (policy.wellKnown.has(key) || key === labels.hostname || Object.hasOwn(base, key)) continue;
    const value = requirements.get(key).any(random);
    if (value !== "") chosen[key] = value;
  }
  return chosen;
}
