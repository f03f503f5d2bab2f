import { labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import { Random } from "../src/util/random.ts";

/** Sixty deployments and two DaemonSets as a company's cluster might hold them, from a fixed seed. */

const deployments = 60;
const cpusMilli = [50, 100, 250, 500, 1000, 2000, 4000];
const zones = ["us-west-2a", "us-west-2b", "us-west-2c"];

export function deploymentMix(pods: number, seed = 42): readonly KubeObject[] {
  const random = new Random(seed);
  const sizes = sizesOf(pods, random);
  return [
    ...sizes.map((replicas, index) => deployment({ replicas, index, random })),
    daemonSet("agent", { cpu: "100m", memory: "128Mi", spec: {} }),
    daemonSet("arm-agent", { cpu: "200m", memory: "256Mi", spec: { nodeSelector: { [labels.arch]: "arm64" } } }),
  ];
}

/** Draws sizes from 1 to 120, then shares the difference out, so that the total is always the same. */
function sizesOf(pods: number, random: Random): readonly number[] {
  const sizes = Array.from({ length: deployments }, () => 1 + random.int(120));
  let missing = pods - sizes.reduce((sum, size) => sum + size, 0);
  while (missing !== 0) {
    const at = random.int(deployments);
    const step = Math.sign(missing);
    const size = (sizes[at] ?? 0) + step;
    if (size < 1 || size > 120) continue;
    sizes[at] = size;
    missing -= step;
  }
  return sizes;
}

interface Drawn {
  readonly replicas: number;
  readonly index: number;
  readonly random: Random;
}

function deployment({ replicas, index, random }: Drawn): KubeObject {
  const name = `app-${String(index).padStart(2, "0")}`;
  const own = { app: name };
  const cpu = random.pick(cpusMilli);
  const memory = Math.max(64, Math.round((cpu / 1000) * (1 + random.int(8)) * 1024));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: own },
      template: {
        metadata: { labels: own },
        spec: {
          containers: [
            { name: "main", image: "app", resources: { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } } },
          ],
          ...wishes(own, random),
        },
      },
    },
  };
}

/** A quarter spread, tenths of anti-affinity, arm64 and on-demand, a twentieth that would like one zone. */
function wishes(own: Readonly<Record<string, string>>, random: Random): object {
  const labelSelector = { matchLabels: own };
  const isSpread = random.int(4) === 0;
  const isApart = random.int(10) === 0;
  const isArm = random.int(10) === 0;
  const isOnDemand = random.int(10) === 0;
  const prefersZone = random.int(20) === 0;
  const nodeSelector = {
    ...(isArm && { [labels.arch]: "arm64" }),
    ...(isOnDemand && { [labels.capacityType]: "on-demand" }),
  };
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: labels.hostname, labelSelector }] };
  const preference = { matchExpressions: [{ key: labels.zone, operator: "In", values: [random.pick(zones)] }] };
  const near = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
  return {
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(isSpread && {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: labels.zone, whenUnsatisfiable: "DoNotSchedule", labelSelector },
      ],
    }),
    ...((isApart || prefersZone) && {
      affinity: { ...(isApart && { podAntiAffinity: apart }), ...(prefersZone && { nodeAffinity: near }) },
    }),
  };
}

function daemonSet(name: string, { cpu, memory, spec }: { cpu: string; memory: string; spec: object }): KubeObject {
  const own = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: "kube-system" },
    spec: {
      selector: { matchLabels: own },
      template: {
        metadata: { labels: own },
        spec: { containers: [{ name: "main", image: name, resources: { requests: { cpu, memory } } }], ...spec },
      },
    },
  };
}
