import { type Case, casesFor } from "./case.ts";
import { labelKeyCases } from "./label-keys.ts";
import { nodeClassRefCases } from "./node-class-ref.ts";
import { durationCases } from "./patterns.ts";
import { requirementCases } from "./requirements.ts";
import { taintCases } from "./taints.ts";

const make = casesFor("NodePool");
const { accept, refuse, refuseUpdate, acceptUpdate, acceptEach, refuseEach, refuseTypes } = make;

const labels = "spec.template.metadata.labels";
const annotations = "spec.template.metadata.annotations";
const ref = "spec.template.spec.nodeClassRef";
const expireAfter = "spec.template.spec.expireAfter";
const gracePeriod = "spec.template.spec.terminationGracePeriod";

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`label-${index}`, "x"] as const));
}

const labelCases: readonly Case[] = [
  ...labelKeyCases(make, { place: "label", put: (key) => ({ [`${labels}["${key}"]`]: "x" }) }),
  accept("01 §9.5 a label key with spaces (fails at run time)", { [labels]: { "spaces are not allowed": "x" } }),
  accept("01 §9.5 an empty label key (fails at run time)", { [labels]: { "": "x" } }),
  accept("01 §9.5 a label key with an over-long prefix (fails at run time)", {
    [labels]: { [`${"a".repeat(254)}/test`]: "x" },
  }),
  accept("01 §9.5 a label key with an over-long name (fails at run time)", {
    [labels]: { [`test.com/${"a".repeat(64)}`]: "x" },
  }),
  ...acceptEach("01 §0.2 LV label value", `${labels}.team`, ["", "a", "A-1_b.c", "a".repeat(63)]),
  ...refuseEach("01 §0.2 LV label value", `${labels}.team`, [
    "/",
    "a b",
    "-a",
    "a-",
    "/ is not allowed",
    "a".repeat(64),
    1,
    true,
    ["a"],
  ]),
  accept("01 §1.2 100 labels", { [labels]: many(100) }),
  refuse("01 §1.2 101 labels", { [labels]: many(101) }),
  accept("01 §0.1 null for a label drops it", { [labels]: { a: null, b: "x" } }, { stored: { [labels]: { b: "x" } } }),
  accept("01 §0.1 a label called __proto__ is a label", {
    [labels]: JSON.parse('{"__proto__": "x", "constructor": "y"}'),
  }),
];

const annotationCases: readonly Case[] = [
  accept("01 §1.2 annotations with any keys and values", {
    [annotations]: { "example.com/a": "x", "not a key!": "not a value!", "": "" },
  }),
  ...refuseTypes("01 §1.2", {
    "spec.template.metadata": [],
    [labels]: [],
    [annotations]: [],
    [`${annotations}.a`]: 1,
  }),
  accept(
    "01 §0.1 other metadata of the template is dropped",
    { "spec.template.metadata": { name: "x", labels: { a: "b" } } },
    { stored: { "spec.template.metadata": { labels: { a: "b" } } } },
  ),
];

const lifetimeCases: readonly Case[] = [
  ...durationCases(make, { rule: "01 §0.2 DUR_NEVER", path: expireAfter, never: true }),
  accept("01 §1.2 expireAfter defaults to 720h", {}, { stored: { [expireAfter]: "720h" } }),
  accept(
    "01 §0.1 null for expireAfter becomes the default",
    { [expireAfter]: null },
    { stored: { [expireAfter]: "720h" } },
  ),
  accept(
    "01 §0.3 the text of a duration is kept",
    { [expireAfter]: "1h60m0s" },
    { stored: { [expireAfter]: "1h60m0s" } },
  ),
  ...durationCases(make, { rule: "01 §0.2 DUR", path: gracePeriod, never: false }),
  accept("01 §1.2 terminationGracePeriod has no default", {}, { stored: { [gracePeriod]: undefined } }),
];

const nodeClassCases: readonly Case[] = [
  ...nodeClassRefCases("NodePool", ref),
  refuseUpdate("01:NP16 group of nodeClassRef changes", {}, { [`${ref}.group`]: "karpenter.other.sh" }),
  refuseUpdate("01:NP17 kind of nodeClassRef changes", {}, { [`${ref}.kind`]: "OtherNodeClass" }),
  acceptUpdate("01:NP17 name of nodeClassRef changes", {}, { [`${ref}.name`]: "other" }),
  acceptUpdate("01:NP16 nothing changes", {}, {}),
];

/** What a pool's claims are made from. (01 §1.2) */
export const nodePoolTemplateCases: readonly Case[] = [
  ...labelCases,
  ...annotationCases,
  ...taintCases("NodePool", "spec.template.spec.taints"),
  ...taintCases("NodePool", "spec.template.spec.startupTaints"),
  ...requirementCases({ kind: "NodePool", path: "spec.template.spec.requirements", place: "pool" }),
  ...nodeClassCases,
  ...lifetimeCases,
];
