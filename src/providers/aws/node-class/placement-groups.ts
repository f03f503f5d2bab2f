import type { DescribePlacementGroupsCommandInput, PlacementStrategy } from "@aws-sdk/client-ec2";
import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { filter } from "./ec2-queries.ts";
import type { Ec2NodeClassSpec } from "./node-class-object.ts";

export interface ResolvedPlacementGroup {
  readonly id: string;
  readonly name: string;
  readonly strategy: PlacementStrategy;
  /** Of groups with partitions. */
  readonly partitionCount?: number | undefined;
}

export type PlacementGroupResult =
  | { readonly kind: "found"; readonly group: ResolvedPlacementGroup }
  | { readonly kind: "none" }
  /** EC2 could not be asked. What is remembered of the group is still used. */
  | { readonly kind: "error"; readonly error: unknown; readonly remembered: ResolvedPlacementGroup | undefined };

type Selector = NonNullable<Ec2NodeClassSpec["placementGroupSelector"]>;

const lookUpMs = 60_000;
const rememberMs = 24 * 60 * 60_000;

/** Finds the placement group of a class. (04 §2.8) */
export class PlacementGroups {
  readonly #ec2: Ec2Api;
  readonly #lookedUp: ExpiringMap<true>;
  readonly #groups: ExpiringMap<ResolvedPlacementGroup>;

  constructor({ ec2, clock }: { readonly ec2: Ec2Api; readonly clock: Clock }) {
    this.#ec2 = ec2;
    this.#lookedUp = new ExpiringMap(clock);
    this.#groups = new ExpiringMap(clock);
  }

  async resolve(selector: Selector): Promise<PlacementGroupResult> {
    const key = selectorKey(selector);
    const known = this.#groups.get(key);
    if (this.#lookedUp.get(key)) return known === undefined ? { kind: "none" } : { kind: "found", group: known };
    try {
      const group = await this.#read(selector);
      this.#lookedUp.set(key, true, lookUpMs);
      if (group === undefined) this.#groups.delete(key);
      else this.#groups.set(key, group, rememberMs);
      return group === undefined ? { kind: "none" } : { kind: "found", group };
    } catch (error) {
      return { kind: "error", error, remembered: known };
    }
  }

  /** What is known of the group, without a call: offerings and launches need it at once. */
  remembered(selector: Selector | undefined): ResolvedPlacementGroup | undefined {
    return selector === undefined ? undefined : this.#groups.get(selectorKey(selector));
  }

  /**
   * Makes sure that a group that is selected is remembered. A process that has just started knows none, and without its
   * group an instance would be launched outside of it, or seem to have drifted.
   */
  async ensureRemembered(selector: Selector | undefined): Promise<void> {
    if (selector === undefined || this.remembered(selector) !== undefined) return;
    const result = await this.resolve(selector);
    if (result.kind === "error") throw result.error;
  }

  async #read(selector: Selector): Promise<ResolvedPlacementGroup | undefined> {
    const query: DescribePlacementGroupsCommandInput = {
      Filters: [filter("state", "available")],
      ...(selector.id === undefined ? { GroupNames: [selector.name ?? ""] } : { GroupIds: [selector.id] }),
    };
    const [group] = await this.#existing(query);
    if (group?.GroupId === undefined || group.Strategy === undefined) return undefined;
    return {
      id: group.GroupId,
      name: group.GroupName ?? "",
      strategy: group.Strategy,
      ...(group.PartitionCount !== undefined && { partitionCount: group.PartitionCount }),
    };
  }

  /** EC2 answers an unknown name or id with an error; that is an answer. */
  async #existing(query: DescribePlacementGroupsCommandInput) {
    try {
      return await this.#ec2.describePlacementGroups(query);
    } catch (error) {
      if (isAwsError(error, "InvalidPlacementGroup.Unknown", "InvalidPlacementGroupId.NotFound")) return [];
      throw error;
    }
  }
}

function selectorKey({ id, name }: Selector): string {
  return id === undefined ? `name/${name}` : `id/${id}`;
}
