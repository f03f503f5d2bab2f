import * as z from "zod";
import type { PriceSource } from "../../../core/price-source.ts";
import type { Clock } from "../../../util/clock.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { AwsApi, CallOptions } from "../api/aws-api.ts";
import type { Ec2InstanceTypeInfo } from "../instance-type-info.ts";
import { embeddedSources, type Prices } from "../prices.ts";

export interface LivePricesOptions {
  readonly aws: Pick<AwsApi, "region" | "ec2" | "pricing">;
  readonly clock: Pick<Clock, "now">;
  /** No price list can be reached. */
  readonly isIsolatedVpc: boolean;
}

const spotProducts = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];

/** What the price list has of an instance, for shared and for bare metal ones. (04 §2.6) */
const productQueries = [
  { tenancy: "Shared", productFamily: "Compute Instance" },
  { tenancy: "Dedicated", productFamily: "Compute Instance (bare metal)" },
];

/**
 * The prices of the region: the embedded ones until AWS was asked. Before the first spot prices, spot costs as much as on
 * demand; afterwards a zone without a price has none. (04 §2.6)
 */
export class LivePrices implements Prices {
  readonly #options: LivePricesOptions;
  readonly #onDemand = new Map<string, number>();
  /** By type and zone. */
  readonly #spot = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #live: PriceSource;
  readonly #spotAsOnDemand: PriceSource;
  readonly #embedded: (typeInfo: Ec2InstanceTypeInfo) => PriceSource;
  #revision = 0;

  constructor(options: LivePricesOptions) {
    this.#options = options;
    const { region } = options.aws;
    const date = rfc3339(options.clock.now()).slice(0, 10);
    this.#live = { kind: "live", region };
    this.#spotAsOnDemand = { kind: "estimate", basis: "on-demand", region, date };
    this.#embedded = embeddedSources(region);
  }

  onDemand({ name, usdPerHour }: Ec2InstanceTypeInfo): number | undefined {
    return this.#onDemand.get(name) ?? usdPerHour;
  }

  spot(typeInfo: Ec2InstanceTypeInfo, zone: string): number | undefined {
    return this.#spot.size === 0 ? this.onDemand(typeInfo) : this.#spot.get(`${typeInfo.name}/${zone}`);
  }

  sourceOf(typeInfo: Ec2InstanceTypeInfo, capacityType: "on-demand" | "spot"): PriceSource {
    const isSpot = capacityType === "spot" && this.#spot.size > 0;
    if (isSpot || (capacityType === "on-demand" && this.#onDemand.has(typeInfo.name))) return this.#live;
    return capacityType === "spot" ? this.#spotAsOnDemand : this.#embedded(typeInfo);
  }

  /** Changes whenever a price may have. */
  get revision(): number {
    return this.#revision;
  }

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Both price lists; what one of them fails to say is kept as it was. Throws what went wrong. */
  async refresh(options: CallOptions = {}): Promise<void> {
    const results = await Promise.allSettled([this.#refreshOnDemand(options), this.#refreshSpot(options)]);
    const errors = results.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    if (errors.length > 0) throw new AggregateError(errors, "cannot read all prices");
  }

  async #refreshOnDemand(options: CallOptions): Promise<void> {
    const { aws, isIsolatedVpc } = this.#options;
    if (isIsolatedVpc || aws.region.startsWith("us-gov")) return;
    const lists = await Promise.all(productQueries.map((query) => this.#products(query, options)));
    if (lists.some((list) => list.length === 0)) throw new Error("the price list has no on-demand prices");
    this.#replace(this.#onDemand, lists.flat());
  }

  async #products(
    query: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<readonly (readonly [string, number])[]> {
    const { aws } = this.#options;
    const fields = {
      regionCode: aws.region,
      serviceCode: "AmazonEC2",
      preInstalledSw: "NA",
      operatingSystem: "Linux",
      capacitystatus: "Used",
      marketoption: "OnDemand",
      ...query,
    };
    const Filters = Object.entries(fields).map(([Field, Value]) => ({ Type: "TERM_MATCH" as const, Field, Value }));
    const products = await aws.pricing.getProducts({ ServiceCode: "AmazonEC2", Filters }, options);
    const currency = aws.region.startsWith("cn-") ? "CNY" : "USD";
    return products.map((text) => onDemandPriceIn(text, currency)).filter((price) => price !== undefined);
  }

  async #refreshSpot(options: CallOptions): Promise<void> {
    const { aws, clock } = this.#options;
    const input = { ProductDescriptions: spotProducts, StartTime: new Date(clock.now()) };
    const records = await aws.ec2.describeSpotPriceHistory(input, options);
    const prices = records.flatMap(({ InstanceType, AvailabilityZone, SpotPrice }) => {
      const price = Number(SpotPrice);
      return price > 0 ? [[`${InstanceType}/${AvailabilityZone}`, price] as const] : [];
    });
    if (prices.length === 0) throw new Error("EC2 has no spot prices");
    this.#replace(this.#spot, prices);
  }

  /** Merged over the old ones. */
  #replace(known: Map<string, number>, prices: readonly (readonly [string, number])[]): void {
    const isChanged = prices.filter(([key, price]) => {
      const differs = known.get(key) !== price;
      known.set(key, price);
      return differs;
    });
    if (isChanged.length === 0) return;
    this.#revision++;
    for (const listener of [...this.#listeners]) listener();
  }
}

const product = z.object({
  product: z.object({ attributes: z.object({ instanceType: z.string() }) }),
  terms: z.object({
    OnDemand: z.record(
      z.string(),
      z.object({ priceDimensions: z.record(z.string(), z.object({ pricePerUnit: z.record(z.string(), z.string()) })) }),
    ),
  }),
});

/** The type and its price of one entry of the price list; undefined if there is none. (04 §2.6) */
export function onDemandPriceIn(text: string, currency: string): readonly [string, number] | undefined {
  const parsed = product.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const dimensions = Object.values(parsed.data.terms.OnDemand).flatMap(({ priceDimensions }) =>
    Object.values(priceDimensions),
  );
  const price = dimensions.map(({ pricePerUnit }) => Number(pricePerUnit[currency])).find((one) => one > 0);
  return price === undefined ? undefined : [parsed.data.product.attributes.instanceType, price];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // skipped, as entries without a price are
  }
}
