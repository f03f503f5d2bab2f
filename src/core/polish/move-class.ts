import { countingGroupsOf } from "../scheduling/commit.ts";
import type { Pass, QueuedPod } from "../scheduling/pass-state.ts";
import type { TopologyGroup } from "../scheduling/topology/topology-group.ts";
import type { Variant } from "../scheduling/variants.ts";

/** How many pods a group may count on a host for one more to be allowed. */
interface HostCountRule {
  readonly group: TopologyGroup;
  readonly maxCount: number;
}

/** Pods that can be moved alike: of one pod class, placed with the same variant. */
export interface MoveClass {
  readonly variant: Variant;
  readonly request: Float64Array;
  /** The sum of hashes stands for a multiset of pods. */
  readonly hash: number;
  /** False: its pods stay where the plain plan placed them. */
  readonly isMovable: boolean;
  /** A topology group other than by host counts or restricts it: it moves only within one topology signature. */
  readonly isTopologyBound: boolean;
  readonly hostRules: readonly HostCountRule[];
  /** Groups that count its pods by host. */
  readonly countingGroups: readonly TopologyGroup[];
}

/** Some pods of one move class. */
export interface PodBatch {
  readonly moveClass: MoveClass;
  readonly count: number;
}

/** The move classes of one pass. */
export class MoveClasses {
  readonly #pass: Pass;
  readonly #known = new Map<Variant, MoveClass>();

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  groupByMoveClass(queuedPods: readonly QueuedPod[]): ReadonlyMap<MoveClass, readonly QueuedPod[]> {
    const found = new Map<MoveClass, QueuedPod[]>();
    for (const queuedPod of queuedPods) {
      const moveClass = this.#of(queuedPod);
      const group = found.get(moveClass);
      if (group === undefined) found.set(moveClass, [queuedPod]);
      else group.push(queuedPod);
    }
    return found;
  }

  #of(queuedPod: QueuedPod): MoveClass {
    const { placedVariant: variant } = queuedPod;
    if (variant === undefined)
      throw new Error(`pod ${queuedPod.pod.metadata.name} is on a planned node without a placed variant`);
    const known = this.#known.get(variant) ?? this.#make(queuedPod, variant);
    this.#known.set(variant, known);
    return known;
  }

  #make({ podClass }: QueuedPod, variant: Variant): MoveClass {
    const { groups, inverseGroups } = countingGroupsOf(this.#pass, podClass);
    const allCountingGroups = [...groups, ...inverseGroups];
    const countingGroups = allCountingGroups.filter((group) => group.isHostname);
    const isBoundToHost =
      countingGroups.some(isAffinity) || variant.hostRules.some(({ group }) => isAffinity(group)) || variant.hostname;
    return {
      variant,
      request: podClass.requestRow,
      hash: Math.imul(this.#known.size + 1, 0x9e3779b1) >>> 0,
      // The volume alternative that was taken is not recorded; host ports and host affinity are not tracked here.
      isMovable: !isBoundToHost && !podClass.hasHostPorts && podClass.volumeAlternatives.length === 0,
      isTopologyBound: variant.domainRules.length > 0 || allCountingGroups.length > countingGroups.length,
      hostRules: variant.hostRules.map(({ group, selectsSelf }) => ({
        group,
        maxCount: maxCountBefore(group, selectsSelf),
      })),
      countingGroups,
    };
  }
}

function isAffinity(group: TopologyGroup): boolean {
  return group.spec.kind === "affinity";
}

/** How many pods the group may count on a host for one more to be allowed. (02) */
function maxCountBefore({ spec: { kind, maxSkew } }: TopologyGroup, selectsSelf: boolean): number {
  return kind === "spread" ? maxSkew - (selectsSelf ? 1 : 0) : 0;
}
