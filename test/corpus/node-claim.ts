import { type Case, casesFor } from "./case.ts";
import { conditionCases } from "./conditions.ts";
import { nodeClassRefCases } from "./node-class-ref.ts";
import { durationCases, quantityCases } from "./patterns.ts";
import { requirementCases } from "./requirements.ts";
import { taintCases } from "./taints.ts";

const make = casesFor("NodeClaim");
const { accept, refuse, acceptUpdate, refuseUpdate, acceptEach, refuseTypes } = make;

const wholeCases: readonly Case[] = [
  accept("01 §1.3 the smallest claim", {}, { stored: { "spec.expireAfter": "720h" } }),
  refuse("01 §1.3 no spec", { spec: undefined }),
  ...refuseTypes("01 §1.3", { spec: [] }),
  accept("01 §1.3 a name of 64 characters", { "metadata.name": "a".repeat(64) }),
  accept("01 §1.3 a generated name", { "metadata.name": undefined, "metadata.generateName": "default-" }),
  accept("01 §1.3 a claim as the provisioner writes it", {
    metadata: {
      name: "case",
      labels: { "karpenter.sh/nodepool": "default", "karpenter.kwok.sh/kwoknodeclass": "default" },
      annotations: { "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3" },
      ownerReferences: [
        { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "1", blockOwnerDeletion: true },
      ],
      finalizers: ["karpenter.sh/termination"],
    },
    "spec.requirements": [
      { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
      {
        key: "node.kubernetes.io/instance-type",
        operator: "In",
        values: Array.from({ length: 600 }, (_, index) => `type-${index}`),
      },
      { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand", "spot"] },
    ],
    "spec.resources.requests": { cpu: "1250m", memory: "2Gi", pods: "7" },
  }),
];

const requestCases: readonly Case[] = [
  ...quantityCases(make, { rule: "01 §0.2 QTY", path: "spec.resources.requests", key: "cpu" }),
  accept("01 §1.3 resources that ask for nothing", { "spec.resources": {} }),
  accept(
    "01 §0.1 resources know no limits: dropped",
    { "spec.resources.limits": { cpu: 1 } },
    { stored: { "spec.resources": {} } },
  ),
  ...refuseTypes("01 §1.3", { "spec.resources": [] }),
];

const lifetimeCases: readonly Case[] = [
  ...durationCases(make, { rule: "01 §0.2 DUR", path: "spec.terminationGracePeriod", never: false }),
  ...durationCases(make, { rule: "01 §0.2 DUR_NEVER", path: "spec.expireAfter", never: true }),
  accept(
    "01 §0.1 null for expireAfter becomes the default",
    { "spec.expireAfter": null },
    { stored: { "spec.expireAfter": "720h" } },
  ),
];

const exists = (key: string) => ({ key, operator: "Exists" });
const two = { "spec.requirements": [exists("a"), exists("b")] };
const asks = (cpu: unknown) => ({ "spec.resources.requests": { cpu } });

const immutableCases: readonly Case[] = [
  acceptUpdate("01 §1.3 spec: nothing changes", two, two),
  acceptUpdate("01 §1.3 spec: a default written out is no change", {}, { "spec.expireAfter": "720h" }),
  acceptUpdate("01 §1.3 spec: a dropped field is no change", {}, { "spec.colour": "red" }),
  acceptUpdate("01 §1.3 metadata may change", {}, { "metadata.labels": { a: "b" } }),
  refuseUpdate("01 §1.3 spec: expireAfter changes", {}, { "spec.expireAfter": "Never" }),
  refuseUpdate("01 §1.3 spec: the same time in other words", {}, { "spec.expireAfter": "43200m" }),
  refuseUpdate("01 §1.3 spec: a requirement appears", {}, two),
  refuseUpdate("01 §1.3 spec: a requirement disappears", two, {}),
  refuseUpdate("01 §1.3 spec: requirements change places", two, { "spec.requirements": [exists("b"), exists("a")] }),
  refuseUpdate("01 §1.3 spec: another node class", {}, { "spec.nodeClassRef.name": "other" }),
  refuseUpdate("01 §1.3 spec: an empty list appears", {}, { "spec.taints": [] }),
  acceptUpdate("01 §1.3 spec: the same request", asks(1), asks(1)),
  refuseUpdate("01 §1.3 spec: a request as text", asks(1), asks("1")),
  refuseUpdate("01 §1.3 spec: the same request in other words", asks("1"), asks("1000m")),
];

const statusCases: readonly Case[] = [
  accept("01 §1.3 an empty status", { status: {} }),
  accept("01 §1.3 a status as controllers write it", {
    status: {
      nodeName: "node",
      providerID: "kwok://node",
      imageID: "image",
      capacity: { cpu: "4", memory: "16Gi" },
      allocatable: { cpu: "3800m" },
      lastPodEventTime: "2024-01-01T00:00:00Z",
    },
  }),
  ...quantityCases(make, { rule: "01 §1.3 status", path: "status.capacity", key: "cpu" }),
  ...quantityCases(make, { rule: "01 §1.3 status", path: "status.allocatable", key: "cpu" }),
  // The API server's idea of a time is wider than RFC 3339 at some places, and narrower at others.
  ...acceptEach("01 §1.3 lastPodEventTime", "status.lastPodEventTime", [
    "2024-01-01T00:00:00.5Z",
    "2024-01-01T00:00:00,5Z",
    "2024-01-01T00:00:00+25:00",
    "2024-01-01T00:00:00ztrailing",
    "2024-02-29T23:59:59Z",
    "0000-01-01T00:00:00Z",
  ]),
  ...make.refuseEach("01 §1.3 lastPodEventTime", "status.lastPodEventTime", [
    "",
    "now",
    "2024-01-01",
    "2024-01-01 00:00:00Z",
    "2024-01-01T00:00Z",
    "2024-01-01T00:00:00",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00+0200",
    "2024-1-1T0:0:0Z",
    "2024-13-01T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T23:60:00Z",
    "2024-01-01T23:59:60Z",
    "20240-01-01T00:00:00Z",
    1704067200,
  ]),
  ...refuseTypes("01 §1.3", { "status.nodeName": 1, "status.providerID": 1, "status.imageID": 1 }),
  ...conditionCases("NodeClaim", { keyed: true, loose: true }),
];

/** Every bound and rule of a claim. (01 §1.3, §8.2) */
export const nodeClaimCases: readonly Case[] = [
  ...wholeCases,
  ...taintCases("NodeClaim", "spec.taints"),
  ...taintCases("NodeClaim", "spec.startupTaints"),
  ...requirementCases({ kind: "NodeClaim", path: "spec.requirements", place: "claim" }),
  ...nodeClassRefCases("NodeClaim", "spec.nodeClassRef"),
  ...requestCases,
  ...lifetimeCases,
  ...immutableCases,
  ...statusCases,
];
