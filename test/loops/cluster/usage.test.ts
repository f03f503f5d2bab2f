import { afterEach, describe, expect, it } from "vitest";
import {
  MetricsServer,
  metricsServerController,
} from "../../../src/control-plane/controllers/metrics-server/metrics-server.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { Cluster, podObject } from "./cluster.ts";

const running: Cluster[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

describe("05:CP-L13 usage of a running cluster", () => {
  it("05:CP-L13 is what metrics.k8s.io answers", async () => {
    const reads = new MetricsServer({ clock: new VirtualClock(), seed: "seed" });
    const cluster = new Cluster({ nodes: 2, others: [metricsServerController(reads)] });
    running.push(cluster);
    const kind = (plural: string) => cluster.api.kinds.get({ group: "metrics.k8s.io", version: "v1beta1", plural });
    cluster.api.setComputedObjects(kind("pods"), reads.pods);
    cluster.api.setComputedObjects(kind("nodes"), reads.nodes);
    expect((await cluster.api.list(kind("nodes"))).items).toEqual([]);
    await cluster.start();
    await cluster.create(builtInTypes.Pod, podObject("web", { cpu: "1", memory: "1Gi" }));
    await cluster.pass(10);
    const names = async (plural: string, namespace?: string) =>
      (await cluster.api.list(kind(plural), { namespace })).items.map(({ metadata }) => metadata.name);
    expect(await names("nodes")).toEqual(["node-1", "node-2"]);
    expect(await names("pods")).toEqual(["web"]);
    expect(await names("pods", "kube-system")).toEqual([]);
  });
});
