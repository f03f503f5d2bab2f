import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");
const kwok = readFileSync(join(examples, "kwok.yaml"), "utf8");
const aws = readFileSync(join(examples, "aws.yaml"), "utf8").replace("replicas: 20", "replicas: 2");

const deployment = (name: string, selector: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {${selector}}
      containers: [{name: app, image: app, resources: {requests: {cpu: "1"}}}]`;

const onKwok = deployment("on-kwok", "karpenter.sh/nodepool: default");

async function report(texts: readonly string[], ...args: readonly string[]): Promise<PlanReport> {
  const io = fakeIo({ files: { "in.yaml": texts.join("\n---\n") } });
  const region = args.some((arg) => arg === "kwok" || arg === "--region") ? [] : ["--region", "us-west-2"];
  await main(["plan", "-f", "in.yaml", "-o", "json", ...region, ...args], io);
  if (io.out() === "") throw new Error(io.err());
  return JSON.parse(io.out()) as PlanReport;
}

const typeOfPool = ({ newNodes }: PlanReport) =>
  Object.fromEntries(newNodes.map(({ nodePool, instanceType }) => [nodePool, instanceType]));

describe("several providers in one plan", () => {
  const both = [kwok, aws, onKwok];

  it("02:P-33 pools of both get nodes, each of the types of its own class", async () => {
    const plan = await report(both);
    expect(plan.unschedulable).toEqual({});
    expect(typeOfPool(plan)).toEqual({
      aws: expect.stringMatching(/^[a-z0-9-]+\.[a-z0-9]+$/),
      default: expect.stringMatching(/^[a-z]-\d+x-/),
    });
    expect(plan.notes).toEqual([]);
  });

  it("--region is that of the EC2 types, and leaves KWOK pools in the plan", async () => {
    const plan = await report(both, "--region", "us-east-1");
    const zones = plan.newNodes.find(({ nodePool }) => nodePool === "aws")?.zones ?? [];
    expect(zones.length).toBeGreaterThan(0);
    expect(zones.every((zone) => zone.startsWith("us-east-1"))).toBe(true);
    expect(Object.keys(typeOfPool(plan)).sort()).toEqual(["aws", "default"]);
  });

  it.each([
    ["kwok", "aws", "on-aws"],
    ["aws", "default", "on-kwok"],
  ])("--provider %s leaves out the pools of the other, with a note", async (provider, pool, workload) => {
    const plan = await report(both, "--provider", provider);
    expect(Object.keys(plan.unschedulable)).toEqual([`default/${workload}-0`, `default/${workload}-1`]);
    expect(plan.notes).toEqual([`NodePool ${pool} is not used: its node class belongs to another provider`]);
  });

  it("nodes of both are sized by their types, with or without a claim", async () => {
    const node = (name: string, type: string) =>
      `{apiVersion: v1, kind: Node, metadata: {name: ${name}, labels: {machine: ${name}, node.kubernetes.io/instance-type: ${type}}}}`;
    const claim = `{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, labels: {karpenter.sh/nodepool: aws, node.kubernetes.io/instance-type: m5.large}}}`;
    const pod = (name: string) => deployment(name, `machine: ${name}`).replace("replicas: 2", "replicas: 1");
    const nodes = [node("a", "c-4x-amd64-linux"), node("b", "m5.large"), claim, node("c", "m5.large")];
    const plan = await report([
      kwok,
      aws.split("\n---\n").slice(0, 2).join("\n---\n"),
      ...nodes,
      pod("a"),
      pod("b"),
      pod("c"),
    ]);
    expect(plan.existingNodes).toMatchObject({ a: ["default/a-0"], b: ["default/b-0"], c: ["default/c-0"] });
  });

  it("without a NodePool the given node class says whose nodes they are", async () => {
    const nodeClass = aws.split("---")[1] ?? "";
    const plan = await report([nodeClass, deployment("web", "kubernetes.io/os: linux")]);
    expect(typeOfPool(plan)["default"]).toMatch(/^[a-z0-9-]+\.[a-z0-9]+$/);
  });

  it("--instance-types is one list for all of them", async () => {
    const plan = await report(
      [aws.replace(/ {8}- key: karpenter.k8s.aws\/instance-category\n.*\n.*\n/, ""), kwok, onKwok],
      "--instance-types",
      "kwok",
    );
    expect(typeOfPool(plan)).toMatchObject({
      aws: expect.stringMatching(/^c-/),
      default: expect.stringMatching(/^c-/),
    });
  });
});
