import { labels, simulationAnnotations } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";

/** The manifests of a soak: what stays, and what a team brings for some hours and takes away again. */

const cpuPerNode = "4";
const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const teamTaint = (team: string) => ({ key: "example.com/team", value: team, effect: "NoSchedule" });

interface TemplateOptions {
  readonly cpu?: string;
  readonly revision?: number;
  readonly runSeconds?: number;
  readonly team?: string;
}

function podTemplate(app: string, { cpu = "1", revision = 1, runSeconds, team }: TemplateOptions = {}) {
  const tolerations = team === undefined ? [] : [{ key: "example.com/team", operator: "Equal", value: team }];
  const requests = { cpu, memory: "512Mi" };
  const annotations = runSeconds === undefined ? {} : { [simulationAnnotations.runSeconds]: String(runSeconds) };
  return {
    metadata: { labels: { app }, annotations },
    spec: {
      tolerations,
      terminationGracePeriodSeconds: 10,
      containers: [{ name: "main", image: `${app}:${revision}`, resources: { requests } }],
    },
  };
}

function namespaced(apiVersion: string, kind: string, at: Place, spec: object): KubeObject {
  const { name, namespace = "default" } = at;
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}

interface Place {
  readonly name: string;
  readonly namespace?: string;
}

const selectorOf = (app: string) => ({ selector: { matchLabels: { app } } });

export function deployment(at: Place, { replicas = 3, ...options }: TemplateOptions & { readonly replicas?: number }) {
  const template = podTemplate(at.name, options);
  const spread = {
    maxSkew: 1,
    topologyKey: labels.zone,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { app: at.name } },
  };
  const spec = { ...template.spec, topologySpreadConstraints: [spread] };
  return namespaced("apps/v1", "Deployment", at, {
    ...selectorOf(at.name),
    replicas,
    template: { ...template, spec },
  });
}

export function podDisruptionBudget(at: Place) {
  return namespaced("policy/v1", "PodDisruptionBudget", at, { ...selectorOf(at.name), maxUnavailable: "20%" });
}

export function statefulSet(at: Place, options: TemplateOptions & { readonly replicas: number }) {
  const wanted = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "disks",
    resources: { requests: { storage: "1Gi" } },
  };
  return namespaced("apps/v1", "StatefulSet", at, {
    ...selectorOf(at.name),
    serviceName: at.name,
    replicas: options.replicas,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Delete" },
    template: podTemplate(at.name, options),
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: wanted }],
  });
}

export function daemonSet(at: Place, { revision = 1 }: { readonly revision?: number } = {}) {
  const template = podTemplate(at.name, { cpu: "100m", revision });
  const spec = { ...template.spec, tolerations: [{ operator: "Exists" }] };
  return namespaced("apps/v1", "DaemonSet", at, { ...selectorOf(at.name), template: { ...template, spec } });
}

export function job(at: Place, { parallelism, runSeconds }: { parallelism: number; runSeconds: number }) {
  return namespaced("batch/v1", "Job", at, jobSpec(at.name, { parallelism, runSeconds }));
}

export function cronJob(at: Place, schedule: string) {
  return namespaced("batch/v1", "CronJob", at, {
    schedule,
    jobTemplate: { spec: jobSpec(at.name, { parallelism: 3, runSeconds: 240 }) },
  });
}

function jobSpec(app: string, { parallelism, runSeconds }: { parallelism: number; runSeconds: number }) {
  const { metadata, spec } = podTemplate(app, { runSeconds });
  const template = { metadata, spec: { ...spec, restartPolicy: "Never" } };
  return { parallelism, completions: parallelism, ttlSecondsAfterFinished: 600, template };
}

export function capacityBuffer(at: Place, deploymentName: string) {
  const scalableRef = { apiGroup: "apps", kind: "Deployment", name: deploymentName };
  return namespaced("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", at, { scalableRef, replicas: 2 });
}

interface PoolOptions {
  readonly generation?: number;
  readonly team?: string;
  readonly replicas?: number;
}

export function nodePool(name: string, { generation = 1, team, replicas }: PoolOptions = {}): KubeObject {
  const spec = {
    ...(replicas !== undefined && { replicas }),
    disruption: { consolidateAfter: "10m", budgets: [{ nodes: "20%" }] },
    template: {
      metadata: { labels: { "example.com/generation": String(generation) } },
      spec: {
        nodeClassRef,
        ...(team !== undefined && { taints: [teamTaint(team)] }),
        requirements: [
          { key: labels.os, operator: "In", values: ["linux"] },
          { key: labels.arch, operator: "In", values: ["amd64"] },
          { key: "karpenter.kwok.sh/instance-cpu", operator: "In", values: [cpuPerNode] },
        ],
        expireAfter: "72h",
        terminationGracePeriod: "15m",
      },
    },
  };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec };
}

export function nodeOverlay(name: string): KubeObject {
  const requirements = [{ key: labels.nodePool, operator: "In", values: [name] }];
  const spec = { requirements, weight: 10, priceAdjustment: "+10%" };
  return { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata: { name }, spec };
}

/** A kind of the team's own: whoever watches all kinds watches it too. */
export function customResourceDefinition(team: string): KubeObject {
  const group = `${team}.example.com`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

export function namespaceObject(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

export const clusterWide: readonly KubeObject[] = [
  { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" }, spec: {} },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "disks" },
    provisioner: "disks.example.com",
    volumeBindingMode: "WaitForFirstConsumer",
  } as KubeObject,
];
