import type { KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { labelSelectorShape, nodeSelectorShape, podSpecShape, podTemplateShape } from "./pod-shapes.ts";
import { type ScenarioKind, scenarioKind } from "./scenario-kind.ts";
import {
  anyShape,
  booleanShape,
  countShape,
  countShapeUpTo,
  integerShape,
  intOrStringShape,
  listShape,
  mapShape,
  objectShape,
  quantityShape,
  type ShapeCheck,
  stringShape,
  timeShape,
} from "./shape-check.ts";

/**
 * What is wrong with the form of a foreign object, as far as we read it. Our own kinds have schemas; of these only what
 * completion reads is looked at.
 */
export function objectShapeProblems(object: KubeObject): readonly Problem[] {
  const kind = scenarioKind(object);
  const found: Problem[] = [];
  if (kind !== undefined) shapesByKind[kind](object, [], found);
  return found;
}

const metadata = objectShape({
  optional: {
    name: stringShape,
    generateName: stringShape,
    namespace: stringShape,
    uid: stringShape,
    creationTimestamp: timeShape,
    deletionTimestamp: timeShape,
    labels: mapShape(stringShape),
    annotations: mapShape(stringShape),
    finalizers: listShape(stringShape),
    ownerReferences: listShape(
      objectShape({
        required: { apiVersion: stringShape, kind: stringShape, name: stringShape, uid: stringShape },
        optional: { controller: booleanShape },
      }),
    ),
  },
});

const conditions = listShape(
  objectShape({
    required: { type: stringShape, status: stringShape },
    optional: { reason: stringShape, message: stringShape, lastTransitionTime: stringShape },
  }),
);

function specShape(spec: ShapeCheck, rest: Readonly<Record<string, ShapeCheck>> = {}): ShapeCheck {
  return objectShape({ required: { metadata, spec }, optional: rest });
}

const taint = objectShape({ required: { key: stringShape, effect: stringShape }, optional: { value: stringShape } });
const sizes = { capacity: mapShape(quantityShape), allocatable: mapShape(quantityShape) };
const containerStatuses = listShape(
  objectShape({
    required: { name: stringShape },
    optional: {
      resources: objectShape({ optional: { requests: mapShape(quantityShape), limits: mapShape(quantityShape) } }),
      allocatedResources: mapShape(quantityShape),
    },
  }),
);

const claimSpec = objectShape({
  optional: {
    storageClassName: stringShape,
    volumeName: stringShape,
    accessModes: listShape(stringShape),
    resources: anyShape,
  },
});

/** Of one workload. */
const maxPodsPerWorkload = 100_000;

const replicated = objectShape({
  required: { template: podTemplateShape },
  optional: {
    replicas: countShapeUpTo(maxPodsPerWorkload),
    ordinals: objectShape({ optional: { start: countShape } }),
    volumeClaimTemplates: listShape(objectShape({ required: { metadata }, optional: { spec: claimSpec } })),
  },
});

const job = objectShape({
  required: { template: podTemplateShape },
  optional: { parallelism: countShapeUpTo(maxPodsPerWorkload), completions: countShape, suspend: booleanShape },
});

/** Our own kinds: enough for completion to work on; the schema has the last word. */
const karpenterKindShape = objectShape({
  required: { metadata },
  optional: { spec: objectShape({}), status: objectShape({ optional: { conditions } }) },
});

const shapesByKind: Readonly<Record<ScenarioKind, ShapeCheck>> = {
  Pod: specShape(podSpecShape, {
    status: objectShape({
      optional: {
        phase: stringShape,
        startTime: timeShape,
        nominatedNodeName: stringShape,
        conditions,
        containerStatuses,
        initContainerStatuses: containerStatuses,
      },
    }),
  }),
  PodTemplate: objectShape({ required: { metadata, template: podTemplateShape } }),
  Node: objectShape({
    required: { metadata },
    optional: {
      spec: objectShape({
        optional: { providerID: stringShape, taints: listShape(taint), unschedulable: booleanShape },
      }),
      status: objectShape({ optional: { ...sizes, conditions } }),
    },
  }),
  Namespace: objectShape({ required: { metadata } }),
  PersistentVolume: specShape(
    objectShape({
      optional: {
        csi: objectShape({ required: { driver: stringShape } }),
        nodeAffinity: objectShape({ optional: { required: nodeSelectorShape } }),
      },
    }),
  ),
  PersistentVolumeClaim: specShape(claimSpec, { status: objectShape({ optional: { phase: stringShape } }) }),
  Deployment: specShape(replicated),
  ReplicaSet: specShape(replicated),
  StatefulSet: specShape(replicated),
  DaemonSet: specShape(objectShape({ required: { template: podTemplateShape } })),
  Job: specShape(job, { status: objectShape({ optional: { conditions } }) }),
  CronJob: specShape(
    objectShape({
      required: { jobTemplate: objectShape({ required: { spec: job } }) },
      optional: { suspend: booleanShape },
    }),
  ),
  PodDisruptionBudget: specShape(
    objectShape({
      optional: {
        selector: labelSelectorShape,
        maxUnavailable: intOrStringShape,
        minAvailable: intOrStringShape,
        unhealthyPodEvictionPolicy: stringShape,
      },
    }),
  ),
  PriorityClass: objectShape({ required: { metadata, value: integerShape } }),
  StorageClass: objectShape({
    required: { metadata },
    optional: {
      provisioner: stringShape,
      volumeBindingMode: stringShape,
      allowedTopologies: listShape(
        objectShape({
          optional: {
            matchLabelExpressions: listShape(
              objectShape({ required: { key: stringShape, values: listShape(stringShape) } }),
            ),
          },
        }),
      ),
    },
  }),
  CSINode: specShape(
    objectShape({
      optional: {
        drivers: listShape(
          objectShape({
            required: { name: stringShape },
            optional: { allocatable: objectShape({ optional: { count: integerShape } }) },
          }),
        ),
      },
    }),
  ),
  NodePool: specShape(
    objectShape({
      optional: {
        template: objectShape({ optional: { spec: objectShape({}) } }),
        disruption: objectShape({
          optional: { budgets: listShape(objectShape({ optional: { nodes: stringShape } })) },
        }),
      },
    }),
    { status: objectShape({ optional: { conditions } }) },
  ),
  NodeClaim: objectShape({
    required: { metadata },
    optional: {
      spec: objectShape({
        optional: {
          nodeClassRef: objectShape({ required: { group: stringShape, kind: stringShape, name: stringShape } }),
          taints: listShape(taint),
        },
      }),
      status: objectShape({ optional: { ...sizes, conditions, nodeName: stringShape, providerID: stringShape } }),
    },
  }),
  NodeOverlay: karpenterKindShape,
  CapacityBuffer: karpenterKindShape,
  KWOKNodeClass: karpenterKindShape,
  EC2NodeClass: karpenterKindShape,
  AKSNodeClass: karpenterKindShape,
};
