import { countingOf } from "../scheduling/commit.ts";
import type { Entry, Pass } from "../scheduling/pass-state.ts";
import type { TopologyGroup } from "../scheduling/topology/group.ts";
import type { Variant } from "../scheduling/variants.ts";

/** How many pods a group may already count on a host when one more comes. */
export interface HostRule {
  readonly group: TopologyGroup;
  readonly most: number;
}

/** Pods that can be moved alike: of one class, placed with the same of its wishes. */
export interface Mover {
  readonly variant: Variant;
  readonly request: Float64Array;
  /** A number of its own, such that sums of them are as good as the lists they are of. */
  readonly mark: number;
  /** False: it stays where the plain plan has it. */
  readonly isMovable: boolean;
  /** Some topology other than hosts counts it or binds it: it moves only where that sees no difference. */
  readonly isAnchored: boolean;
  readonly hostRules: readonly HostRule[];
  /** Groups that count it by host. */
  readonly counted: readonly TopologyGroup[];
}

/** The movers of one pass. */
export class Movers {
  readonly #pass: Pass;
  readonly #known = new Map<Variant, Mover>();

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  byMover(entries: readonly Entry[]): ReadonlyMap<Mover, readonly Entry[]> {
    const found = new Map<Mover, Entry[]>();
    for (const entry of entries) {
      const mover = this.#of(entry);
      const alike = found.get(mover);
      if (alike === undefined) found.set(mover, [entry]);
      else alike.push(entry);
    }
    return found;
  }

  /** Of a pod on a planned node. */
  #of(entry: Entry): Mover {
    const { placedAs: variant } = entry;
    if (variant === undefined)
      throw new Error(`pod ${entry.pod.metadata.name} is on a planned node and never joined it`);
    const known = this.#known.get(variant) ?? this.#make(entry, variant);
    this.#known.set(variant, known);
    return known;
  }

  #make({ podClass }: Entry, variant: Variant): Mover {
    const { groups, inverse } = countingOf(this.#pass, podClass);
    const counting = [...groups, ...inverse];
    const counted = counting.filter((group) => group.isHostname);
    const isWithOthers =
      counted.some(isTogether) || variant.hostRules.some(({ group }) => isTogether(group)) || variant.hostname;
    return {
      variant,
      request: this.#pass.requests.get(podClass) as Float64Array,
      mark: Math.imul(this.#known.size + 1, 0x9e3779b1) >>> 0,
      // Which of its volumes' alternatives was taken is not remembered; ports and company on a host are not tracked.
      isMovable: !isWithOthers && !podClass.hasHostPorts && podClass.volumeAlternatives.length === 0,
      isAnchored: variant.domainRules.length > 0 || counting.length > counted.length,
      hostRules: variant.hostRules.map(({ group, self }) => ({ group, most: mostBefore(group, self) })),
      counted,
    };
  }
}

function isTogether(group: TopologyGroup): boolean {
  return group.spec.kind === "affinity";
}

/** 02. */
function mostBefore({ spec: { kind, maxSkew } }: TopologyGroup, self: boolean): number {
  return kind === "spread" ? maxSkew - (self ? 1 : 0) : 0;
}
