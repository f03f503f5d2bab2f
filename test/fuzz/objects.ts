import type { KubeObject } from "../../src/api/object.ts";
import type { Random } from "../../src/util/random.ts";

/** Objects as people write them, drawn from a seed. All of them are valid. */

export const namespace = "default";
const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const team = { key: "example.com/team", value: "a", effect: "NoSchedule" };
const doNotDisrupt = { "karpenter.sh/do-not-disrupt": "true" };

export const nodeClass: KubeObject = object("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "default", {});

export function workload(kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Job", name: string, random: Random) {
  const template = kind === "DaemonSet" ? daemonTemplate(name, random) : podTemplate(name, random);
  const selector = { matchLabels: { app: name } };
  const replicas = random.int(9);
  switch (kind) {
    case "Deployment":
      return spaced("apps/v1", kind, name, { replicas, selector, template });
    case "StatefulSet":
      return spaced("apps/v1", kind, name, { replicas: 1 + random.int(4), serviceName: name, selector, template });
    case "DaemonSet":
      return spaced("apps/v1", kind, name, { selector, template });
    case "Job": {
      const spec = { ...template.spec, restartPolicy: "Never" };
      return spaced("batch/v1", kind, name, {
        parallelism: 1 + random.int(4),
        completions: 1 + random.int(6),
        template: { ...template, spec },
      });
    }
  }
}

export function barePod(name: string, random: Random): KubeObject {
  const { metadata, spec } = podTemplate(name, random);
  const gated = chance(random, 0.2) ? { schedulingGates: [{ name: "example.com/wait" }] } : {};
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name, namespace }, spec: { ...spec, ...gated } };
}

export function budget(app: string, random: Random): KubeObject {
  const spec = random.pick([
    { maxUnavailable: 1 },
    { maxUnavailable: 1 },
    { maxUnavailable: "34%" },
    { minAvailable: 1 },
    { minAvailable: "50%" },
    { maxUnavailable: 0 },
    { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" },
  ]);
  return spaced("policy/v1", "PodDisruptionBudget", app, { selector: { matchLabels: { app } }, ...spec });
}

export function pool(name: string, random: Random, { replicas }: { readonly replicas?: number } = {}): KubeObject {
  const limits = poolLimits(random, replicas !== undefined);
  return object("karpenter.sh/v1", "NodePool", name, {
    ...(replicas === undefined ? weighted(random) : { replicas }),
    ...(limits && { limits }),
    ...poolDisruption(random.fork("disruption"), replicas !== undefined),
    template: {
      metadata: { labels: { "example.com/pool": name } },
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: poolRequirements(random),
        expireAfter: chance(random, 0.1) ? random.pick(["40m", "2h"]) : "Never",
        ...(chance(random, 0.3) && { terminationGracePeriod: random.pick(["30s", "5m", "1h"]) }),
        ...(chance(random, 0.2) && { taints: [team] }),
        ...(chance(random, 0.1) && { startupTaints: [] }),
      },
    },
  });
}

export function overlay(name: string, random: Random): KubeObject {
  const requirements = [
    { key: "karpenter.sh/capacity-type", operator: "In", values: [random.pick(["spot", "on-demand"])] },
  ];
  const spec = random.pick([
    { priceAdjustment: "+20%" },
    { price: "0.01" },
    { capacity: { "example.com/slots": "4" } },
  ]);
  return object("karpenter.sh/v1alpha1", "NodeOverlay", name, { requirements, weight: 1 + random.int(100), ...spec });
}

/** Room for a few more pods of a deployment. */
export function buffer(name: string, app: string, random: Random): KubeObject {
  const scalableRef = { apiGroup: "apps", kind: "Deployment", name: app };
  return spaced("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", name, { scalableRef, replicas: 1 + random.int(3) });
}

/** The defaults, or when and how many of its nodes may go. A static pool has budgets only. */
function poolDisruption(random: Random, isStatic: boolean): object {
  if (chance(random, 0.3)) return {};
  const budgets = random.pick([
    [{ nodes: "100%" }],
    [{ nodes: "100%" }],
    [{ nodes: "1" }],
    [{ nodes: "50%" }],
    [{ nodes: "0", reasons: ["Drifted"] }, { nodes: "2" }],
    [{ nodes: "0", reasons: ["Empty", "Underutilized"] }, { nodes: "1" }],
    [{ nodes: "100%" }, { nodes: "0", schedule: "*/20 * * * *", duration: "5m" }],
    [{ nodes: "1" }, { nodes: "0", schedule: "30 * * * *", duration: "10m", reasons: ["Underutilized"] }],
  ]);
  if (isStatic) return { disruption: { consolidateAfter: "Never", budgets } };
  const consolidationPolicy = random.pick([
    "WhenEmptyOrUnderutilized",
    "WhenEmptyOrUnderutilized",
    "WhenEmpty",
    "Balanced",
  ]);
  return {
    disruption: { consolidationPolicy, consolidateAfter: random.pick(["0s", "0s", "30s", "5m", "Never"]), budgets },
  };
}

function poolLimits(random: Random, isStatic: boolean): Readonly<Record<string, string>> | undefined {
  if (isStatic) return chance(random, 0.5) ? { nodes: String(1 + random.int(4)) } : undefined;
  if (chance(random, 0.5)) return undefined;
  return random.pick([
    { cpu: String(4 + random.int(40)) },
    { memory: `${16 + random.int(64)}Gi` },
    { nodes: String(1 + random.int(6)) },
    { cpu: String(8 + random.int(64)), nodes: String(1 + random.int(8)) },
  ] as readonly Readonly<Record<string, string>>[]);
}

function weighted(random: Random): object {
  return chance(random, 0.4) ? { weight: 1 + random.int(100) } : {};
}

function poolRequirements(random: Random): readonly object[] {
  const within = (key: string, values: readonly string[]) => ({ key, operator: "In", values });
  return [
    within("kubernetes.io/os", ["linux"]),
    ...(chance(random, 0.8) ? [within("kubernetes.io/arch", ["amd64"])] : []),
    ...(chance(random, 0.3) ? [within("karpenter.sh/capacity-type", [random.pick(["spot", "on-demand"])])] : []),
    ...(chance(random, 0.2) ? [within("topology.kubernetes.io/zone", random.shuffle(zones).slice(0, 2))] : []),
    ...(chance(random, 0.3) ? [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["17"] }] : []),
  ];
}

function podTemplate(app: string, random: Random) {
  const labels = { app };
  const requests = {
    cpu: random.pick(["100m", "250m", "500m", "1", "1", "2", "3500m", "7"]),
    memory: random.pick(["128Mi", "512Mi", "1Gi", "2Gi", "6Gi"]),
  };
  return {
    metadata: { labels, ...(chance(random, 0.12) && { annotations: doNotDisrupt }) },
    spec: {
      terminationGracePeriodSeconds: random.pick([0, 1, 5, 30]),
      ...placement(app, random),
      ...(chance(random, 0.4) && { tolerations: [{ key: team.key, operator: "Exists" }] }),
      containers: [{ name: "main", image: "app:1", resources: { requests } }],
    },
  };
}

function daemonTemplate(app: string, random: Random) {
  const requests = { cpu: random.pick(["50m", "200m"]), memory: "64Mi" };
  return {
    metadata: { labels: { app } },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...(chance(random, 0.6) && { tolerations: [{ operator: "Exists" }] }),
      containers: [{ name: "main", image: "agent:1", resources: { requests } }],
    },
  };
}

function placement(app: string, random: Random): object {
  const labelSelector = { matchLabels: { app } };
  const spread = (topologyKey: string, whenUnsatisfiable: string) => ({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector }],
  });
  const apart = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: "kubernetes.io/hostname" }],
  };
  const roll = random.next();
  if (roll < 0.55) return {};
  if (roll < 0.65) return spread("topology.kubernetes.io/zone", random.pick(["DoNotSchedule", "ScheduleAnyway"]));
  if (roll < 0.72) return spread("kubernetes.io/hostname", random.pick(["DoNotSchedule", "ScheduleAnyway"]));
  if (roll < 0.82) return { affinity: { podAntiAffinity: apart } };
  if (roll < 0.9) return { nodeSelector: { "topology.kubernetes.io/zone": random.pick(zones) } };
  if (roll < 0.96) return { nodeSelector: { "karpenter.sh/capacity-type": random.pick(["spot", "on-demand"]) } };
  return { nodeSelector: { "example.com/pool": random.pick(["a", "b", "nowhere"]) } };
}

export function chance(random: Random, likelihood: number): boolean {
  return random.next() < likelihood;
}

export function object(apiVersion: string, kind: string, name: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name }, spec };
}

function spaced(apiVersion: string, kind: string, name: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}
