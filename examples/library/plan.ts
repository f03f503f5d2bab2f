// Plans nodes for a Deployment without a cluster and without files: from objects to a scheduling problem to a decision.
// In this repository: npm run build; npx esbuild examples/library/plan.ts --outfile=plan.mjs; node plan.mjs
import { groups, type KubeObject, type KwokNodeClassInput, labelPolicy, type NodePoolInput } from "karpenter-ts/api";
import {
  completeObjects,
  defaultSchedulingPolicy,
  expandWorkloads,
  solve,
  withNodeClassReady,
} from "karpenter-ts/core";
import { kwokInstanceTypes } from "karpenter-ts/providers/kwok";
import { scenarioOf } from "karpenter-ts/state";

const nodeClass: KwokNodeClassInput = {
  apiVersion: "karpenter.kwok.sh/v1alpha1",
  kind: "KWOKNodeClass",
  metadata: { name: "default" },
  spec: {},
};

// Fields with defaults, such as spec.disruption, may be left out.
const nodePool: NodePoolInput = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: groups.kwok, kind: "KWOKNodeClass", name: "default" },
        requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
      },
    },
    limits: { cpu: "32" },
  },
};

const deployment: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    replicas: 12,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", resources: { requests: { cpu: "1", memory: "2Gi" } } }] },
    },
  },
};

// 1. What a cluster would make of these objects: workloads become pods, defaults are filled in.
const types = kwokInstanceTypes();
const cloud = { typesFor: () => types, nowMs: Date.parse("2026-01-15T12:00:00Z") };
const expanded = expandWorkloads(withNodeClassReady([nodeClass, nodePool, deployment]));
const objects = completeObjects(
  expanded.objects.map(({ object }) => object),
  { ...cloud, defaultNodeClass: nodePool.spec.template.spec.nodeClassRef },
);

// 2. The question one provisioning round would be asked.
const scenario = scenarioOf(objects, {
  ...cloud,
  served: [{ group: groups.kwok, kind: "KWOKNodeClass" }],
  labelPolicy: labelPolicy("kwok"),
  policy: defaultSchedulingPolicy,
  seed: 0,
  workloads: expanded.workloads,
});

// 3. The answer: a value with the nodes to create, where pods go, and a reason for every pod without a place.
const decision = solve(scenario.problem);
for (const { pool, instanceTypes, pods, price } of decision.newNodes) {
  console.log(`NodePool ${pool}: ${instanceTypes[0]?.name} for ${pods.length} pods, $${price.toFixed(4)}/hour`);
}
for (const { pod, code } of decision.refusals) console.log(`${pod.metadata.name}: ${code}`);
