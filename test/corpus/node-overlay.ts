import { type Case, casesFor } from "./case.ts";
import { conditionCases } from "./conditions.ts";
import { quantityCases } from "./patterns.ts";
import { requirementCases } from "./requirements.ts";

const make = casesFor("NodeOverlay");
const { accept, refuse, acceptUpdate, acceptEach, refuseEach, refuseTypes } = make;

/** Refused as a price and as an adjustment alike. */
const neither = [
  "",
  "+",
  "-",
  "%",
  "+%",
  "a",
  "1a",
  "+1a",
  "$5",
  "1,5",
  "1.2.3",
  "+1.2.3",
  "++1",
  "--1",
  "+-1",
  "1+",
  "1 ",
  " 1",
  "+ 1",
  "+1 %",
  "+1%%",
  "%1",
  "-101%",
  "-100.1%",
  "-100.0%",
  "-.5%",
  "+5.",
  "5.",
  "+5.%",
  "1e3",
  "+1e3",
  "NaN",
  "Infinity",
  "٣",
  "1\n",
];

const priceCases: readonly Case[] = [
  ...acceptEach("01 §0.2 PRICE", "spec.price", ["0", "1", "43", "0.1", "34.43", "007", "100000000.000001"]),
  ...refuseEach("01 §0.2 PRICE", "spec.price", [...neither, "+1", "-1", "1%", "+1%", ".5", 1, 0.5]),
  ...acceptEach("01 §0.2 PRICE_ADJ", "spec.priceAdjustment", [
    ...["+1%", "-1%", "-100%", "+100%", "+100.102%", "+298%", "-99.99%", "+.5%", "-0%"],
    ...["+43", "-43", "+34.43", "-34.43", "-129", "+.5", "-.5", "+0", "-100"],
  ]),
  ...refuseEach("01 §0.2 PRICE_ADJ", "spec.priceAdjustment", [...neither, "1", "43", "5%", "100.5", 1, -5]),
  refuse("01 §1.4 price and priceAdjustment", { "spec.price": "1", "spec.priceAdjustment": "+1" }),
  accept("01 §1.4 price and null for priceAdjustment", { "spec.price": "1", "spec.priceAdjustment": null }),
  acceptUpdate("01 §1.4 from price to priceAdjustment", { "spec.price": "1" }, { "spec.priceAdjustment": "+1" }),
];

const capacityCases: readonly Case[] = [
  ...quantityCases(make, { rule: "01 §0.2 QTY", path: "spec.capacity", key: "example.com/custom" }),
  ...["cpu", "memory", "ephemeral-storage", "pods"].flatMap((resource) => [
    refuse(`01 §1.4 capacity of ${resource}`, { "spec.capacity": { [resource]: "1" } }),
    refuse(`01 §1.4 capacity of ${resource} among others`, {
      "spec.capacity": { "example.com/custom": "1", [resource]: "1" },
    }),
  ]),
  ...["nvidia.com/gpu", "amd.com/gpu", "smarter-devices/fuse"].map((resource) =>
    accept(`01 §3.5 capacity of ${resource}`, { "spec.capacity": { [resource]: 1 } }),
  ),
  accept("01 §3.5 capacity of a resource the provider knows (fails at run time)", {
    "spec.capacity": { "aws.amazon.com/neuron": 1 },
  }),
];

/** Every bound and rule of an overlay. (01 §1.4, §8.2) */
export const nodeOverlayCases: readonly Case[] = [
  accept("01 §1.4 the smallest overlay", {}),
  accept("01 §1.4 an overlay of price and capacity", {
    "spec.price": "0.5",
    "spec.capacity": { "example.com/a": 1 },
    "spec.weight": 10,
  }),
  refuse("01 §1.4 no spec", { spec: undefined }),
  ...refuseTypes("01 §1.4", { spec: [] }),
  ...requirementCases({ kind: "NodeOverlay", path: "spec.requirements", place: "overlay" }),
  ...priceCases,
  ...capacityCases,
  ...acceptEach("01 §1.4 weight", "spec.weight", [1, 10000]),
  ...refuseEach("01 §1.4 weight", "spec.weight", [0, 10001, -1, 1.5, "1", 2 ** 31]),
  ...conditionCases("NodeOverlay", { keyed: true }),
];
