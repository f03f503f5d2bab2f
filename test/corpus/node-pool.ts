import { type Case, casesFor } from "./case.ts";
import { conditionCases } from "./conditions.ts";
import { nodePoolDisruptionCases } from "./node-pool-disruption.ts";
import { nodePoolReplicasCases } from "./node-pool-replicas.ts";
import { nodePoolTemplateCases } from "./node-pool-template.ts";
import { quantityCases } from "./patterns.ts";

const make = casesFor("NodePool");
const { accept, refuse, acceptEach, refuseEach, refuseTypes } = make;

const wholeCases: readonly Case[] = [
  accept("01 §1.2 the smallest pool", {}),
  refuse("01 §1.2 no spec", { spec: undefined }),
  refuse("01 §0.1 null for spec", { spec: null }),
  refuse("01 §1.2 no template", { "spec.template": undefined }),
  refuse("01 §1.2 no template spec", { "spec.template.spec": undefined }),
  ...refuseTypes("01 §1.2", { spec: [], "spec.template": [], "spec.template.spec": [] }),
  accept("01 §3.1.1 a name of 63 characters", { "metadata.name": "a".repeat(63) }),
  refuse("01 §3.1.1 a name of 64 characters is no label value", { "metadata.name": "a".repeat(64) }),
  accept("01 §3.1.1 a generated name is cut to fit", {
    "metadata.name": undefined,
    "metadata.generateName": "a".repeat(80),
  }),
  accept(
    "01 §8.4 nodeClassRef beside the template is dropped",
    { "spec.nodeClassRef": { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
    { stored: { "spec.nodeClassRef": undefined } },
  ),
  refuse("01 §8.4 nodeClassRef beside the template does not stand in for it", {
    "spec.nodeClassRef": { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
    "spec.template.spec.nodeClassRef": undefined,
  }),
  accept(
    "01 §0.1 a field called __proto__ is dropped like any other",
    { "spec.template.metadata": JSON.parse('{"__proto__": {"x": 1}}') },
    { stored: { "spec.template.metadata": {} } },
  ),
];

const limitsCases: readonly Case[] = [
  ...quantityCases(make, { rule: "01 §0.2 QTY", path: "spec.limits", key: "cpu" }),
  accept("01 §5.6 limits on any resource", {
    "spec.limits": { cpu: 1000, memory: "1000Gi", nodes: 10, "nvidia.com/gpu": "2", "odd name!": 1 },
  }),
];

const weightCases: readonly Case[] = [
  ...acceptEach("01 §1.2 weight", "spec.weight", [1, 100]),
  ...refuseEach("01 §1.2 weight", "spec.weight", [0, 101, -1, 1.5, "1", 2 ** 31]),
  accept("01 §0.1 null for weight counts as absent", { "spec.weight": null }, { stored: { "spec.weight": undefined } }),
];

const statusCases: readonly Case[] = [
  accept("01 §1.2 status.nodes defaults to 0", { status: {} }, { stored: { "status.nodes": 0 } }),
  accept("01 §1.2 null for status.nodes becomes 0", { "status.nodes": null }, { stored: { "status.nodes": 0 } }),
  accept("01 §1.2 a status as the counter writes it", {
    status: {
      nodes: 3,
      resources: { cpu: "12", memory: "48Gi", pods: 330, nodes: "3" },
      nodeClassObservedGeneration: 2,
    },
  }),
  ...quantityCases(make, { rule: "01 §1.2 status", path: "status.resources", key: "cpu" }),
  ...refuseTypes("01 §1.2", { status: "x", "status.nodes": "1", "status.nodeClassObservedGeneration": "1" }),
  accept("01 §1.2 any node class generation", { "status.nodeClassObservedGeneration": -1 }),
  // What the scale subresource reports must fit there, whatever the field's own schema says.
  ...acceptEach("01 §1.1 scale: status.nodes", "status.nodes", [0, 2147483647]),
  ...refuseEach("01 §1.1 scale: status.nodes", "status.nodes", [-1, 2147483648]),
  ...conditionCases("NodePool", { keyed: true }),
];

/** Every bound and rule of a pool. (01 §1.2, §8.1) */
export const nodePoolCases: readonly Case[] = [
  ...wholeCases,
  ...nodePoolTemplateCases,
  ...nodePoolDisruptionCases,
  ...limitsCases,
  ...weightCases,
  ...nodePoolReplicasCases,
  ...statusCases,
];
