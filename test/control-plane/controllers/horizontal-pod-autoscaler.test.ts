import { afterEach, describe, expect, it } from "vitest";
import { simulationAnnotations } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { AutoscalerStatus } from "../../../src/control-plane/controllers/autoscaling/autoscaler-types.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { kwokClass, pool } from "../../stories/manifests.ts";
import { type TestWorld, testWorld } from "../../world/test-world.ts";

let world: TestWorld;
afterEach(() => world.stop());

type Live = KubeObject & { readonly spec: { readonly replicas: number }; readonly status: AutoscalerStatus };
const { Deployment, HorizontalPodAutoscaler } = builtInTypes;

/** Pods of one cpu that use so much together. */
function deployment(replicas: number, load: string, requests: object = { cpu: "1" }) {
  const labels = { app: "web" };
  const containers = [{ name: "main", image: "app:1", resources: { requests } }];
  const template = { metadata: { labels }, spec: { containers } };
  const metadata = { name: "web", namespace: "default", annotations: { [simulationAnnotations.cpuLoad]: load } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

function autoscaler(spec: object = {}) {
  const target = { type: "Utilization", averageUtilization: 50 };
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "default" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
      ...spec,
    },
  };
}

async function started(...objects: readonly KubeObject[]): Promise<void> {
  world = await testWorld({ seed: "autoscaler" });
  world.startCluster();
  world.startOperator("operator");
  const disruption = { consolidateAfter: "Never", budgets: [{ nodes: "0" }] };
  await world.create(kwokClass, pool({ spec: { disruption } }), ...objects);
  await world.pass(90);
}

const key = { name: "web", namespace: "default" };
const replicas = async () => (await world.client.get<Live>(Deployment, key)).spec.replicas;
const statusNow = async () => (await world.client.get<Live>(HorizontalPodAutoscaler, key)).status;
const reasonOf = async (type: string) => (await statusNow()).conditions?.find((one) => one.type === type)?.reason;
async function setLoad(load: string): Promise<void> {
  const body = { metadata: { annotations: { [simulationAnnotations.cpuLoad]: load } } };
  await world.client.patch(Deployment, key, { kind: "merge", body });
}

describe("05:CP-L16 autoscalers of workloads", () => {
  it("05:CP-L16 replicas follow the usage of pods up to the maximum", async () => {
    await started(deployment(4, "3"), autoscaler());
    expect(await replicas()).toBe(6); // half a cpu each
    expect(await statusNow()).toMatchObject({ currentReplicas: 6, desiredReplicas: 6 });
    await setLoad("7");
    await world.pass(60);
    expect(await replicas()).toBe(10);
    expect(await reasonOf("ScalingLimited")).toBe("TooManyReplicas");
    expect(await reasonOf("ScalingActive")).toBe("ValidMetricFound");
  });

  it("05:CP-L16 they go down to the minimum only after five minutes of less usage", async () => {
    await started(deployment(6, "3"), autoscaler());
    await setLoad("100m");
    await world.pass(240);
    expect(await replicas()).toBe(6);
    expect(await reasonOf("AbleToScale")).toBe("ScaleDownStabilized");
    await world.pass(90);
    expect(await replicas()).toBe(2);
    expect(await reasonOf("ScalingLimited")).toBe("TooFewReplicas");
  });

  it("05:CP-L16 usage near the target changes nothing", async () => {
    await started(deployment(4, "2160m"), autoscaler());
    await world.pass(600);
    expect(await replicas()).toBe(4);
    expect((await statusNow()).currentMetrics).toEqual([
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 54, averageValue: "540m" } } },
    ]);
  });

  it("05:CP-L16 policies bound the pace", async () => {
    const scaleUp = { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] };
    await started(deployment(2, "5"), autoscaler({ behavior: { scaleUp } }));
    const first = await replicas();
    await world.pass(60);
    expect((await replicas()) - first).toBe(1);
  });

  it("05:CP-L16 a target that is missing, pods without requests and unknown metrics are told, and scale nothing", async () => {
    await started(autoscaler());
    expect(await reasonOf("AbleToScale")).toBe("FailedGetScale");
    await world.create(deployment(3, "3", {}));
    await world.pass(60);
    expect(await reasonOf("ScalingActive")).toBe("FailedGetResourceMetric");
    const metric = { type: "External", external: { metric: { name: "queue" }, target: { type: "Value", value: "3" } } };
    const patch = { kind: "merge", body: { spec: { metrics: [metric] } } } as const;
    await world.client.patch(HorizontalPodAutoscaler, key, patch);
    await world.pass(30);
    expect(await reasonOf("ScalingActive")).toBe("FailedGetExternalMetric");
    expect(await replicas()).toBe(3);
    expect(world.failures).toEqual([]);
  });

  it("05:CP-L16 a workload at zero stays there", async () => {
    await started(deployment(0, "3"), autoscaler());
    await world.pass(60);
    expect(await replicas()).toBe(0);
    expect(await reasonOf("ScalingActive")).toBe("ScalingDisabled");
  });
});
