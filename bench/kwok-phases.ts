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
};

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
