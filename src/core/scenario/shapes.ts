import type { KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { type ScenarioKind, scenarioKind } from "./kinds.ts";
import { nodeSelector, podSpec, podTemplate, selector } from "./pod-shapes.ts";
import {
  anything,
  count,
  countUpTo,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  quantity,
  type Shape,
  text,
  textOrInteger,
  time,
} from "./shape.ts";

/**
 * What is wrong with the form of a foreign object, as far as we read it. Our own kinds have schemas; of these only what
 * completion reads is looked at.
 */
export function shapeProblems(object: KubeObject): readonly Problem[] {
  const kind = scenarioKind(object);
  const found: Problem[] = [];
  if (kind !== undefined) shapes[kind](object, [], found);
  return found;
}

const metadata = fields({
  optional: {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    creationTimestamp: time,
    deletionTimestamp: time,
    labels: mapOf(text),
    annotations: mapOf(text),
    finalizers: listOf(text),
    ownerReferences: listOf(
      fields({ required: { apiVersion: text, kind: text, name: text, uid: text }, optional: { controller: flag } }),
    ),
  },
});

const conditions = listOf(
  fields({
    required: { type: text, status: text },
    optional: { reason: text, message: text, lastTransitionTime: text },
  }),
);

function object(spec: Shape, rest: Readonly<Record<string, Shape>> = {}): Shape {
  return fields({ required: { metadata, spec }, optional: rest });
}

const taint = fields({ required: { key: text, effect: text }, optional: { value: text } });
const sizes = { capacity: mapOf(quantity), allocatable: mapOf(quantity) };
const containerStatuses = listOf(
  fields({
    required: { name: text },
    optional: {
      resources: fields({ optional: { requests: mapOf(quantity), limits: mapOf(quantity) } }),
      allocatedResources: mapOf(quantity),
    },
  }),
);

const claimSpec = fields({
  optional: { storageClassName: text, volumeName: text, accessModes: listOf(text), resources: anything },
});

/** Of one workload. */
const mostPods = 100_000;

const replicated = fields({
  required: { template: podTemplate },
  optional: {
    replicas: countUpTo(mostPods),
    ordinals: fields({ optional: { start: count } }),
    volumeClaimTemplates: listOf(fields({ required: { metadata }, optional: { spec: claimSpec } })),
  },
});

const job = fields({
  required: { template: podTemplate },
  optional: { parallelism: countUpTo(mostPods), completions: count, suspend: flag },
});

/** Our own kinds: enough for completion to work on; the schema has the last word. */
const ours = fields({
  required: { metadata },
  optional: { spec: fields({}), status: fields({ optional: { conditions } }) },
});

const shapes: Readonly<Record<ScenarioKind, Shape>> = {
  Pod: object(podSpec, {
    status: fields({
      optional: {
        phase: text,
        startTime: time,
        nominatedNodeName: text,
        conditions,
        containerStatuses,
        initContainerStatuses: containerStatuses,
      },
    }),
  }),
  PodTemplate: fields({ required: { metadata, template: podTemplate } }),
  Node: fields({
    required: { metadata },
    optional: {
      spec: fields({ optional: { providerID: text, taints: listOf(taint), unschedulable: flag } }),
      status: fields({ optional: { ...sizes, conditions } }),
    },
  }),
  Namespace: fields({ required: { metadata } }),
  PersistentVolume: object(
    fields({
      optional: {
        csi: fields({ required: { driver: text } }),
        nodeAffinity: fields({ optional: { required: nodeSelector } }),
      },
    }),
  ),
  PersistentVolumeClaim: object(claimSpec, { status: fields({ optional: { phase: text } }) }),
  Deployment: object(replicated),
  ReplicaSet: object(replicated),
  StatefulSet: object(replicated),
  DaemonSet: object(fields({ required: { template: podTemplate } })),
  Job: object(job, { status: fields({ optional: { conditions } }) }),
  CronJob: object(
    fields({ required: { jobTemplate: fields({ required: { spec: job } }) }, optional: { suspend: flag } }),
  ),
  PodDisruptionBudget: object(
    fields({
      optional: {
        selector,
        maxUnavailable: textOrInteger,
        minAvailable: textOrInteger,
        unhealthyPodEvictionPolicy: text,
      },
    }),
  ),
  PriorityClass: fields({ required: { metadata, value: integer } }),
  StorageClass: fields({
    required: { metadata },
    optional: {
      provisioner: text,
      volumeBindingMode: text,
      allowedTopologies: listOf(
        fields({
          optional: { matchLabelExpressions: listOf(fields({ required: { key: text, values: listOf(text) } })) },
        }),
      ),
    },
  }),
  CSINode: object(
    fields({
      optional: {
        drivers: listOf(
          fields({ required: { name: text }, optional: { allocatable: fields({ optional: { count: integer } }) } }),
        ),
      },
    }),
  ),
  NodePool: object(
    fields({
      optional: {
        template: fields({ optional: { spec: fields({}) } }),
        disruption: fields({ optional: { budgets: listOf(fields({ optional: { nodes: text } })) } }),
      },
    }),
    { status: fields({ optional: { conditions } }) },
  ),
  NodeClaim: fields({
    required: { metadata },
    optional: {
      spec: fields({
        optional: {
          nodeClassRef: fields({ required: { group: text, kind: text, name: text } }),
          taints: listOf(taint),
        },
      }),
      status: fields({ optional: { ...sizes, conditions, nodeName: text, providerID: text } }),
    },
  }),
  NodeOverlay: ours,
  CapacityBuffer: ours,
  KWOKNodeClass: ours,
  EC2NodeClass: ours,
  AKSNodeClass: ours,
};
