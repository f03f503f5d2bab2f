import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { InstanceType } from "../instance-type.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** What the simulations of all nodes depend on alike. */
export interface SharedInputs {
  /** Pools without their status, and the settings of simulations. */
  readonly text: string;
  /** By pool. Providers return the same objects until something changes. */
  readonly instanceTypes: readonly (readonly InstanceType[])[];
  readonly daemons: readonly Pod[];
  /** Limits or reserved capacity: which nodes there are, and which are planned, decides what can still be launched. */
  readonly isCapacityShared: boolean;
  /** Pods that are placed before all simulations, where that takes from capacity that is shared. */
  readonly ownPods: readonly Pod[];
}

export function sharedInputs(snapshot: DisruptionSnapshot, ownPods: readonly Pod[]): SharedInputs {
  const { pools, usablePools, cluster, policy, labelPolicy, seed, mode, allowsSpotToSpot, allowsMultiReplacement } =
    snapshot;
  const isCapacityShared = usablePools.some(
    ({ nodePool, instanceTypes }) =>
      Object.keys(nodePool.spec.limits ?? {}).length > 0 || (policy.reservedCapacity && hasReserved(instanceTypes)),
  );
  return {
    text: canonicalJson({
      pools: [...pools.values()].map(({ nodePool }) => poolContent(nodePool)),
      usable: usablePools.map(({ nodePool }) => nodePool.metadata.name),
      settings: {
        policy,
        seed,
        mode,
        allowsSpotToSpot,
        allowsMultiReplacement,
        wellKnown: [...labelPolicy.wellKnown].sort(),
      },
    }),
    instanceTypes: [...usablePools.map((one) => one.instanceTypes), ...[...pools.values()].map(typesOf)],
    daemons: cluster.daemons,
    isCapacityShared,
    ownPods: isCapacityShared ? ownPods : [],
  };
}

function typesOf({ instanceTypes }: { readonly instanceTypes: ReadonlyMap<string, InstanceType> }) {
  return [...instanceTypes.values()];
}

/** A pool's status says how many nodes it has, which simulations read off the nodes. */
function poolContent({ metadata, spec }: NodePool): object {
  return { name: metadata.name, annotations: metadata.annotations, labels: metadata.labels, spec };
}

function hasReserved(types: readonly InstanceType[]): boolean {
  return types.some(({ offerings }) =>
    offerings.some(({ requirements }) => requirements.get(labels.capacityType).has("reserved")),
  );
}

export function areSameInputs(one: SharedInputs, other: SharedInputs): boolean {
  return (
    one.text === other.text &&
    areSame(one.daemons, other.daemons) &&
    areSame(one.ownPods, other.ownPods) &&
    one.instanceTypes.length === other.instanceTypes.length &&
    one.instanceTypes.every((types, at) => areSame(types, other.instanceTypes[at] ?? []))
  );
}

function areSame<T>(some: readonly T[], others: readonly T[]): boolean {
  return some === others || (some.length === others.length && some.every((one, at) => one === others[at]));
}
