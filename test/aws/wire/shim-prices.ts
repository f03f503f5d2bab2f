import { type AwsRequest, isParams, listOf, textOf, textsOf } from "./aws-request.ts";
import { ec2Answer } from "./ec2-xml.ts";
import type { ShimAnswer } from "./shim.ts";
import type { ShimTables } from "./shim-tables.ts";

/** Products of the price list: shared tenancy for plain types, dedicated for bare metal. Nothing is known without prices. */
export function productsAnswer({ params }: AwsRequest, { onDemandPrices }: ShimTables): ShimAnswer {
  const filters = new Map(
    listOf(params["Filters"]).map((filter) => [textOf(filter, "Field") ?? "", textOf(filter, "Value") ?? ""]),
  );
  const isMetal = filters.get("tenancy") === "Dedicated";
  const currency = filters.get("regionCode")?.startsWith("cn-") ? "CNY" : "USD";
  const PriceList = [...onDemandPrices]
    .filter(([type]) => type.includes("metal") === isMetal)
    .map(([instanceType, price]) =>
      JSON.stringify({
        product: { attributes: { instanceType } },
        terms: { OnDemand: { a: { priceDimensions: { b: { pricePerUnit: { [currency]: String(price) } } } } } },
      }),
    );
  const headers = { "content-type": "application/x-amz-json-1.1" };
  return { status: 200, body: JSON.stringify({ PriceList, FormatVersion: "aws_v1" }), headers };
}

/** The prices of the table; without one, moto's own. */
export function spotPricesAnswer({ params }: AwsRequest, { spotPrices }: ShimTables): ShimAnswer | undefined {
  if (spotPrices.size === 0) return undefined;
  const types = new Set(textsOf(isParams(params["InstanceType"]) ? params["InstanceType"] : undefined));
  const spotPriceHistorySet = [...spotPrices]
    .map(([key, price]) => ({ key: key.split(" "), price }))
    .filter(({ key: [type = ""] }) => types.size === 0 || types.has(type))
    .map(({ key: [instanceType = "", availabilityZone = ""], price }) => ({
      availabilityZone,
      instanceType,
      productDescription: "Linux/UNIX",
      spotPrice: price.toFixed(6),
      timestamp: "2026-01-01T00:00:00.000Z",
    }));
  return { status: 200, body: ec2Answer("DescribeSpotPriceHistory", { spotPriceHistorySet }) };
}
