import { describe, expect, it } from "vitest";
import type { Pod, PodSpec, PodStatus } from "../api/kubernetes/pod.ts";
import { PodResourcesCache } from "./pod-resources-cache.ts";

const containers = [{ name: "app", resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } }];
const pod = (spec: PodSpec = {}, status?: PodStatus): Pod => ({ metadata: {}, spec: { containers, ...spec }, status });
const cpu = (amounts: PodResourcesCache, one: Pod) => amounts.of(one).requests["cpu"]?.canonical();

describe("amounts of pods", () => {
  it("are worked out once for pods that share their containers", () => {
    const amounts = new PodResourcesCache();
    expect(amounts.of(pod({ nodeName: "a" }))).toBe(amounts.of(pod({ nodeName: "b" })));
    expect(cpu(amounts, pod())).toBe("1");
    expect(amounts.of(pod()).limits["cpu"]?.canonical()).toBe("2");
  });

  it("02:A-2 depend on the rest of the spec too", () => {
    const amounts = new PodResourcesCache();
    const sidecar = { name: "s", restartPolicy: "Always", resources: { requests: { cpu: "1" } } };
    const others: readonly [PodSpec, string][] = [
      [{}, "1"],
      [{ initContainers: [sidecar] }, "2"],
      [{ resources: { requests: { cpu: "5" } } }, "5"],
      [{ overhead: { cpu: "3" } }, "4"],
      [{}, "1"],
    ];
    for (const [spec, expected] of others) expect(cpu(amounts, pod(spec))).toBe(expected);
  });

  it("02:A-6 depend on what containers hold while they are resized", () => {
    const amounts = new PodResourcesCache();
    const containerStatuses = [{ name: "app", resources: { requests: { cpu: "7" } } }];
    expect([pod(), pod({}, { containerStatuses }), pod()].map((one) => cpu(amounts, one))).toEqual(["1", "7", "1"]);
  });
});
