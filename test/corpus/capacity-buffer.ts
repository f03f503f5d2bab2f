import { type Case, casesFor } from "./case.ts";
import { conditionCases } from "./conditions.ts";
import { quantityCases } from "./patterns.ts";

const make = casesFor("CapacityBuffer");
const { accept, refuse, acceptUpdate, acceptEach, refuseEach, refuseTypes } = make;

const scalableRef = { apiGroup: "apps", kind: "Deployment", name: "web" };
const template = { podTemplateRef: { name: "web" } };

const sizeCases: readonly Case[] = [
  accept("01:CB1 podTemplateRef and replicas", { spec: { ...template, replicas: 1 } }),
  accept("01:CB1 podTemplateRef and limits", { spec: { ...template, limits: { cpu: "10" } } }),
  accept("01:CB1 podTemplateRef and empty limits", { spec: { ...template, limits: {} } }),
  accept("01:CB1 podTemplateRef, replicas and limits", { spec: { ...template, replicas: 1, limits: { cpu: 1 } } }),
  refuse("01:CB1 podTemplateRef alone", { spec: template }),
  refuse("01:CB1 podTemplateRef and percentage", { spec: { ...template, percentage: 10 } }),
  refuse("01:CB1 podTemplateRef and null for replicas", { spec: { ...template, replicas: null } }),
  accept("01:CB1 scalableRef alone", { spec: { scalableRef } }),
  accept("01:CB1 scalableRef and percentage", { spec: { scalableRef, percentage: 10 } }),
  accept("01:CB1 scalableRef, replicas and percentage", { spec: { scalableRef, replicas: 1, percentage: 10 } }),
  accept("01:CB2 neither ref (fails at run time)", { spec: {} }),
  accept("01:CB2 neither ref, with replicas (fails at run time)", { spec: { replicas: 1 } }),
  refuse("01:CB2 both refs", { spec: { ...template, scalableRef, replicas: 1 } }),
  acceptUpdate("01:CB2 from one ref to the other", {}, { spec: { scalableRef } }),
  ...acceptEach("01 §1.5 replicas", "spec.replicas", [0, 1, 2147483647]),
  ...refuseEach("01 §1.5 replicas", "spec.replicas", [-1, 2147483648, 1e19, 1.5, "1"]),
  ...acceptEach("01 §1.5 percentage", "spec.percentage", [0, 100, 250, 2147483647]),
  ...refuseEach("01 §1.5 percentage", "spec.percentage", [-1, 2147483648, 1.5, "10%"]),
  ...quantityCases(make, { rule: "01 §0.2 QTY", path: "spec.limits", key: "cpu" }),
];

const named = (fields: Record<string, unknown>): Record<string, unknown> => ({ spec: { scalableRef: fields } });

const refCases: readonly Case[] = [
  accept("01 §1.5 scalableRef with an empty apiGroup", named({ ...scalableRef, apiGroup: "" })),
  accept("01 §1.5 scalableRef without apiGroup", named({ kind: "Deployment", name: "web" })),
  accept(
    "01 §1.5 scalableRef of another group and kind (fails at run time)",
    named({ apiGroup: "batch", kind: "Job", name: "web" }),
  ),
  refuse("01 §1.5 scalableRef without kind", named({ name: "web" })),
  refuse("01 §1.5 scalableRef without name", named({ kind: "Deployment" })),
  refuse("01 §1.5 scalableRef with an empty kind", named({ ...scalableRef, kind: "" })),
  refuse("01 §1.5 scalableRef with an empty name", named({ ...scalableRef, name: "" })),
  refuse("01 §1.5 podTemplateRef without name", { "spec.podTemplateRef": {} }),
  refuse("01 §1.5 podTemplateRef with an empty name", { "spec.podTemplateRef.name": "" }),
  ...refuseTypes("01 §1.5", { "spec.podTemplateRef": "web", "spec.podTemplateRef.name": 1 }),
  ...refuseTypes("01 §1.5", { "spec.scalableRef": "web" }, { "spec.podTemplateRef": undefined }),
  ...refuseTypes(
    "01 §1.5",
    { "spec.scalableRef.apiGroup": 1, "spec.scalableRef.kind": 1, "spec.scalableRef.name": 1 },
    { spec: { scalableRef } },
  ),
];

const strategy = "spec.provisioningStrategy";
const strategyCases: readonly Case[] = [
  accept("01 §1.5 the default strategy", {}, { stored: { [strategy]: "buffer.x-k8s.io/active-capacity" } }),
  accept(
    "01 §0.1 null for the strategy",
    { [strategy]: null },
    { stored: { [strategy]: "buffer.x-k8s.io/active-capacity" } },
  ),
  ...acceptEach("01 §1.5 strategy", strategy, ["", "anything at all"]),
  ...refuseTypes("01 §1.5", { [strategy]: 1 }),
];

const statusCases: readonly Case[] = [
  accept("01 §1.5 an empty status", { status: {} }),
  accept("01 §1.5 a status as the controller writes it", {
    status: {
      podTemplateRef: { name: "web" },
      podTemplateGeneration: 2,
      replicas: 3,
      provisioningStrategy: "buffer.x-k8s.io/active-capacity",
    },
  }),
  refuse("01 §1.5 status.podTemplateRef without name", { "status.podTemplateRef": {} }),
  refuse("01 §1.5 status.podTemplateRef with an empty name", { "status.podTemplateRef.name": "" }),
  ...acceptEach("01 §1.5 status.replicas", "status.replicas", [0, -1, 2147483647]),
  ...refuseEach("01 §1.5 status.replicas", "status.replicas", [2147483648, -2147483649, "1"]),
  ...refuseTypes("01 §1.5", {
    "status.podTemplateRef": "web",
    "status.podTemplateRef.name": 1,
    "status.podTemplateGeneration": "1",
    "status.provisioningStrategy": 1,
  }),
  ...conditionCases("CapacityBuffer", { keyed: true }),
];

/** Every bound and rule of a buffer. (01 §1.5, §8.2) */
export const capacityBufferCases: readonly Case[] = [
  accept("01 §1.5 the smallest buffer", {}),
  refuse("01 §1.5 no spec", { spec: undefined }),
  ...refuseTypes("01 §1.5", { spec: [] }),
  ...sizeCases,
  ...refCases,
  ...strategyCases,
  ...statusCases,
];
