import { type Case, casesFor } from "./case.ts";

const { accept, refuse, acceptUpdate, refuseUpdate, acceptEach, refuseEach } = casesFor("NodePool");

/** A static pool with something beside its replicas. */
const fixed = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({ "spec.replicas": 5, ...changes });

const withReplicas: readonly (readonly [what: string, changes: Record<string, unknown>])[] = [
  ["budgets", { "spec.disruption.budgets": [{ nodes: "10%" }] }],
  ["labels", { "spec.template.metadata.labels": { team: "a" } }],
  ["annotations", { "spec.template.metadata.annotations": { team: "a" } }],
  ["taints", { "spec.template.spec.taints": [{ key: "a", effect: "NoSchedule" }] }],
  ["startup taints", { "spec.template.spec.startupTaints": [{ key: "a", effect: "NoSchedule" }] }],
  ["requirements", { "spec.template.spec.requirements": [{ key: "a", operator: "Exists" }] }],
  ["expireAfter", { "spec.template.spec.expireAfter": "Never" }],
  ["terminationGracePeriod", { "spec.template.spec.terminationGracePeriod": "1h" }],
  ["a consolidation policy, which is ignored", { "spec.disruption.consolidationPolicy": "WhenEmpty" }],
];

/** Static pools. (01 §5.7, NP1–NP3, §8.1) */
export const nodePoolReplicasCases: readonly Case[] = [
  ...acceptEach("01 §1.2 replicas", "spec.replicas", [5, 0, 1000]),
  ...refuseEach("01 §1.2 replicas", "spec.replicas", [-1, -100, 1.5, "5", true]),
  // Through the scale subresource the count is 32 bits wide, though the field has 64.
  ...acceptEach("01 §1.1 scale: replicas", "spec.replicas", [2147483647]),
  ...refuseEach("01 §1.1 scale: replicas", "spec.replicas", [2147483648, 2 ** 60, 1e19, 1e21]),
  ...withReplicas.map(([what, changes]) => accept(`01 §5.7 replicas with ${what}`, fixed(changes))),
  accept(
    "01 §5.7 replicas without consolidateAfter",
    fixed({ "spec.disruption": { consolidationPolicy: "WhenEmpty" } }),
  ),
  accept("01:NP2 replicas with a limit on nodes", fixed({ "spec.limits": { nodes: 10 } })),
  accept("01:NP2 replicas with empty limits", fixed({ "spec.limits": {} })),
  accept("01:NP2 replicas with a limit of null, which is dropped", fixed({ "spec.limits": { cpu: null } })),
  ...["cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu"].map((resource) =>
    refuse(`01:NP2 replicas with a limit on ${resource}`, fixed({ "spec.limits": { [resource]: "10" } })),
  ),
  refuse("01:NP2 replicas with a limit on nodes and on cpu", fixed({ "spec.limits": { nodes: 10, cpu: 10 } })),
  refuse("01:NP2 no replicas are replicas too", { "spec.replicas": 0, "spec.limits": { cpu: 10 } }),
  refuse("01:NP3 replicas with a weight", fixed({ "spec.weight": 1 })),
  acceptUpdate("01:NP1 a static pool grows", fixed(), { "spec.replicas": 10 }),
  acceptUpdate("01:NP1 a static pool shrinks to nothing", fixed(), { "spec.replicas": 0 }),
  refuseUpdate("01:NP1 static to dynamic", fixed(), {}),
  refuseUpdate("01:NP1 dynamic to static", {}, fixed()),
  refuseUpdate("01:NP1 dynamic to static without nodes", {}, { "spec.replicas": 0 }),
  acceptUpdate("01:NP1 a dynamic pool stays dynamic", {}, { "spec.weight": 5 }),
  acceptUpdate(
    "01:NP2 the limit on nodes changes",
    fixed({ "spec.limits": { nodes: 10 } }),
    fixed({ "spec.limits": { nodes: 20 } }),
  ),
  refuseUpdate(
    "01:NP2 a limit on cpu appears",
    fixed({ "spec.limits": { nodes: 10 } }),
    fixed({ "spec.limits": { cpu: 20 } }),
  ),
  refuseUpdate("01:NP3 a weight appears", fixed(), fixed({ "spec.weight": 1 })),
];
