import { Quantity } from "../../util/quantity.ts";
import { markedPrice, priceSourceLines, priceSourcesOf } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, type TextColumn } from "../text-table.ts";
import { stringify } from "../yaml.ts";
import { extendedResources, type ListedInstanceType } from "./list-instance-types.ts";

const instanceTypesOutputs = ["table", "wide", "json", "yaml", "name"] as const;
export type InstanceTypesOutput = (typeof instanceTypesOutputs)[number];

export function renderInstanceTypes(listed: readonly ListedInstanceType[], output: InstanceTypesOutput): string {
  if (output === "json") return `${JSON.stringify(listed, undefined, 2)}\n`;
  if (output === "yaml") return stringify(listed);
  if (output === "name") return listed.map(({ name }) => `${name}\n`).join("");
  const capacityTypes = [...new Set(listed.flatMap(({ prices }) => Object.keys(prices)))].sort();
  const columns: TextColumn[] = [
    { title: "TYPE" },
    { title: "ARCH" },
    { title: "CPU", align: "right" },
    { title: "MEMORY", align: "right" },
    { title: "PODS", align: "right" },
    ...capacityTypes.map((name): TextColumn => ({ title: `${name.toUpperCase()} $/h`, align: "right" })),
    { title: "ZONES" },
    { title: "ALSO" },
    ...(output === "wide" ? [{ title: "CAPACITY" }, { title: "LABELS" }] : []),
  ];
  const rows = listed.map((type) => [
    ...[type.name, type.arch, type.allocatable["cpu"] ?? "", memoryText(type.allocatable["memory"])],
    type.allocatable["pods"] ?? "",
    ...capacityTypes.map((name) => priceText(type, name)),
    type.zones.join(","),
    extendedResources(type),
    ...(output === "wide" ? [pairs(type.capacity), pairs(type.labels)] : []),
  ]);
  const table = listed.length === 0 ? [] : formatTable(columns, rows);
  return joinSections([
    table,
    [
      `${countText(listed.length, "instance type")}; cpu, memory and pods are what pods can use`,
      ...sourceLines(listed),
    ],
  ]);
}

function priceText({ prices, priceSources }: ListedInstanceType, capacityType: string): string {
  const price = prices[capacityType];
  return price === undefined ? "" : markedPrice(price, priceSources[capacityType]);
}

/** Every source of the prices in the list. */
function sourceLines(listed: readonly ListedInstanceType[]): readonly string[] {
  const priced = listed.flatMap(({ prices, priceSources }) =>
    Object.entries(prices).map(([name, price]) => ({ price, priceSource: priceSources[name] })),
  );
  return priceSourceLines(priceSourcesOf(priced), { noun: "price" });
}

function memoryText(text = "0"): string {
  return `${(Quantity.parse(text).toNumber() / 2 ** 30).toFixed(1)}Gi`;
}

function pairs(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
