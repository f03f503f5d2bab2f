import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { autoscalerConversion } from "./autoscaler-conversion.ts";

const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };
const memory = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
};
const stored = (spec: object): KubeObject => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "default", annotations: { note: "x" } },
  spec: { maxReplicas: 5, ...spec },
});
const shown = (object: KubeObject) => autoscalerConversion.fromStored?.(object).object as KubeObject;

describe("autoscalerConversion", () => {
  it("05 §5 says the use of CPU in the words of each version", () => {
    const first = shown(stored({ metrics: [cpu] }));
    expect(first).toMatchObject({ apiVersion: "autoscaling/v1", metadata: { annotations: { note: "x" } } });
    expect(first.spec).toEqual({ maxReplicas: 5, targetCPUUtilizationPercentage: 50 });
    expect(autoscalerConversion.toStored(first).object).toEqual(stored({ metrics: [cpu] }));
  });

  it("05 §5 loses nothing when what was read is written back", () => {
    const whole = stored({ metrics: [memory, cpu], behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } });
    expect(autoscalerConversion.toStored(shown(whole)).object).toEqual(whole);
  });

  it("05 §5 takes unreadable annotations, and anything that is no object", () => {
    const annotations = {
      "autoscaling.alpha.kubernetes.io/metrics": "{",
      "autoscaling.alpha.kubernetes.io/behavior": "7",
    };
    const odd = { ...stored({}), metadata: { name: "web", annotations } };
    expect(autoscalerConversion.toStored(odd).object).toMatchObject({
      metadata: { name: "web" },
      spec: { maxReplicas: 5 },
    });
    expect(autoscalerConversion.toStored([1]).object).toEqual([1]);
  });
});
