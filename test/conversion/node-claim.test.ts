import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { toV1beta1 } from "../../src/api/conversion/to-v1beta1.ts";
import { converted, only, warnings } from "./fixtures.ts";

const ref = { apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: "default" };

function claim(spec: object = {}, rest: { metadata?: object; status?: object } = {}) {
  return {
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodeClaim",
    metadata: { name: "default-abcde", labels: { "karpenter.sh/nodepool": "default" }, ...rest.metadata },
    spec: { nodeClassRef: ref, requirements: [], ...spec },
    ...(rest.status && { status: rest.status }),
  };
}

function pool(expireAfter: string) {
  return {
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodePool",
    metadata: { name: "default" },
    spec: { template: { spec: { nodeClassRef: ref, requirements: [] } }, disruption: { expireAfter } },
  };
}

const at = (object: unknown, dotted: string) => valueAt(object, dotted.split("."));

describe("01 §7.4 NodeClaim", () => {
  it.each([
    ["spec.taints", claim({ taints: [{ key: "a", effect: "NoSchedule" }] })],
    ["spec.startupTaints", claim({ startupTaints: [{ key: "a", effect: "NoSchedule" }] })],
    [
      "spec.requirements",
      claim({ requirements: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["default"], minValues: 1 }] }),
    ],
    ["spec.resources.requests", claim({ resources: { requests: { cpu: "1", memory: "1Gi" } } })],
    ["status.nodeName", claim({}, { status: { nodeName: "n" } })],
    ["status.providerID", claim({}, { status: { providerID: "aws:///a/i-1" } })],
    ["status.imageID", claim({}, { status: { imageID: "ami-1" } })],
    ["status.capacity", claim({}, { status: { capacity: { cpu: "4" } } })],
    ["status.allocatable", claim({}, { status: { allocatable: { cpu: "3" } } })],
    ["status.conditions", claim({}, { status: { conditions: [{ type: "Empty", status: "True" }] } })],
  ])("copies %s", (path, source) => {
    expect(at(converted(source), path)).toEqual(at(source, path));
    expect(at(source, path)).toBeDefined();
  });

  it("names its class by group", () => {
    expect(at(converted(claim()), "spec.nodeClassRef")).toEqual({
      group: "karpenter.k8s.aws",
      kind: "EC2NodeClass",
      name: "default",
    });
  });

  it.each(["30m", "Never", "720h"])("takes %s from the pool its label names", (expireAfter) => {
    const conversion = toV1([claim(), pool(expireAfter)], { mode: "lenient" });
    expect(at(conversion.objects[0]?.object, "spec.expireAfter")).toBe(expireAfter);
    expect(conversion.warnings).toEqual([]);
  });

  it("falls back to 720h without the pool, and without the label", () => {
    const unlabelled = claim({}, { metadata: { labels: {} } });
    for (const source of [[claim()], [unlabelled, pool("1h")]]) {
      const conversion = toV1(source, { mode: "lenient" });
      expect(at(conversion.objects[0]?.object, "spec.expireAfter")).toBe("720h");
      expect(warnings(conversion)).toEqual(["expire-after-assumed spec.expireAfter"]);
    }
  });

  it("keeps kubelet settings for the way back only", () => {
    const source = claim({ kubelet: { maxPods: 10 } });
    expect(at(converted(source), "spec.kubelet")).toBeUndefined();
    expect(warnings(toV1([source, pool("1h")], { mode: "lenient" }))).toEqual(["kubelet-left-behind spec.kubelet"]);
    const there = only(toV1([source], { mode: "lenient", roundTrip: true }).objects).object;
    expect(only(toV1beta1([there]).objects).object).toEqual(source);
  });
});
