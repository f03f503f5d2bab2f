import type { KarpenterKindName } from "../../src/api/kinds/karpenter-kinds.ts";
import { type Case, casesFor } from "./case.ts";

interface Form {
  /** NodeClaims may leave reason and message out. */
  readonly loose?: boolean;
  /** Lists keyed by type refuse a type twice; plain lists do not. */
  readonly keyed: boolean;
}

const ready = {
  type: "Ready",
  status: "True",
  lastTransitionTime: "2024-01-01T00:00:00Z",
  reason: "Ready",
  message: "",
};

/** The condition list of a kind. (01 §0.4) */
export function conditionCases(kind: KarpenterKindName, { loose = false, keyed }: Form): readonly Case[] {
  const { accept, refuse, refuseTypes } = casesFor(kind);
  const rule = "01 §0.4 condition";
  const item = (changes: Record<string, unknown>): Record<string, unknown> => ({
    "status.conditions": [dropAbsent({ ...ready, ...changes })],
  });
  const take = (title: string, changes: Record<string, unknown>): Case => accept(`${rule} ${title}`, item(changes));
  const turnDown = (title: string, changes: Record<string, unknown>): Case => refuse(`${rule} ${title}`, item(changes));
  const whereLoose = loose ? take : turnDown;
  const twice = { "status.conditions": [ready, { ...ready, status: "False" }] };
  return [
    take("as controllers write it", { observedGeneration: 1 }),
    take("False", { status: "False" }),
    take("Unknown", { status: "Unknown" }),
    take("with a prefixed type", { type: "example.com/Ready" }),
    take("type of 316 characters", { type: `${"a".repeat(252)}/${"b".repeat(63)}` }),
    take("reason with inner marks", { reason: "A_b,c:d_" }),
    take("reason of 1024 characters", { reason: "a".repeat(1024) }),
    take("message of 32768 characters", { message: "a".repeat(32768) }),
    take("message of 32768 characters that are two bytes each", { message: "é".repeat(32768) }),
    take("of generation 0", { observedGeneration: 0 }),
    take("with an offset in its time", { lastTransitionTime: "2024-01-01T00:00:00.123456789+02:00" }),
    take("with its time in lower case", { lastTransitionTime: "2024-01-01t00:00:00z" }),
    accept(`${rule} list empty`, { "status.conditions": [] }),
    accept(`${rule} of two types`, { "status.conditions": [ready, { ...ready, type: "Launched" }] }),
    (keyed ? refuse : accept)(`${rule} of one type twice`, twice),
    whereLoose("without a reason", { reason: undefined }),
    whereLoose("without a message", { message: undefined }),
    whereLoose("with an empty reason", { reason: "" }),
    turnDown("without a type", { type: undefined }),
    turnDown("without a status", { status: undefined }),
    turnDown("without a time", { lastTransitionTime: undefined }),
    turnDown("with an empty type", { type: "" }),
    turnDown("type of 317 characters", { type: `${"a".repeat(253)}/${"b".repeat(63)}` }),
    turnDown("type with a space", { type: "Not Ready" }),
    turnDown("status in lower case", { status: "true" }),
    turnDown("reason of 1025 characters", { reason: "a".repeat(1025) }),
    turnDown("reason that starts with a digit", { reason: "1st" }),
    turnDown("reason with a space", { reason: "Not ready" }),
    turnDown("reason that ends in a colon", { reason: "Because:" }),
    turnDown("message of 32769 characters", { message: "a".repeat(32769) }),
    turnDown("of generation -1", { observedGeneration: -1 }),
    ...[
      "yesterday",
      "",
      "2024-01-01",
      "2024-01-01T00:00:00",
      "2024-02-30T00:00:00Z",
      "2024-01-01T24:00:00Z",
      "2024-01-01T00:00:60Z",
    ].map((time) => turnDown(`with time ${JSON.stringify(time)}`, { lastTransitionTime: time })),
    ...refuseTypes("01 §0.4", { status: [], "status.conditions": {}, "status.conditions[0]": "Ready" }),
    ...refuseTypes(
      "01 §0.4",
      {
        ...Object.fromEntries(Object.keys(ready).map((field) => [`status.conditions[0].${field}`, 1])),
        "status.conditions[0].observedGeneration": "1",
      },
      { "status.conditions": [ready] },
    ),
  ];
}

function dropAbsent(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
