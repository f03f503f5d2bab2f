import type { Subnet } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { CachedCalls } from "../cached-calls.ts";
import { filter, tagFilters, termValues, uniqueBy } from "./ec2-queries.ts";
import { type Ec2NodeClassSpec, type Ec2NodeClassStatus, nodeClassRevision } from "./node-class-object.ts";
import type { SubnetAddresses } from "./subnet-addresses.ts";

export interface SubnetsOptions {
  readonly ec2: Ec2Api;
  readonly clock: Clock;
  readonly refreshMs: number;
  /** Told what EC2 says about free addresses. */
  readonly addresses: SubnetAddresses;
}

/** Finds the subnets of a class. (04 §1.5) */
export class Subnets {
  readonly #ec2: Ec2Api;
  readonly #addresses: SubnetAddresses;
  readonly #cache: CachedCalls<readonly Subnet[]>;

  constructor({ ec2, clock, refreshMs, addresses }: SubnetsOptions) {
    this.#ec2 = ec2;
    this.#addresses = addresses;
    this.#cache = new CachedCalls(clock, { forMs: refreshMs });
  }

  /** As the status lists them: most free addresses first, then by id. (04 §1.3) */
  async resolve(nodeClass: Ec2NodeClass): Promise<NonNullable<Ec2NodeClassStatus["subnets"]>> {
    const found = await this.#cache.get(nodeClassRevision(nodeClass), () => this.#read(nodeClass));
    return [...found]
      .sort((a, b) => freeAddresses(b) - freeAddresses(a) || ((a.SubnetId ?? "") < (b.SubnetId ?? "") ? -1 : 1))
      .map(({ SubnetId: id = "", AvailabilityZone: zone = "", AvailabilityZoneId: zoneID }) => ({
        id,
        zone,
        ...(zoneID && { zoneID }),
      }));
  }

  async #read({ spec }: Ec2NodeClass): Promise<readonly Subnet[]> {
    const queries = subnetQueries(spec?.subnetSelectorTerms ?? []);
    const answers = await Promise.all(queries.map((Filters) => this.#ec2.describeSubnets({ Filters })));
    const found = uniqueBy(answers.flat(), ({ SubnetId }) => SubnetId);
    this.#addresses.update(found);
    return found;
  }
}

function freeAddresses({ AvailableIpAddressCount = 0 }: Subnet): number {
  return AvailableIpAddressCount;
}

/** One query for all ids, one for each other term: an id wins over tags. (04 §1.2, §1.5) */
function subnetQueries(terms: Ec2NodeClassSpec["subnetSelectorTerms"]) {
  const ids = termValues(terms, ({ id }) => id);
  const byTags = terms.filter(({ id }) => id === undefined).map(({ tags }) => tagFilters(tags));
  return [...(ids.length > 0 ? [[filter("subnet-id", ...ids)]] : []), ...byTags];
}
