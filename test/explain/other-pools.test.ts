import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import { explain } from "./run.ts";

const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const amd64 = { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] };

function pool(name: string, spec: object = {}, template: object = {}): object {
  const inner = { nodeClassRef, requirements: [amd64], ...template };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { ...spec, template: { spec: inner } },
  };
}

function pod(spec: object = {}, cpu = "500m"): object {
  const containers = [{ name: "app", resources: { requests: { cpu } } }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers, ...spec } };
}

async function explained(...objects: readonly object[]): Promise<Explanation> {
  const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
  const { out, err } = await explain(["pod", "p", "-f", "in.yaml", "-o", "json"], { files: { "in.yaml": text } });
  if (out === "") throw new Error(err);
  return JSON.parse(out) as Explanation;
}

const texts = ({ suggestions }: Explanation) => suggestions.map(({ text }) => text);

describe("a static pool", () => {
  it("02:Z-1 gets one more replica where a node of it would take the pod", async () => {
    const { suggestions, cause } = await explained(pool("fixed", { replicas: 0 }), pod());
    expect(cause).toContain("NodePool fixed is static");
    expect(suggestions).toMatchObject([
      {
        text: "raise the replicas of the static NodePool fixed from 0 to 1",
        commands: [`kubectl patch nodepool fixed --type=merge -p '{"spec":{"replicas":1}}'`],
      },
    ]);
  });

  it("03:SP-2 gets its limit of nodes raised with it", async () => {
    const { suggestions } = await explained(pool("fixed", { replicas: 0, limits: { nodes: "0" } }), pod());
    expect(suggestions[0]?.commands).toEqual([
      `kubectl patch nodepool fixed --type=merge -p '{"spec":{"replicas":1,"limits":{"nodes":"1"}}}'`,
    ]);
  });

  it("03:SP-3 is not enough where its cheapest node would not take the pod, and says why", async () => {
    const { suggestions, pools } = await explained(pool("fixed", { replicas: 0 }), pod({}, "6"));
    expect(suggestions.map(({ text }) => text).join()).toContain("; and lower the cpu request of container app to 0.9");
    expect(pools[0]?.reasons.map(({ code }) => code)).toEqual(["pool-unusable", "resources"]);
  });

  it("03:SP-3 is not enough where nobody says in which zone its node will be", async () => {
    const inZone = { nodeSelector: { "topology.kubernetes.io/zone": "test-zone-c" } };
    expect(texts(await explained(pool("fixed", { replicas: 0 }), pod(inZone)))).toEqual([
      "raise the replicas of the static NodePool fixed from 0 to 1; and drop topology.kubernetes.io/zone from the pod's node selector",
    ]);
    const zonal = { key: "topology.kubernetes.io/zone", operator: "In", values: ["test-zone-c"] };
    const fixed = pool("fixed", { replicas: 0 }, { requirements: [amd64, zonal] });
    expect(texts(await explained(fixed, pod(inZone)))).toEqual([
      "raise the replicas of the static NodePool fixed from 0 to 1",
    ]);
  });

  it("02:Z-1 is offered beside pools that launch nodes for pods", async () => {
    const taints = [{ key: "dedicated", value: "batch", effect: "NoSchedule" }];
    const found = texts(await explained(pool("main", {}, { taints }), pool("fixed", { replicas: 2 }), pod({}, "3")));
    expect(found[0]).toContain("add a toleration");
  });
});

const ec2Ref = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const ec2Class = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "nodes",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { a: "b" } }],
    securityGroupSelectorTerms: [{ tags: { a: "b" } }],
  },
};

describe("a node class that is not ready", () => {
  const lastTransitionTime = "2026-01-15T12:00:00Z";
  const conditions = [
    { type: "Ready", status: "False", reason: "UnhealthyDependents", message: "", lastTransitionTime },
    {
      type: "ValidationSucceeded",
      status: "False",
      reason: "DependenciesNotReady",
      message: "waiting",
      lastTransitionTime,
    },
    {
      lastTransitionTime,
      type: "SubnetsReady",
      status: "False",
      reason: "SubnetsNotFound",
      message: "SubnetSelector did not match any Subnets",
    },
  ];
  const nodeClass: KubeObject = { ...ec2Class, status: { conditions } };

  it("02:P-33 is named with the condition that decides and the next step", async () => {
    const objects = [nodeClass, pool("main", {}, { nodeClassRef: ec2Ref }), pod()];
    const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    const { out, err } = await explain(["pod", "p", "-f", "in.yaml", "--region", "us-west-2"], {
      files: { "in.yaml": text },
    });
    expect(err).toBe("");
    expect(out).toContain("NodePool main is not Ready: EC2NodeClass default has SubnetsReady False (SubnetsNotFound: ");
    expect(out).toContain("Next steps:\n  NodePool main: check that a subnet matches spec.subnetSelectorTerms");
    expect(out).toContain("kubectl edit ec2nodeclass default");
  });
});

describe("ephemeral storage of an EC2NodeClass", () => {
  it("04 §2.3 is raised by its block devices, and nodes that run are said to drift", async () => {
    const containers = [{ name: "app", resources: { requests: { cpu: "1", "ephemeral-storage": "60Gi" } } }];
    const objects = [ec2Class, pool("main", {}, { nodeClassRef: ec2Ref }), pod({ containers })];
    const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    const asked = ["pod", "p", "-f", "in.yaml", "--region", "us-west-2", "-o", "json"];
    const { suggestions, cause } = JSON.parse(
      (await explain(asked, { files: { "in.yaml": text } })).out,
    ) as Explanation;
    expect(cause).toContain("which spec.blockDeviceMappings of EC2NodeClass default sets");
    const found = suggestions.find(({ edits }) => edits.some(({ object }) => object.kind === "EC2NodeClass"));
    expect(found?.text).toBe(
      "enlarge the volume /dev/xvda of EC2NodeClass default from 20Gi to 70Gi (spec.blockDeviceMappings)",
    );
    expect(found?.commands?.[0]).toMatch(/^kubectl patch ec2nodeclass default --type=merge -p /);
  });
});
