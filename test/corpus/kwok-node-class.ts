import { type Case, casesFor } from "./case.ts";
import { conditionCases } from "./conditions.ts";
import { durationCases } from "./patterns.ts";

const make = casesFor("KWOKNodeClass");
const { accept, refuseTypes } = make;

const readyAtOnce = [
  { lastTransitionTime: "2024-01-01T01:01:01Z", message: "", reason: "Ready", status: "True", type: "Ready" },
];

/** Every bound of the simulated node class. (01 §1.7) */
export const kwokNodeClassCases: readonly Case[] = [
  accept("01 §1.7 ready as soon as it is there", {}, { stored: { "status.conditions": readyAtOnce } }),
  accept("01 §1.7 no spec", { spec: undefined }, { stored: { spec: undefined, "status.conditions": readyAtOnce } }),
  accept("01 §0.1 null for spec", { spec: null }, { stored: { spec: undefined } }),
  ...refuseTypes("01 §1.7", { spec: [] }),
  ...durationCases(make, { rule: "01 §0.2 DUR", path: "spec.nodeRegistrationDelay", never: false }),
  accept("01 §1.7 no delay", {}, { stored: { "spec.nodeRegistrationDelay": undefined } }),
  accept("01 §1.7 a status without conditions keeps none", { status: {} }, { stored: { status: {} } }),
  accept(
    "01 §0.1 null for the status becomes the default",
    { status: null },
    { stored: { "status.conditions": readyAtOnce } },
  ),
  ...conditionCases("KWOKNodeClass", { keyed: false }),
];
