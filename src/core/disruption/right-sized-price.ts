import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { isCompatible } from "../compatibility.ts";
import { offeringGroups, offeringZone } from "../instance-type.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import type { Requirements } from "../requirements.ts";
import { mergeResources, type Resources, resourcesFit } from "../resources.ts";
import { nodeClaimTemplateOf } from "../scheduling/node-claim-template.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";
import type { DisruptionPool, DisruptionSnapshot } from "./snapshot.ts";

/** A node that could be launched. */
interface PricedSize {
  readonly price: number;
  readonly zone: string | undefined;
  readonly allocatable: Resources;
}

/**
 * What nodes would cost if each had the cheapest type of its pool that has room for its pods. It says what is left to
 * save once a command is carried out, as one new node can take the place of a node and two cannot. It is an estimate: of
 * their pods it reads the requests alone.
 */
export class RightSizedPrices {
  readonly #snapshot: DisruptionSnapshot;
  readonly #candidates: ReadonlyMap<string, DisruptionCandidate>;
  readonly #reader = new QuantityReader();
  readonly #requests = new Map<Pod, Resources>();
  /** Of nodes as they are. */
  readonly #prices = new Map<DisruptionCandidate, number>();
  readonly #sizes = new Map<DisruptionPool, readonly PricedSize[]>();

  /** Other nodes than these stay as they are. */
  constructor(candidates: readonly DisruptionCandidate[], snapshot: DisruptionSnapshot) {
    this.#snapshot = snapshot;
    this.#candidates = new Map(candidates.map((one) => [one.name, one]));
  }

  /** By how much a command makes the nodes it touches cheaper, with each of them at the size of its pods before and after. */
  gainOf({ candidates, replacements, placements }: DisruptionCommand): number {
    const before = candidates.reduce((sum, one) => sum + this.#priceNow(one), 0);
    const added = placements.reduce((sum, { node, pods }) => {
      const candidate = this.#candidates.get(node);
      return candidate === undefined ? sum : sum + this.#priceOf(candidate, pods) - this.#priceNow(candidate);
    }, 0);
    return before - added - replacements.reduce((sum, { price }) => sum + price, 0);
  }

  #priceNow(candidate: DisruptionCandidate): number {
    const known = this.#prices.get(candidate) ?? this.#priceOf(candidate, []);
    this.#prices.set(candidate, known);
    return known;
  }

  /** Of a node that gets more pods. */
  #priceOf(candidate: DisruptionCandidate, more: readonly Pod[]): number {
    const { price, capacityType, stateNode, pool } = candidate;
    // A single spot node is not replaced by another one. (03:D-47)
    if (capacityType === "spot" && !this.#snapshot.allowsSpotToSpot) return price;
    const zone = stateNode.existing.labels[labels.zone];
    const needed = mergeResources(stateNode.usage.podRequests, ...more.map((pod) => this.#requestsOf(pod)));
    const size = this.#sizesOf(pool).find(
      (one) => one.price >= price || (one.zone === zone && resourcesFit(needed, one.allocatable)),
    );
    return Math.min(price, size?.price ?? price);
  }

  /** The same pods are part of many commands. */
  #requestsOf(pod: Pod): Resources {
    const known = this.#requests.get(pod) ?? podRequests(pod, this.#reader);
    this.#requests.set(pod, known);
    return known;
  }

  /** The cheapest first. */
  #sizesOf(pool: DisruptionPool): readonly PricedSize[] {
    const known = this.#sizes.get(pool);
    if (known !== undefined) return known;
    const { requirements } = nodeClaimTemplateOf(pool.nodePool, this.#snapshot.labelPolicy);
    const sizes = [...pool.instanceTypes.values()]
      .filter((type) => this.#allows(requirements, type.requirements))
      .flatMap((type) =>
        offeringGroups(type).flatMap(({ allocatable, offerings }) =>
          offerings
            .filter((one) => one.available && this.#allows(requirements, one.requirements))
            .map((one): PricedSize => ({ price: one.price, zone: offeringZone(one), allocatable })),
        ),
      )
      .sort((a, b) => a.price - b.price);
    this.#sizes.set(pool, sizes);
    return sizes;
  }

  #allows(requirements: Requirements, own: Requirements): boolean {
    return isCompatible(requirements, own, { allowUndefined: this.#snapshot.labelPolicy.wellKnown });
  }
}
