import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../api/kubernetes/pod.ts";
import { Quantity } from "../../../util/quantity.ts";
import { podRequests } from "../../pod-requests.ts";
import { applyOperations } from "../json-patch.ts";
import { lowerRequestChange } from "./request-changes.ts";

const metadata = { name: "web", namespace: "default" };
const container = (name: string, requests: Record<string, string>, more: object = {}) => ({
  name,
  resources: { requests },
  ...more,
});
const sidecar = (name: string, requests: Record<string, string>) =>
  container(name, requests, { restartPolicy: "Always" });

function lowered(spec: PodSpec, left: string, resource = "cpu") {
  const pod: Pod = { metadata, spec };
  const change = lowerRequestChange(pod, { resource, left: Quantity.parse(left) });
  if (change === undefined) return undefined;
  const after = podRequests(applyOperations(pod, change.edits));
  return {
    text: change.text,
    edits: change.edits.map(({ op, path, value }) => `${op} ${path} ${value}`),
    leaves: after[resource]?.canonical(),
  };
}

describe("lowering requests to what is left", () => {
  it("02:A-4 of the pod itself, where it has requests of its own", () => {
    const spec = { containers: [container("app", { cpu: "1" })], resources: { requests: { cpu: "4" } } };
    expect(lowered(spec, "3")).toEqual({
      text: "lower the cpu request of the pod to 3",
      edits: ["replace /spec/resources/requests/cpu 3"],
      leaves: "3",
    });
  });

  it("02:A-3 of the largest container first, and of as few as needed", () => {
    const spec = { containers: [container("small", { cpu: "1" }), container("large", { cpu: "3" })] };
    expect(lowered(spec, "2500m")).toEqual({
      text: "lower the cpu request of container large to 1.5",
      edits: ["replace /spec/containers/1/resources/requests/cpu 1500m"],
      leaves: "2500m",
    });
    expect(lowered(spec, "500m")).toEqual({
      text: "lower the cpu request of container large to 0 and lower the cpu request of container small to 0.5",
      edits: [
        "replace /spec/containers/1/resources/requests/cpu 0",
        "replace /spec/containers/0/resources/requests/cpu 500m",
      ],
      leaves: "500m",
    });
  });

  it("02:A-3 of sidecars as of containers, of init containers on their own", () => {
    const spec = {
      containers: [container("app", { cpu: "1" })],
      initContainers: [
        container("init", { cpu: "6" }),
        sidecar("side", { cpu: "3" }),
        container("quick", { cpu: "1" }),
      ],
    };
    expect(lowered(spec, "3")).toEqual({
      text: "lower the cpu request of container side to 2 and lower the cpu request of container init to 3",
      edits: [
        "replace /spec/initContainers/1/resources/requests/cpu 2",
        "replace /spec/initContainers/0/resources/requests/cpu 3",
      ],
      leaves: "3",
    });
  });

  it("02:A-2 leaves room for the pod's overhead", () => {
    const spec = { containers: [container("app", { cpu: "4" })], overhead: { cpu: "500m" } };
    expect(lowered(spec, "2")).toMatchObject({ text: "lower the cpu request of container app to 1.5", leaves: "2" });
    expect(lowered(spec, "500m")).toMatchObject({
      text: "lower the cpu request of container app to 0",
      leaves: "500m",
    });
    expect(lowered(spec, "400m")).toBeUndefined();
  });

  it("02:A-7 of a limit that stands for the request; an extended resource has both alike", () => {
    const limitsOnly = { containers: [{ name: "app", resources: { limits: { cpu: "4" } } }] };
    expect(lowered(limitsOnly, "2")).toBeUndefined(); // the pod asks for nothing by itself
    const gpu = "example.com/gpu";
    const spec = { containers: [{ name: "app", resources: { requests: { [gpu]: "4" }, limits: { [gpu]: "4" } } }] };
    expect(lowered(spec, "2", gpu)).toEqual({
      text: `lower the ${gpu} request of container app to 2 and its limit to the same`,
      edits: [
        "replace /spec/containers/0/resources/requests/example.com~1gpu 2",
        "replace /spec/containers/0/resources/limits/example.com~1gpu 2",
      ],
      leaves: "2",
    });
  });

  it.each([
    ["enough is left", { containers: [container("app", { cpu: "2" })] }, "2"],
    ["less than nothing is left", { containers: [container("app", { cpu: "2" })] }, "-1"],
    ["nobody asks", { containers: [container("app", {})] }, "0"],
  ])("is no answer where %s", (_, spec, left) => {
    expect(lowered(spec, left)).toBeUndefined();
  });

  it("02:A-2 is no answer to too many pods", () => {
    expect(lowered({ containers: [container("app", { cpu: "2" })] }, "0", "pods")).toBeUndefined();
  });
});
