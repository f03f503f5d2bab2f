import { isRecord } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import type { BookPrice } from "../../core/price-book.ts";
import { onDemandPriceIn } from "../../providers/aws/instance-types/live-prices.ts";
import { regionOfPlace } from "../../providers/aws/region-names.ts";
import type { ParsedBook } from "./book-rows.ts";

/** Reads what `aws pricing get-products` or `aws ec2 describe-spot-price-history` printed; undefined if it is neither. */
export function parseAwsPrices(value: unknown, file: string): ParsedBook | undefined {
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value["PriceList"])) return parsePriceList(value["PriceList"], file);
  if (Array.isArray(value["SpotPriceHistory"])) return parseSpotHistory(value["SpotPriceHistory"], file);
  return undefined;
}

/** What a Linux node costs: other systems, licences and tenancies are left out. (04 §2.6) */
const wantedAttributes: Readonly<Record<string, readonly string[]>> = {
  operatingSystem: ["Linux"],
  preInstalledSw: ["NA"],
  capacitystatus: ["Used"],
  marketoption: ["OnDemand"],
  tenancy: ["Shared"],
};

function parsePriceList(products: readonly unknown[], file: string): ParsedBook {
  const prices = products.flatMap((product) => listedPrice(product) ?? []);
  const message = "has no price of a Linux instance on demand in USD, shared tenancy";
  const problem: Problem = { code: "too-few", path: ["PriceList"], message, expected: getProducts };
  return {
    prices,
    discounts: [],
    problems: prices.length === 0 ? [{ ...problem, message: `${file} ${message}` }] : [],
  };
}

const getProducts =
  "aws pricing get-products --service-code AmazonEC2 --filters Type=TERM_MATCH,Field=regionCode,Value=us-east-1 Type=TERM_MATCH,Field=operatingSystem,Value=Linux";

/** Each product is JSON within JSON, as the API has it. */
function listedPrice(product: unknown): BookPrice | undefined {
  const text = typeof product === "string" ? product : JSON.stringify(product);
  const [type, price] = onDemandPriceIn(text, "USD") ?? [];
  if (type === undefined || price === undefined) return undefined;
  const { product: about, publicationDate } = JSON.parse(text) as PriceListItem;
  const { attributes, productFamily } = about;
  if (!isLinuxShared(attributes, productFamily)) return undefined;
  const region = attributes["regionCode"];
  const source = { kind: "list", region: region ?? "an unknown region", date: dayOf(publicationDate) } as const;
  return { type, capacityType: "on-demand", price, region, source };
}

interface PriceListItem {
  readonly product: {
    readonly attributes: Readonly<Record<string, string | undefined>>;
    readonly productFamily?: string;
  };
  readonly publicationDate?: unknown;
}

/** Bare metal is always listed as dedicated. */
function isLinuxShared(attributes: PriceListItem["product"]["attributes"], productFamily = ""): boolean {
  const isMetal = productFamily.includes("bare metal");
  return Object.entries(wantedAttributes).every(([name, wanted]) => {
    const value = attributes[name];
    return value === undefined || wanted.includes(value) || (name === "tenancy" && isMetal && value === "Dedicated");
  });
}

const spotProducts = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];

/** The newest price of every type and zone. */
function parseSpotHistory(records: readonly unknown[], file: string): ParsedBook {
  const newest = new Map<string, { readonly time: number; readonly price: BookPrice }>();
  for (const record of records) {
    const found = spotPrice(record, file);
    const key = `${found?.price.type} ${found?.price.zone}`;
    if (found !== undefined && (newest.get(key)?.time ?? Number.NEGATIVE_INFINITY) <= found.time)
      newest.set(key, found);
  }
  const prices = [...newest.values()].map(({ price }) => price);
  const problem: Problem = {
    code: "too-few",
    path: ["SpotPriceHistory"],
    message: `${file} has no spot price of Linux`,
    expected: "aws ec2 describe-spot-price-history --product-descriptions Linux/UNIX --start-time $(date -u +%FT%TZ)",
  };
  return { prices, discounts: [], problems: prices.length === 0 ? [problem] : [] };
}

function spotPrice(record: unknown, file: string) {
  if (!isRecord(record)) return undefined;
  const { InstanceType: type, AvailabilityZone: zone, ProductDescription: product, SpotPrice, Timestamp } = record;
  const price = Number(SpotPrice);
  if (typeof type !== "string" || typeof zone !== "string" || !(price > 0)) return undefined;
  if (product !== undefined && !spotProducts.includes(String(product))) return undefined;
  const source = { kind: "price-book", file, ...(Timestamp !== undefined && { date: dayOf(Timestamp) }) } as const;
  const found: BookPrice = { type, zone, capacityType: "spot", price, region: regionOfPlace(zone), source };
  return { time: Date.parse(String(Timestamp)) || 0, price: found };
}

function dayOf(time: unknown): string {
  const ms = Date.parse(String(time));
  return Number.isNaN(ms) ? "an unknown day" : new Date(ms).toISOString().slice(0, 10);
}
