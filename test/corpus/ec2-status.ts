import type { Case, Changes } from "./case.ts";
import { accept, choice, field, range, refuse, type Table, wrongTypes } from "./ec2-table.ts";

/** What the controller writes down: the resources found, and conditions. (01 §0.4, §1.6.3) */

const reservation = {
  availabilityZone: "us-west-2a",
  endTime: "2026-01-02T03:04:05Z",
  id: "cr-1",
  instanceMatchCriteria: "open",
  instanceType: "m5.large",
  ownerID: "123456789012",
  reservationType: "capacity-block",
  interruptible: false,
  state: "expiring",
};
const condition = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2026-01-02T03:04:05Z",
  observedGeneration: 1,
};
const subnet = { id: "subnet-1", zone: "us-west-2a", zoneID: "usw2-az1" };
const securityGroup = { id: "sg-1", name: "nodes" };
const architecture = { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] };
const image = { id: "ami-1", name: "mine", deprecated: true, requirements: [architecture] };
const full = {
  subnets: [subnet],
  securityGroups: [securityGroup],
  capacityReservations: [reservation],
  amis: [image],
  instanceProfile: "nodes",
  conditions: [condition],
};

const without = (whole: Readonly<Record<string, unknown>>, key: string) =>
  Object.fromEntries(Object.entries(whole).filter(([one]) => one !== key));

interface Parts {
  readonly whole: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly optional?: readonly string[];
  readonly beside?: Changes;
}

/** A list with one item, from which each field is left out in turn. */
function parts(path: string, { whole, required = [], optional = [], beside = {} }: Parts): readonly Case[] {
  const lacking = (key: string): readonly [string, Changes] => [
    `01 §1.6.3 ${path} without ${key}`,
    { ...structuredClone(beside), [path]: [without(whole, key)] },
  ];
  return [...required.map((key) => refuse(...lacking(key))), ...optional.map((key) => accept(...lacking(key)))];
}

const reservations = { "status.capacityReservations": [reservation] };
const conditions = { "status.conditions": [condition] };

const foundCases: readonly Case[] = [
  accept("01 §1.6.3 everything found", { status: full }, { stored: { status: full } }),
  accept("01 §1.6.3 nothing found yet", { status: {} }),
  ...parts("status.subnets", { whole: subnet, required: ["id", "zone"], optional: ["zoneID"] }),
  ...parts("status.securityGroups", { whole: securityGroup, required: ["id"], optional: ["name"] }),
  ...parts("status.amis", { whole: image, required: ["id", "requirements"], optional: ["name", "deprecated"] }),
  ...parts("status.amis[0].requirements", {
    whole: architecture,
    required: ["key", "operator"],
    optional: ["values"],
    beside: { status: full },
  }),
  ...field("status.amis[0].requirements", { status: full }).accepts({
    "01 §1.6.3 an image for every type": [],
    "01 §1.6.3 an image requirement without values": [
      { key: "karpenter.k8s.aws/instance-gpu-count", operator: "DoesNotExist" },
    ],
    "01 §1.6.3 an image requirement with any operator": [{ key: "a", operator: "Resembles", values: [] }],
  }),
];

const reservationCases: readonly Case[] = [
  ...parts("status.capacityReservations", {
    whole: reservation,
    required: ["availabilityZone", "id", "instanceMatchCriteria", "instanceType", "ownerID"],
    optional: ["endTime", "interruptible"],
  }),
  accept(
    "01 §1.6.3 a reservation is of the default kind and active",
    { "status.capacityReservations": [without(without(reservation, "reservationType"), "state")] },
    { stored: { "status.capacityReservations": [{ ...reservation, reservationType: "default", state: "active" }] } },
  ),
  ...choice("status.capacityReservations[0].instanceMatchCriteria", {
    of: ["open", "targeted"],
    not: ["Open", ""],
    beside: reservations,
  }),
  ...choice("status.capacityReservations[0].reservationType", {
    of: ["default", "capacity-block"],
    not: ["block", ""],
    beside: reservations,
  }),
  ...choice("status.capacityReservations[0].state", {
    of: ["active", "expiring"],
    not: ["expired", ""],
    beside: reservations,
  }),
  ...field("status.capacityReservations[0].id", reservations).refuses({
    "01 §1.6.3 a found reservation id without its prefix": "1234",
    "01 §1.6.3 a found reservation id in capitals": "cr-A",
  }),
  ...field("status.capacityReservations[0].ownerID", reservations).refuses({
    "01 §1.6.3 a found owner of 11 digits": "12345678901",
    "01 §1.6.3 a found owner with a letter": "12345678901a",
  }),
  ...field("status.capacityReservations[0].endTime", reservations).refuses({
    "01 §1.6.3 an endTime without a time": "2026-01-02",
    "01 §1.6.3 an empty endTime": "",
  }),
];

const times = (texts: readonly string[]): Table =>
  Object.fromEntries(texts.map((text) => [`01 §0.4 lastTransitionTime ${JSON.stringify(text)}`, text]));
const time = field("status.conditions[0].lastTransitionTime", conditions);
const type = field("status.conditions[0].type", conditions);
const reason = field("status.conditions[0].reason", conditions);
const message = field("status.conditions[0].message", conditions);

const conditionCases: readonly Case[] = [
  accept("01 §0.4 the same condition twice, in a plain list", { "status.conditions": [condition, condition] }),
  ...parts("status.conditions", {
    whole: condition,
    required: ["type", "status", "reason", "message", "lastTransitionTime"],
    optional: ["observedGeneration"],
  }),
  ...choice("status.conditions[0].status", {
    of: ["True", "False", "Unknown"],
    not: ["true", "Maybe", ""],
    beside: conditions,
  }),
  ...range("status.conditions[0].observedGeneration", { min: 0, beside: conditions }),
  ...type.accepts({
    "01 §0.4 a condition type with a domain": "example.com/Ready",
    "01 §0.4 a condition type of 316 characters": `${"a".repeat(252)}/${"b".repeat(63)}`,
  }),
  ...type.refuses({
    "01 §0.4 an empty condition type": "",
    "01 §0.4 a condition type with a space": "Is Ready",
    "01 §0.4 a condition type with a domain in capitals": "Example.com/Ready",
    "01 §0.4 a condition type of 317 characters": `${"a".repeat(252)}/${"b".repeat(64)}`,
  }),
  ...reason.accepts({
    "01 §0.4 a reason with a colon and a comma": "A:b,c_d",
    "01 §0.4 a reason of 1024 characters": "r".repeat(1024),
  }),
  ...reason.refuses({
    "01 §0.4 an empty reason": "",
    "01 §0.4 a reason with a space": "Not Ready",
    "01 §0.4 a reason beginning with a digit": "2Late",
    "01 §0.4 a reason of 1025 characters": "r".repeat(1025),
  }),
  ...message.accepts({ "01 §0.4 a message of 32768 characters": "m".repeat(32768) }),
  ...message.refuses({ "01 §0.4 a message of 32769 characters": "m".repeat(32769) }),
  ...time.accepts(times(["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05+02:00", "2026-01-02t03:04:05z"])),
  ...time.refuses(
    times([
      "",
      "yesterday",
      "2026-01-02",
      "2026-01-02 03:04:05Z",
      "2026-02-30T00:00:00Z",
      "2026-01-02T24:00:00Z",
      "2026-01-02T03:04:05",
    ]),
  ),
];

export const statusCases: readonly Case[] = [...foundCases, ...reservationCases, ...conditionCases];

const at = (place: string, fields: Table): Table =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`status.${place}[0].${name}`, value]));

/** A value of the wrong type at every place of the status. */
export const statusTypeCases: readonly Case[] = wrongTypes(
  {
    status: "ready",
    "status.subnets": {},
    "status.subnets[0]": "subnet-1",
    ...at("subnets", { id: 1, zone: 1, zoneID: 1 }),
    "status.securityGroups": {},
    "status.securityGroups[0]": "sg-1",
    ...at("securityGroups", { id: 1, name: 1 }),
    "status.capacityReservations": {},
    "status.capacityReservations[0]": "cr-1",
    ...at("capacityReservations", {
      availabilityZone: 1,
      endTime: 1_767_323_045,
      id: 1,
      instanceMatchCriteria: 1,
      instanceType: 1,
    }),
    ...at("capacityReservations", { ownerID: 123456789012, reservationType: 1, interruptible: "no", state: 1 }),
    "status.amis": {},
    "status.amis[0]": "ami-1",
    ...at("amis", { id: 1, name: 1, deprecated: "no", requirements: {} }),
    "status.amis[0].requirements[0]": "arch",
    ...at("amis[0].requirements", { key: 1, operator: 1, values: "amd64", "values[0]": 64 }),
    "status.instanceProfile": 1,
    "status.conditions": { Ready: "True" },
    "status.conditions[0]": "Ready",
    ...at("conditions", {
      type: 1,
      status: true,
      reason: 1,
      message: 1,
      lastTransitionTime: 1_767_323_045,
      observedGeneration: "1",
    }),
  },
  { status: full },
);
