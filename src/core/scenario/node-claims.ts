import { nodePoolHashVersion } from "../../api/hash/drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { annotations, groups, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Random } from "../../util/random.ts";
import { isCompatible } from "../compatibility.ts";
import { capacityType, type InstanceType } from "../instance-type.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import { templateOf } from "../scheduling/template.ts";

export interface ClaimWorld {
  readonly pool: NodePool;
  readonly policy: LabelPolicy;
  /** Draws values of labels that may have several. */
  readonly random: Random;
  /** Types overlays changed. */
  readonly overlaid: { readonly priced: ReadonlySet<InstanceType>; readonly enlarged: ReadonlySet<InstanceType> };
}

/** The NodeClaim a planned node would be asked for with. (02:L-2 to L-5) */
export function nodeClaimOf(node: PlannedNode, { pool, policy, random, overlaid }: ClaimWorld): KubeObject {
  const { template } = pool.spec;
  const { taints, startupTaints, nodeClassRef, expireAfter, terminationGracePeriod } = template.spec;
  const requirements = launchRequirements(node, policy);
  const has = (types: ReadonlySet<InstanceType>): boolean => node.instanceTypes.some((type) => types.has(type));
  return {
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodeClaim",
    metadata: {
      generateName: `${pool.metadata.name ?? ""}-`,
      labels: claimLabels(node.requirements, { base: templateOf(pool, policy).labels, policy, random }),
      annotations: {
        ...template.metadata?.annotations,
        [annotations.nodePoolHash]: nodePoolHash(template),
        [annotations.nodePoolHashVersion]: nodePoolHashVersion,
        [annotations.minValuesRelaxed]: String(node.minValuesRelaxed),
        ...(has(overlaid.priced) && { [annotations.priceOverlayApplied]: "true" }),
        ...(has(overlaid.enlarged) && { [annotations.capacityOverlayApplied]: "true" }),
      },
    },
    spec: {
      ...(taints && { taints }),
      ...(startupTaints && { startupTaints }),
      requirements: requirements.toItems(),
      resources: {
        requests: Object.fromEntries(Object.entries(node.requests).map(([name, one]) => [name, one.canonical()])),
      },
      nodeClassRef,
      expireAfter,
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

/** With the types and capacity types that are left. (02:L-2) */
function launchRequirements({ requirements, instanceTypes }: PlannedNode, policy: LabelPolicy): Requirements {
  const buyable = new Set<string>();
  for (const { offerings } of instanceTypes) {
    for (const one of offerings) {
      if (!one.available || !isCompatible(requirements, one.requirements, { allowUndefined: policy.wellKnown }))
        continue;
      const type = capacityType(one);
      if (type !== undefined) buyable.add(type);
    }
  }
  const names = Requirement.in(
    labels.instanceType,
    instanceTypes.map(({ name }) => name),
  );
  const named = requirements.add(names).without(labels.hostname);
  return buyable.size === 0 ? named : named.add(Requirement.in(labels.capacityType, buyable));
}

/** Labels nobody else will put on the node. (02:L-4) */
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
