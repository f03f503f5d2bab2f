import { Gauge, Registry } from "prom-client";
import { stringify } from "yaml";
import { readManifests } from "../src/api/manifest/read.ts";
import { quickYaml } from "../src/cli/plan/quick-yaml.ts";
import { scanJson } from "../src/control-plane/http/json-scan.ts";
import { LiveGauge } from "../src/operator/metrics/live-gauge.ts";
import { metricsExposition } from "../src/operator/metrics/metrics-exposition.ts";

/** Hand-written parts against the library that could do the same: the figures of docs/designs/dependencies.md. */
const runs = 5;

function pod(index: number): unknown {
  const labels = { app: `web-${index % 50}`, tier: "front" };
  const zone = "topology.kubernetes.io/zone";
  const spread = {
    topologyKey: zone,
    maxSkew: 1,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: labels },
  };
  const resources = { requests: { cpu: "500m", memory: "1Gi" }, limits: { memory: "1Gi" } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `web-${index}`, namespace: "default", labels },
    spec: {
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [{ key: "dedicated", operator: "Exists" }],
      topologySpreadConstraints: [spread],
      containers: [{ name: "app", image: "nginx:1.25", resources }],
    },
  };
}

async function fastest(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < runs; round++) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return Math.min(...times);
}

async function compare(what: string, sides: Readonly<Record<string, () => unknown>>): Promise<void> {
  console.log(what);
  for (const [name, run] of Object.entries(sides))
    console.log(`  ${name.padEnd(24)} ${(await fastest(run)).toFixed(1)} ms`);
}

const pods = Array.from({ length: 5_000 }, (_, index) => pod(index));
const yaml = pods.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n");
if (quickYaml(yaml)?.length !== pods.length) throw new Error("the quick reader does not read this file");
await compare(`5,000 pods as YAML, ${(yaml.length / 1e6).toFixed(1)} MB`, {
  quickYaml: () => quickYaml(yaml),
  "yaml (with positions)": () => readManifests(yaml, "pods.yaml"),
});

const json = JSON.stringify({ apiVersion: "v1", kind: "List", items: pods });
await compare(`the same as JSON, ${(json.length / 1e6).toFixed(1)} MB`, {
  "JSON.parse": () => JSON.parse(json),
  "scanJson before it": () => scanJson(json, { maxDepth: 200, maxValues: Number.POSITIVE_INFINITY }),
});

const labelNames = ["name", "namespace", "phase", "node"];
const series = Array.from({ length: 50_000 }, (_, index) => ({
  labels: { name: `web-${index}`, namespace: "default", phase: "Running", node: `node-${index % 500}` },
  value: 1,
}));
const ours = new Registry();
new LiveGauge({ name: "pods", help: "pods", labelNames, registers: [ours] }).collectFrom(() => series);
const theirs = new Registry();
const stored = new Gauge({ name: "pods", help: "pods", labelNames, registers: [theirs] });
await compare("metrics with a series for each of 50,000 pods", {
  metricsExposition: async () => {
    for await (const _ of metricsExposition(ours, async () => {}));
  },
  "prom-client": () => {
    stored.reset();
    for (const { labels, value } of series) stored.set(labels, value);
    return theirs.metrics();
  },
});
