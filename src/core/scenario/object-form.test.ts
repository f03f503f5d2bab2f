import { describe, expect, it } from "vitest";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { readInputObject } from "./object-form.ts";

const fields = new BuiltInFields();
const problems = (object: unknown) =>
  readInputObject(object as KubeObject, fields).problems.map(({ code, path }) => `${formatPath(path)} ${code}`);

const pod = (spec: unknown, metadata: unknown = { name: "p" }) => ({ apiVersion: "v1", kind: "Pod", metadata, spec });
const container = (more: object = {}) => ({ containers: [{ name: "app", ...more }] });
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {},
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: container() },
  },
};
const workload = (kind: string, spec: object, apiVersion = "apps/v1") => ({ apiVersion, kind, metadata: {}, spec });
const labelled = { metadata: { labels: { app: "web" } }, spec: container() };

describe("the form of input objects", () => {
  it.each<[string, unknown, readonly string[]]>([
    ["nothing is wrong", pod(container({ resources: { requests: { cpu: 1, memory: "1Gi" } } })), []],
    ["a spec that is text", pod("x"), ["spec type"]],
    ["no containers", pod({}), ["spec.containers required"]],
    ["an empty list of containers", pod({ containers: [] }), ["spec.containers too-few"]],
    [
      "a quantity that is none",
      pod(container({ resources: { limits: { cpu: "1 core" } } })),
      ["spec.containers[0].resources.limits.cpu format"],
    ],
    [
      "a request below zero",
      pod(container({ resources: { requests: { cpu: "-1" } } })),
      ["spec.containers[0].resources.requests.cpu too-small"],
    ],
    [
      "a label that is a number",
      pod(container(), { name: "p", labels: { version: 1 } }),
      ["metadata.labels.version type"],
    ],
    [
      "a misspelt field",
      pod({ ...container(), topologySpreadConstraint: [] }),
      ["spec.topologySpreadConstraint unknown-field"],
    ],
    ["a field of pods we do not read", pod({ ...container(), restartPolicy: "Never" }), []],
    ["a selector of numbers", pod({ ...container(), nodeSelector: { gpu: true } }), ["spec.nodeSelector.gpu type"]],
    ["replicas in quotes", { ...deployment, spec: { ...deployment.spec, replicas: "3" } }, ["spec.replicas type"]],
    [
      "fewer than no replicas",
      { ...deployment, spec: { ...deployment.spec, replicas: -1 } },
      ["spec.replicas too-small"],
    ],
    ["a pool without spec", { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: {} }, ["spec required"]],
    [
      "a claim whose node class has no name",
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {},
        spec: { nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass" } },
      },
      ["spec.nodeClassRef.name required"],
    ],
    [
      "a misspelt field of a Deployment",
      { ...deployment, spec: { ...deployment.spec, replica: 2 } },
      ["spec.replica unknown-field"],
    ],
    [
      "too many replicas",
      { ...deployment, spec: { ...deployment.spec, replicas: 100_001 } },
      ["spec.replicas too-large"],
    ],
    [
      "too many replicas of a ReplicationController",
      workload("ReplicationController", { replicas: 100_001, template: labelled }, "v1"),
      ["spec.replicas too-large"],
    ],
    [
      "a ReplicationController without template",
      workload("ReplicationController", { selector: { app: "web" } }, "v1"),
      ["spec.template required"],
    ],
    ["a Deployment without selector", workload("Deployment", { template: labelled }), ["spec.selector required"]],
    [
      "a StatefulSet with an empty selector",
      workload("StatefulSet", { selector: {}, template: labelled }),
      ["spec.selector required"],
    ],
    [
      "a DaemonSet whose selector names no labels",
      workload("DaemonSet", { selector: { matchLabels: {}, matchExpressions: [] }, template: labelled }),
      ["spec.selector required"],
    ],
    [
      "a ReplicaSet without selector and labels",
      workload("ReplicaSet", { template: { spec: container() } }),
      ["spec.selector required"],
    ],
    [
      "a ReplicationController, whose labels are its selector",
      workload("ReplicationController", { template: labelled }, "v1"),
      [],
    ],
    [
      "a ReplicationController without selector and labels",
      workload("ReplicationController", { template: { spec: container() } }, "v1"),
      ["spec.selector required"],
    ],
    ["a Job, which gets its selector", workload("Job", { template: { spec: container() } }, "batch/v1"), []],
    ["a kind that may need none", workload("Rollout", { template: labelled }, "argoproj.io/v1alpha1"), []],
    [
      "a ReplicationController without metadata and spec",
      { apiVersion: "v1", kind: "ReplicationController" },
      ["metadata required", "spec required"],
    ],
    ["a Node without metadata", { apiVersion: "v1", kind: "Node" }, ["metadata required"]],
    [
      "a time that is none",
      { apiVersion: "v1", kind: "Node", metadata: { deletionTimestamp: "soon" } },
      ["metadata.deletionTimestamp format"],
    ],
  ])("%s", (_, object, expected) => {
    expect(problems(object)).toEqual(expected);
  });
});

describe("counts and amounts that input may have", () => {
  const bounded = (kind: string, apiVersion: string, field: string, more: object = {}) =>
    [`${kind}.${field}`, (value: unknown) => workload(kind, { ...more, [field]: value }, apiVersion), field] as const;
  const pods = { selector: { matchLabels: { app: "web" } }, template: labelled };
  const target = { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 3 };
  const counts = [
    bounded("Deployment", "apps/v1", "replicas", pods),
    bounded("ReplicaSet", "apps/v1", "replicas", pods),
    bounded("StatefulSet", "apps/v1", "replicas", pods),
    bounded("ReplicationController", "v1", "replicas", { template: labelled }),
    bounded("Job", "batch/v1", "parallelism", { template: labelled }),
    bounded("HorizontalPodAutoscaler", "autoscaling/v1", "minReplicas", target),
    bounded("HorizontalPodAutoscaler", "autoscaling/v2", "minReplicas", target),
    bounded("HorizontalPodAutoscaler", "autoscaling/v2", "maxReplicas", target),
    bounded("Rollout", "argoproj.io/v1alpha1", "replicas", { template: labelled }),
  ];

  it.each(counts)("05 §5 %s is from 0 to 100,000", (_, withValue, field) => {
    expect([0, 100_000].flatMap((value) => problems(withValue(value)))).toEqual([]);
    expect([-1, 100_001].flatMap((value) => problems(withValue(value)))).toEqual([
      `spec.${field} too-small`,
      `spec.${field} too-large`,
    ]);
  });

  it.each<[string, (amount: string | number) => unknown, string]>([
    [
      "completions",
      (value) => workload("Job", { template: labelled, completions: value }, "batch/v1"),
      "spec.completions",
    ],
    [
      "terminationGracePeriodSeconds",
      (value) => pod({ ...container(), terminationGracePeriodSeconds: value }),
      "spec.terminationGracePeriodSeconds",
    ],
    ["overhead", (value) => pod({ ...container(), overhead: { cpu: value } }), "spec.overhead.cpu"],
    [
      "limits",
      (value) => pod(container({ resources: { limits: { cpu: value } } })),
      "spec.containers[0].resources.limits.cpu",
    ],
    [
      "capacity of a Node",
      (value) => ({ apiVersion: "v1", kind: "Node", metadata: {}, status: { capacity: { cpu: value } } }),
      "status.capacity.cpu",
    ],
    [
      "allocatable of a Node",
      (value) => ({ apiVersion: "v1", kind: "Node", metadata: {}, status: { allocatable: { cpu: value } } }),
      "status.allocatable.cpu",
    ],
  ])("05 §5 %s is not below zero", (_, withValue, path) => {
    expect(problems(withValue(0))).toEqual([]);
    expect(problems(withValue(-1))).toEqual([`${path} too-small`]);
  });
});

describe("what input must have", () => {
  const metadata = { name: "x", ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] };
  const selector = { matchExpressions: [{ key: "a", operator: "Exists" }] };
  const terms = { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }] };
  const affinityTerm = { topologyKey: "zone", labelSelector: selector };
  const spec = {
    containers: [{ name: "app", resources: { claims: [{ name: "gpu" }] } }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    resourceClaims: [{ name: "gpu" }],
    schedulingGates: [{ name: "wait" }],
    topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: terms,
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }],
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [affinityTerm],
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: affinityTerm }],
      },
    },
  };
  const template = { metadata: { labels: { app: "web" } }, spec };
  const selecting = { selector: { matchLabels: { app: "web" } }, template };
  const conditions = [{ type: "Ready", status: "True" }];
  const full: readonly (KubeObject & Record<string, unknown>)[] = [
    { apiVersion: "v1", kind: "Pod", metadata, spec, status: { conditions, containerStatuses: [{ name: "app" }] } },
    {
      apiVersion: "v1",
      kind: "Node",
      metadata,
      spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
      status: { conditions },
    },
    { apiVersion: "v1", kind: "PersistentVolume", metadata, spec: { csi: { driver: "d" } } },
    { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: {} },
    { apiVersion: "v1", kind: "PodTemplate", metadata, template },
    { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: selecting },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: selecting },
    { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: selecting },
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec: selecting },
    { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template }, status: { conditions } },
    { apiVersion: "batch/v1", kind: "CronJob", metadata, spec: { jobTemplate: { spec: { template } } } },
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec: {} },
    { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata, value: 1 },
    { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata, spec: { drivers: [{ name: "d" }] } },
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata,
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }] }],
    },
    { apiVersion: "v1", kind: "LimitRange", metadata, spec: {} },
    { apiVersion: "v1", kind: "Namespace", metadata },
    { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata },
    ...["v1", "v2"].map((version) => ({
      apiVersion: `autoscaling/${version}`,
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 3 },
    })),
    { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata, spec: {} },
    { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata },
    { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata },
    { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", metadata },
    { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata },
    { apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", metadata },
  ];
  /** What may be left out of these objects, by the end of its path. */
  const mayBeMissing = [
    /^(status|metadata\.name|metadata\.ownerReferences|allowedTopologies)$/,
    /\.(resources|claims|volumes|persistentVolumeClaim|resourceClaims|schedulingGates|topologySpreadConstraints)$/,
    /\.(affinity|nodeAffinity|podAffinity|labelSelector|matchExpressions|\w+DuringSchedulingIgnoredDuringExecution)$/,
    /\.(conditions|containerStatuses|taints|csi|drivers|matchLabelExpressions)$/,
    /\btemplate\.metadata(\.labels(\.app)?)?$/, // then the selector selects nothing
    /\bcontainers\.0\.name$/, // a container without a name is named by its place
  ];
  const isOptional = (kind: string, path: readonly (string | number)[]) =>
    mayBeMissing.some((pattern) => pattern.test(path.join("."))) || (kind === "Node" && path.join(".") === "spec");

  it.each(full.map((object) => [object.kind, object] as const))(
    "01 §0.1 every other field of a %s here is required",
    (kind, object) => {
      expect(problems(object)).toEqual([]);
      for (const path of pathsIn(object)) {
        if (path.length === 1 && (path[0] === "apiVersion" || path[0] === "kind")) continue;
        expect([path.join("."), problems(without(object, path)).some((one) => one.endsWith("required"))]).toEqual([
          path.join("."),
          !isOptional(kind, path),
        ]);
      }
    },
  );
});

/** The fields of an object, each with its path. */
function pathsIn(value: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return Array.isArray(value) ? pathsIn(inner, here) : [here, ...pathsIn(inner, here)];
  });
}

function without(value: unknown, [head, ...rest]: readonly (string | number)[]): unknown {
  if (Array.isArray(value)) return value.map((item, at) => (at === head ? without(item, rest) : item));
  const { [head as string]: inner, ...others } = value as Readonly<Record<string, unknown>>;
  return rest.length === 0 ? others : { ...others, [head as string]: without(inner, rest) };
}
