import { annotations, labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";

/** The scale-out halves of the KWOK performance phases: what each puts into the cluster at first. */

interface Shape {
  readonly cpu: string;
  readonly memory: string;
}

const small: Shape = { cpu: "900m", memory: "3100Mi" };
const large: Shape = { cpu: "3500m", memory: "28Gi" };

type Wish = "host-spread" | "zone-spread" | "one-a-node" | "do-not-disrupt";

interface DeploymentOptions extends Shape {
  readonly replicas: number;
  readonly wishes?: readonly Wish[];
}

export const kwokPhases: Readonly<Record<string, readonly KubeObject[]>> = {
  basic: [deployment("small", { ...small, replicas: 500 }), deployment("large", { ...large, replicas: 500 })],
  "hostname-spread": spreadAndLarge(500),
  "hostname-spread-xl": spreadAndLarge(1000),
  "do-not-disrupt": [
    ...spreadAndLarge(500),
    deployment("protected", { cpu: "900m", memory: "450Mi", replicas: 100, wishes: ["do-not-disrupt"] }),
  ],
  interference: [deployment("small", { ...small, replicas: 500, wishes: ["one-a-node"] })],
  wide: Array.from({ length: 30 }, (_, i) =>
    deployment(`wide-${String(i).padStart(2, "0")}`, {
      cpu: `${225 + 120 * i}m`,
      memory: `${300 + 2100 * i}Mi`,
      replicas: 33,
      wishes: i < 3 ? ["zone-spread", "one-a-node"] : ["zone-spread"],
    }),
  ),
  drift: spreadAndLarge(300),
  "suite-wide": suiteWide(),
};

/** The performance suite's interference phase, in which large pods exclude each other too. */
export const suiteInterference: readonly KubeObject[] = [
  deployment("small", { ...small, replicas: 500, wishes: ["one-a-node"] }),
  deployment("large", { ...large, replicas: 0, wishes: ["one-a-node"] }),
];

/** The thirty deployments of the performance suite's wide phase: cpu in millicores and memory in Mi of each. */
function suiteWide(): readonly KubeObject[] {
  const cpus = [
    240, 450, 650, 900, 1400, 1900, 2400, 2800, 3300, 3700, 2300, 900, 1300, 2800, 1800, 1850, 3300, 3800, 225, 450,
    700, 900, 1300, 1800, 2400, 2800, 3400, 3800, 3300, 2800,
  ];
  const gi = 1024;
  const memories = [
    ...[300, 400, 700, gi, 2 * gi, 4 * gi, 8 * gi, 4 * gi, 16 * gi, 10 * gi],
    ...[64 * gi, 30 * gi, 32 * gi, 32 * gi, 30 * gi, 20 * gi, 30 * gi, 300, 500, 750],
    ...[gi, 2 * gi, 4 * gi, 8 * gi, 16 * gi, 32 * gi, 28 * gi, 64 * gi, 13 * gi, 24 * gi],
  ];
  return cpus.map((cpu, i) =>
    deployment(`wide-${String(i + 1).padStart(2, "0")}`, {
      cpu: `${cpu}m`,
      memory: `${memories[i]}Mi`,
      replicas: i < 20 ? 35 : 30,
      wishes: ["zone-spread", ...(i < 3 ? (["one-a-node"] as const) : i < 6 ? (["host-spread"] as const) : [])],
    }),
  );
}

function spreadAndLarge(count: number): readonly KubeObject[] {
  return [
    deployment("small", { ...small, replicas: count, wishes: ["host-spread"] }),
    deployment("large", { ...large, replicas: count }),
  ];
}

function deployment(name: string, { cpu, memory, replicas, wishes = [] }: DeploymentOptions): KubeObject {
  const own = { app: name };
  const selector = { matchLabels: own };
  const keys = { "host-spread": labels.hostname, "zone-spread": labels.zone } as const;
  const spread = wishes
    .filter((wish) => wish === "host-spread" || wish === "zone-spread")
    .map((wish) => ({
      maxSkew: 1,
      topologyKey: keys[wish],
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: selector,
    }));
  const apart = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: labels.hostname, labelSelector: selector }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector,
      template: {
        metadata: {
          labels: own,
          ...(wishes.includes("do-not-disrupt") && { annotations: { [annotations.doNotDisrupt]: "true" } }),
        },
        spec: {
          containers: [{ name: "main", image: "pause", resources: { requests: { cpu, memory } } }],
          ...(spread.length > 0 && { topologySpreadConstraints: spread }),
          ...(wishes.includes("one-a-node") && { affinity: { podAntiAffinity: apart } }),
        },
      },
    },
  };
}
