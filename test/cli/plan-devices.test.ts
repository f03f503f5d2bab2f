import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const place = [
  { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
  { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-a"] },
];
const type = (name: string, Price: number, devices?: readonly string[]) => ({
  name,
  architecture: "amd64",
  operatingSystems: ["linux"],
  resources: { cpu: 8, memory: "32Gi" },
  offerings: [{ Price, Requirements: place }],
  ...(devices && {
    dynamicResources: {
      resourceSlices: [
        { driver: "gpu.example.com", pool: { name: "node" }, devices: devices.map((one) => ({ name: one })) },
      ],
    },
  }),
});

const workload = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 3
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
      containers: [{name: train, image: train, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
`;

interface PlanJson {
  readonly newNodes: readonly { readonly instanceType: string; readonly pods: readonly string[] }[];
  readonly refusals: readonly { readonly message: string }[];
}

async function plan(...args: readonly string[]): Promise<PlanJson> {
  const types = JSON.stringify([type("plain", 1), type("gpus", 9, ["gpu-0", "gpu-1"])]);
  const io = fakeIo({ files: { "/work.yaml": workload, "/types.json": types } });
  await main(["plan", "-f", "/work.yaml", "--instance-types", "/types.json", "-o", "json", ...args], io);
  return JSON.parse(io.out()) as PlanJson;
}

describe("02 §5.14 plan with devices", () => {
  it("02:D-1 pods with resource claims are refused unless told otherwise", async () => {
    const { newNodes, refusals } = await plan();
    expect(newNodes).toEqual([]);
    expect(refusals).toHaveLength(3);
  });

  it("02:D-2 their claims are made from the template, and a node takes as many of them as its type has devices", async () => {
    const { newNodes, refusals } = await plan("--ignore-dra-requests", "false");
    expect(refusals).toEqual([]);
    expect(newNodes.map(({ instanceType, pods }) => [instanceType, pods.length])).toEqual([
      ["gpus", 2],
      ["gpus", 1],
    ]);
  });
});
