import fc from "fast-check";
import type { LabelSelector, PodAffinityTerm, SelectorRequirement } from "../../../../src/api/kubernetes/pod.ts";
import type { ApiNode, ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { ModelWorld } from "./schedule-model.ts";

/** Few names and values, so that things meet. */
const zone = fc.constantFrom("a", "b");
const app = fc.constantFrom("web", "db");
const namespace = fc.constantFrom("default", "other");
const topologyKey = fc.constantFrom("zone", "rack", "host");

const taint = fc.record({
  key: fc.constantFrom("dedicated", "spot"),
  value: fc.constantFrom("x", "y"),
  effect: fc.constantFrom("NoSchedule", "NoExecute", "PreferNoSchedule"),
});

const toleration = fc.record(
  {
    key: fc.constantFrom("dedicated", "spot"),
    operator: fc.constantFrom("Exists", "Equal"),
    value: fc.constantFrom("x", "y"),
    effect: fc.constantFrom("NoSchedule", "NoExecute"),
  },
  { requiredKeys: ["operator"] },
);

function node(name: string): fc.Arbitrary<ApiNode> {
  return fc
    .record({
      zone: fc.option(zone, { nil: undefined, freq: 4 }),
      rack: fc.option(fc.constantFrom("1", "2"), { nil: undefined }),
      size: fc.constantFrom("4", "8", "16"),
      taints: fc.array(taint, { maxLength: 1 }),
      unschedulable: fc.boolean().map((draw) => draw && name.endsWith("0")),
      cpu: fc.integer({ min: 1, max: 6 }),
      pods: fc.integer({ min: 1, max: 5 }),
    })
    .map(({ zone: inZone, rack, size, taints, unschedulable, cpu, pods }) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: { host: name, size, ...(inZone && { zone: inZone }), ...(rack && { rack }) },
      },
      spec: { taints, unschedulable },
      status: { allocatable: { cpu: String(cpu), pods: String(pods) } },
    }));
}

const labelSelector: fc.Arbitrary<LabelSelector> = fc.oneof(
  app.map((value) => ({ matchLabels: { app: value } })),
  app.map((value) => ({ matchExpressions: [{ key: "app", operator: "NotIn", values: [value] }] })),
  fc.constant({}),
);

const nodeExpression: fc.Arbitrary<SelectorRequirement> = fc.oneof(
  fc.record({
    key: fc.constant("zone"),
    operator: fc.constantFrom("In", "NotIn"),
    values: fc.array(zone, { minLength: 1 }),
  }),
  fc.record({ key: fc.constantFrom("zone", "rack"), operator: fc.constantFrom("Exists", "DoesNotExist") }),
  fc.record({ key: fc.constant("size"), operator: fc.constantFrom("Gt", "Lt"), values: fc.constantFrom(["4"], ["8"]) }),
);

const nodeTerm = fc.record(
  {
    matchExpressions: fc.array(nodeExpression, { maxLength: 2 }),
    matchFields: fc.constantFrom([{ key: "metadata.name", operator: "In", values: ["n0"] }], []),
  },
  { requiredKeys: [] },
);

const affinityTerm: fc.Arbitrary<PodAffinityTerm> = fc.record(
  {
    topologyKey,
    labelSelector,
    namespaces: fc.array(namespace, { maxLength: 1 }),
    namespaceSelector: fc.constantFrom({}, { matchLabels: { team: "other" } }),
  },
  { requiredKeys: ["topologyKey", "labelSelector"] },
);

const spread = fc.record(
  {
    topologyKey,
    maxSkew: fc.integer({ min: 1, max: 2 }),
    whenUnsatisfiable: fc.constantFrom("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
    labelSelector,
    minDomains: fc.integer({ min: 1, max: 3 }),
    nodeAffinityPolicy: fc.constantFrom("Honor", "Ignore"),
    nodeTaintsPolicy: fc.constantFrom("Honor", "Ignore"),
  },
  { requiredKeys: ["topologyKey", "maxSkew", "whenUnsatisfiable", "labelSelector"] },
);

export function livePod(name: string): fc.Arbitrary<ApiPod> {
  return fc
    .record({
      namespace,
      app,
      cpu: fc.integer({ min: 0, max: 3 }),
      port: fc.option(fc.constantFrom(80, 81), { nil: undefined }),
      priority: fc.constantFrom(0, 0, 10, 100),
      isTerminating: fc.constantFrom(false, false, false, true),
      tolerations: fc.array(toleration, { maxLength: 2 }),
      nodeSelector: fc.option(
        zone.map((value) => ({ zone: value })),
        { nil: undefined, freq: 2 },
      ),
      nodeTerms: fc.option(fc.array(nodeTerm, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 2 }),
      near: fc.array(affinityTerm, { maxLength: 1 }),
      far: fc.array(affinityTerm, { maxLength: 1 }),
      spreads: fc.array(spread, { maxLength: 2 }),
    })
    .map((drawn) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: drawn.namespace,
        uid: name,
        labels: { app: drawn.app },
        ...(drawn.isTerminating && { deletionTimestamp: "2026-01-15T12:00:00Z" }),
      },
      spec: {
        priority: drawn.priority,
        containers: [
          {
            name: "app",
            resources: { requests: { cpu: String(drawn.cpu) } },
            ports: drawn.port === undefined ? [] : [{ containerPort: 80, hostPort: drawn.port }],
          },
        ],
        tolerations: drawn.tolerations,
        ...(drawn.nodeSelector && { nodeSelector: drawn.nodeSelector }),
        affinity: {
          ...(drawn.nodeTerms && {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: drawn.nodeTerms },
            },
          }),
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: drawn.near },
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: drawn.far },
        },
        topologySpreadConstraints: drawn.spreads,
      },
    }));
}

/** A few nodes with a few pods, however they got there. */
export const modelWorld: fc.Arbitrary<ModelWorld> = fc
  .integer({ min: 1, max: 4 })
  .chain((count) =>
    fc.record({
      nodes: fc.tuple(...Array.from({ length: count }, (_, at) => node(`n${at}`))),
      pods: fc
        .integer({ min: 0, max: 5 })
        .chain((pods) => fc.tuple(...Array.from({ length: pods }, (_, at) => livePod(`p${at}`)))),
      places: fc.array(fc.integer({ min: 0, max: count - 1 }), { minLength: 5, maxLength: 5 }),
    }),
  )
  .map(({ nodes, pods, places }) => ({
    nodes,
    placed: pods.map((pod, at) => ({ pod, node: `n${places[at] ?? 0}` })),
    namespaces: { default: {}, other: { team: "other" } },
  }));
