import { afterEach, describe, expect, it } from "vitest";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { ClusterWorld, type ClusterWorldOptions, podObject } from "./cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

async function started(options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld(options).start();
  running.push(cluster);
  return cluster;
}

const zone = "topology.kubernetes.io/zone";
const hostname = "kubernetes.io/hostname";

/** Pods of every sort, as a busy cluster has them. */
function mixedPod(at: number) {
  const group = `g${Math.floor(at / 6) % 10}`;
  const labels = { app: group };
  const labelSelector = { matchLabels: labels };
  const spread = { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "DoNotSchedule", labelSelector };
  const apart = { weight: 10, podAffinityTerm: { topologyKey: hostname, labelSelector } };
  const specs: readonly Readonly<Record<string, unknown>>[] = [
    {},
    { topologySpreadConstraints: [spread] },
    { nodeSelector: { [zone]: `simulated-${"abc"[at % 3]}` } },
    { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] } } },
    { tolerations: [{ operator: "Exists" }] },
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: zone, labelSelector: { matchLabels: { tier: group } } },
          ],
        },
      },
    },
  ];
  const spec = specs[at % specs.length] ?? {};
  return podObject(`pod-${String(at).padStart(3, "0")}`, {
    cpu: "100m",
    memory: "128Mi",
    labels: { ...labels, tier: group },
    spec,
  });
}

async function mixed(seed: string, pods: number): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld({ seed, nodes: 20, keepsLog: true }).start();
  for (let at = 0; at < pods; at++) await cluster.create(builtInTypes.Pod, mixedPod(at));
  await cluster.pass(30);
  return cluster;
}

describe("a cluster in virtual time", () => {
  it("05:CP-L9 05:CP-L10 runs 300 pods of mixed constraints on 20 nodes", async () => {
    const cluster = await mixed("one", 300);
    const pods = await cluster.pods();
    await cluster.stop();
    expect([...new Set(pods.map(({ status }) => status?.phase))]).toEqual(["Running"]);
    expect(pods.length).toBe(300);
    expect(cluster.failures).toEqual([]);
  }, 60_000);

  it("05:CP-T3 writes the same for the same seed, byte for byte, and something else for another", async () => {
    // Every write with its time, names, uids and versions.
    const logOf = async (seed: string): Promise<readonly string[]> => {
      const cluster = await mixed(seed, 100);
      await cluster.stop();
      return cluster.log;
    };
    const log = await logOf("one");
    expect(log.length).toBeGreaterThan(100 * 5);
    expect((await logOf("one")).join("\n") === log.join("\n")).toBe(true);
    expect((await logOf("two")).join("\n") === log.join("\n")).toBe(false);
  }, 60_000);

  it("05:CP-T4 gets there on a client that fails in every way, with the loops dying in between", async () => {
    const cluster = await started({ nodes: 6, failureRate: 0.15 });
    for (let at = 0; at < 40; at++) await cluster.create(builtInTypes.Pod, mixedPod(at));
    for (let restarts = 0; restarts < 3; restarts++) {
      await cluster.pass(2);
      await cluster.restart();
    }
    await cluster.pass(300);
    const pods = await cluster.pods();
    expect(pods.map(({ status }) => status?.phase)).toEqual(Array.from({ length: 40 }, () => "Running"));
    expect(cluster.injectedFailures).toBeGreaterThan(50);
    for (const { metadata } of pods.slice(0, 20)) {
      await cluster.client.delete(builtInTypes.Pod, { name: metadata.name ?? "", namespace: "default" });
    }
    await cluster.pass(300);
    expect(await cluster.pods()).toHaveLength(20);
  }, 60_000);

  it("05:CP-L10 costs an idle cluster no writes: a day of 100 nodes", async () => {
    const cluster = await started({ nodes: 100 });
    await cluster.pass(60);
    const { revision } = cluster.api;
    const before = process.cpuUsage();
    await cluster.pass(24 * 3600);
    const { user, system } = process.cpuUsage(before);
    expect(cluster.api.revision).toBe(revision);
    expect((user + system) / 1_000).toBeLessThan(10_000);
  }, 30_000);
});
