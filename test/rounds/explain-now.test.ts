import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { testWorld } from "../world/test-world.ts";

const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

function pool(cpu: string): KubeObject {
  const requirements = [
    { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
  ];
  const spec = { limits: { cpu }, template: { spec: { nodeClassRef, requirements } } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" }, spec };
}

/** No two of them share a node. */
function pods(count: number): readonly KubeObject[] {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "web" } } };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const container = { name: "app", image: "web", resources: { requests: { cpu: "700m" } } };
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `web-${index}`, namespace: "default", labels: { app: "web" } },
    spec: { affinity, containers: [container] },
  }));
}

describe("what the running controller says of a pod before its round", () => {
  it.each([
    ["64", "on-new-node"],
    ["2", "unplaced"],
  ])("02:H-1 with a limit of %s cpus the last of three pods is %s", async (limit, outcome) => {
    const world = await testWorld({ seed: "explain-now" });
    world.startCluster();
    const { explanations } = world.startOperator("one");
    const nodeClass = {
      apiVersion: "karpenter.kwok.sh/v1alpha1",
      kind: "KWOKNodeClass",
      metadata: { name: "default" },
    };
    await world.create(nodeClass, pool(limit));
    await world.pass(5);
    await world.create(...pods(3));
    await world.pass(0.3);
    const replies = await world.during(
      Promise.all(["0", "1", "2"].map((at) => explanations.pod(`default/web-${at}`))),
      0,
    );
    await world.stop();
    const kinds = replies.map((reply) => (reply.kind === "explained" ? reply.explanation.outcome.kind : reply.kind));
    expect(kinds.sort().at(-1)).toBe(outcome);
    expect(kinds.filter((kind) => kind === "on-new-node").length).toBe(limit === "64" ? 3 : 2);
  });
});
