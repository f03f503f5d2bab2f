import type { Pod, PodSpec } from "../src/api/kubernetes/pod.ts";
import { labels } from "../src/api/labels.ts";
import { Random } from "../src/util/random.ts";

/** The scheduling mixes of 02 §10.2, from a fixed seed. */

const values = ["a", "b", "c", "d", "e", "f", "g"];
const cpus = ["100m", "250m", "500m", "1000m", "1500m"];
const memories = ["100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"];

interface Drawn {
  readonly random: Random;
  readonly index: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Partial<PodSpec>;
}

function pod({ random, index, labels: podLabels, spec }: Drawn): Pod {
  const requests = { cpu: random.pick(cpus), memory: random.pick(memories) };
  const name = `pod-${String(index).padStart(6, "0")}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: podLabels,
    },
    spec: { containers: [{ name: "main", resources: { requests } }], ...spec },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  };
}

const labelled = (random: Random): Record<string, string> => ({ "my-label": random.pick(values) });

const spread =
  (key: string) =>
  (random: Random): Partial<PodSpec> => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: key,
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { "my-label": random.pick(values) } },
      },
    ],
  });

/** Fifths of plain, zone spread, host spread, zone self-affinity and host anti-affinity; the rest plain. */
export function diverse(count: number, seed = 42): readonly Pod[] {
  const random = new Random(seed);
  const fifth = Math.floor(count / 5);
  const kinds: readonly ((index: number) => Pod)[] = [
    (index) => pod({ random, index, labels: labelled(random), spec: {} }),
    (index) => pod({ random, index, labels: labelled(random), spec: spread(labels.zone)(random) }),
    (index) => pod({ random, index, labels: labelled(random), spec: spread(labels.hostname)(random) }),
    (index) => {
      const own = { "my-affininity": random.pick(values) };
      const term = { topologyKey: labels.zone, labelSelector: { matchLabels: own } };
      const spec = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
      return pod({ random, index, labels: own, spec });
    },
    (index) => {
      const own = { app: "nginx" };
      const term = { topologyKey: labels.hostname, labelSelector: { matchLabels: own } };
      const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
      return pod({ random, index, labels: own, spec });
    },
  ];
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[Math.min(Math.floor(index / Math.max(1, fifth)), 5) % 5] ?? kinds[0];
    return (kind as (index: number) => Pod)(index);
  });
}

/** Preferences that can and cannot be had: a zone, no neighbour in the zone, no neighbour on the host. */
export function preferences(count: number, seed = 42): readonly Pod[] {
  const random = new Random(seed);
  const own = { app: "nginx" };
  const away = (topologyKey: string, weight: number) => ({
    weight,
    podAffinityTerm: { topologyKey, labelSelector: { matchLabels: own } },
  });
  const spec: Partial<PodSpec> = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            preference: { matchExpressions: [{ key: labels.zone, operator: "In", values: ["test-zone-1"] }] },
          },
        ],
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [away(labels.zone, 10), away(labels.hostname, 1)],
      },
    },
  };
  return Array.from({ length: count }, (_, index) => pod({ random, index, labels: own, spec }));
}
