import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { main } from "../../src/cli/main.ts";
import type { AccountResources } from "../../src/providers/aws/iam/account-resources.ts";
import type { PolicyDocument } from "../../src/providers/aws/iam/policy-document.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { FakeAws } from "../aws/fake-aws.ts";
import { fakeIo } from "../conversion/fake-io.ts";

async function run(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const io = fakeIo({ files });
  const code = await main(args, io);
  return { code, out: io.out(), err: io.err() };
}

const placed = ["--region", "us-west-2", "--account", "111122223333"];

async function resources(...args: readonly string[]): Promise<AccountResources> {
  const { out } = await run(["aws", "iam", "--cluster", "prod", "-o", "json", ...placed, ...args]);
  return JSON.parse(out) as AccountResources;
}

describe("karpenter aws iam", () => {
  it("04 §5.6 allows every call we make and no other", async () => {
    const { controllerPolicies } = await resources();
    const statements = Object.values(controllerPolicies).flatMap(({ Statement }) => Statement);
    const allowed = new Set(statements.flatMap(({ Action }) => Action));
    const { ec2, iam, ssm, eks, pricing, sqs } = new FakeAws({ clock: new VirtualClock({ startAt: 0 }) }).api;
    const calls = Object.entries({ ec2, iam, ssm, eks, pricing, sqs }).flatMap(([service, api]) =>
      Object.keys(api).map((name) => `${service}:${name.charAt(0).toUpperCase()}${name.slice(1)}`),
    );
    const renamed: Readonly<Record<string, string>> = { "sqs:ReceiveMessages": "sqs:ReceiveMessage" };
    const used = new Set(calls.map((call) => renamed[call] ?? call));
    const beside = ["iam:PassRole", "arc-zonal-shift:GetManagedResource"]; // by the launch itself; by a signed request
    const unused = "iam:GetRole"; // in the interface, and called by nothing in src
    expect([...allowed].filter((action) => !used.has(action)).sort()).toEqual(beside.sort());
    expect([...used].filter((action) => !allowed.has(action))).toEqual([unused]);
  });

  it("04 §5.6 whatever changes something asks for the cluster's tags, and reading for the region", async () => {
    const { controllerPolicies } = await resources();
    const { NodeLifecycle, IAMIntegration, ResourceDiscovery } = controllerPolicies;
    const changing = [...NodeLifecycle.Statement, ...IAMIntegration.Statement].filter(
      ({ Sid }) => Sid !== "AllowScopedEC2InstanceAccessActions" && Sid !== "AllowPassingInstanceRole",
    );
    for (const { Sid, Condition } of changing) {
      expect(Object.keys(Condition?.["StringEquals"] ?? {}).join(" "), Sid).toMatch(
        /aws:Re(source|quest)Tag\/kubernetes.io\/cluster\/prod/,
      );
    }
    expect(ResourceDiscovery.Statement[0]?.Condition).toEqual({ StringEquals: { "aws:RequestedRegion": "us-west-2" } });
    expect(IAMIntegration.Statement[0]).toMatchObject({
      Action: ["iam:PassRole"],
      Resource: ["arn:aws:iam::111122223333:role/KarpenterNodeRole-prod"],
    });
    const documents: readonly PolicyDocument[] = Object.values(controllerPolicies);
    const sids = documents.flatMap(({ Statement }) => Statement.map(({ Sid }) => Sid));
    expect(new Set(sids).size).toBe(18);
  });

  it("04 §4.5 has the queue, who may send to it, and a rule for each kind of event", async () => {
    const { queue, rules } = await resources("--queue", "interruptions");
    expect(queue).toMatchObject({ name: "interruptions", messageRetentionSeconds: 300 });
    expect(queue.policy.Statement.map(({ Sid, Effect, Resource }) => [Sid, Effect, Resource])).toEqual([
      ["AllowEvents", "Allow", "arn:aws:sqs:us-west-2:111122223333:interruptions"],
      ["DenyHTTP", "Deny", "arn:aws:sqs:us-west-2:111122223333:interruptions"],
    ]);
    expect(
      rules.map(({ eventPattern }) => [...eventPattern.source, ...eventPattern["detail-type"]].join(", ")),
    ).toEqual([
      "aws.health, AWS Health Event",
      "aws.ec2, EC2 Spot Instance Interruption Warning",
      "aws.ec2, EC2 Instance Rebalance Recommendation",
      "aws.ec2, EC2 Instance State-change Notification",
      "aws.ec2, EC2 Capacity Reservation Instance Interruption Warning",
    ]);
  });

  it("04 §5.6 prints a CloudFormation template that fits any account", async () => {
    const { code, out, err } = await run(["aws", "iam", "--cluster", "prod"]);
    expect([code, err]).toEqual([0, ""]);
    const { Resources } = parse(out) as { Resources: Record<string, { Type: string; Properties: object }> };
    const kinds = Object.values(Resources).map(({ Type }) => Type);
    const count = (type: string) => kinds.filter((kind) => kind === type).length;
    expect(count("AWS::IAM::ManagedPolicy")).toBe(6);
    expect(count("AWS::Events::Rule")).toBe(5);
    expect([count("AWS::IAM::Role"), count("AWS::SQS::Queue"), count("AWS::SQS::QueuePolicy")]).toEqual([1, 1, 1]);
    expect(JSON.stringify(Resources["KarpenterControllerEKSIntegrationPolicy"])).toContain(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own variables
      '{"Fn::Sub":"arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/prod"}',
    );
    expect(out).not.toMatch(/<region>|undefined|\d{12}/);
    expect(JSON.stringify(Resources).replaceAll(/\{"Fn::Sub":"[^"]*"\}/g, "")).not.toContain("${");
  });

  it("says what is missing, and refuses names that are none", async () => {
    const json = await run(["aws", "iam", "--cluster", "prod", "-o", "json"]);
    expect([json.code, json.err]).toEqual([
      0,
      "note: give --region and --account, or replace the placeholders <region> and <account>\n",
    ]);
    expect((await run(["aws", "iam"])).code).toBe(2);
    expect((await run(["aws", "iam", "--cluster", 'x","Action":"*'])).err).toContain("name of an EKS cluster");
    expect((await run(["aws", "iam", "--cluster", "x", "--account", "12"])).err).toContain("twelve digits");
  });
});

interface Listed {
  readonly name: string;
  readonly zones: readonly string[];
  readonly prices: Readonly<Record<string, number>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

describe("karpenter instance-types", () => {
  const west = ["--region", "us-west-2"];
  const list = async (
    args: readonly string[],
    files: Readonly<Record<string, string>> = {},
  ): Promise<readonly Listed[]> => {
    const region = args.includes("--region") || args.includes("--provider") ? [] : west;
    const { out, err, code } = await run(["instance-types", "-o", "json", ...region, ...args], files);
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out) as readonly Listed[];
  };

  it("04 §2.4 lists what pods can use, zones and prices, the cheapest first", async () => {
    const [type, ...others] = await list(["-l", "node.kubernetes.io/instance-type=m5.large"]);
    expect(others).toEqual([]);
    expect(type).toMatchObject({
      name: "m5.large",
      allocatable: { cpu: "1930m", memory: "6903Mi", pods: "29" },
      prices: { "on-demand": 0.096, spot: expect.any(Number) },
      priceSources: {
        "on-demand": { kind: "list", region: "us-west-2", date: "2026-08-22" },
        spot: { kind: "estimate", basis: "spot-share" },
      },
    });
    expect(type?.zones).toContain("us-west-2a");
    const all = await list(["-l", "instance-category in (m,c)"]);
    const least = all.map(({ prices }) => Math.min(...Object.values(prices)));
    expect(least).toEqual([...least].sort((left, right) => left - right));
  });

  it.each([
    ["instance-cpu>15", ({ labels }: Listed) => Number(labels["karpenter.k8s.aws/instance-cpu"]) > 15],
    ["instance-cpu<3", ({ labels }: Listed) => Number(labels["karpenter.k8s.aws/instance-cpu"]) < 3],
    ["arch!=amd64", ({ labels }: Listed) => labels["kubernetes.io/arch"] === "arm64"],
    ["instance-gpu-count", ({ labels }: Listed) => labels["karpenter.k8s.aws/instance-gpu-count"] !== undefined],
    ["!instance-local-nvme", ({ labels }: Listed) => labels["karpenter.k8s.aws/instance-local-nvme"] === undefined],
    ["instance-family notin (m5,c5)", ({ name }: Listed) => !/^(m5|c5)\./.test(name)],
    ["capacity-type=spot", ({ prices }: Listed) => Object.keys(prices).join() === "spot"],
    ["zone=us-west-2b", ({ zones }: Listed) => zones.join() === "us-west-2b"],
  ])("01 §4.3 -l %s", async (requirement, holds) => {
    const listed = await list(["-l", requirement]);
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((type) => !holds(type)).map(({ name }) => name)).toEqual([]);
  });

  it("04 §2.3 a node class changes what its nodes hold", async () => {
    const nodeClass = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: small}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: KarpenterNodeRole
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
  kubelet: {maxPods: 10}`;
    const [type] = await list(["-f", "class.yaml", "-l", "instance-type=m5.large"], { "class.yaml": nodeClass });
    expect(type?.allocatable["pods"]).toBe("10");
  });

  it("other regions, KWOK, and types that cannot be had", async () => {
    const east = await list(["--region", "us-east-1", "-l", "instance-type=m5.large"]);
    expect(east[0]?.zones).toContain("us-east-1a");
    expect(await list(["--provider", "kwok"])).toHaveLength(144);
    const all = await list(["--all"]);
    expect(all.length).toBeGreaterThan((await list([])).length);
  });

  it("prints a table, names, and says what is wrong", async () => {
    const table = await run(["instance-types", ...west, "-l", "instance-type=m5.large"]);
    expect(table.out).toMatch(/^TYPE +ARCH +CPU +MEMORY +PODS +ON-DEMAND \$\/h +SPOT \$\/h +ZONES/);
    expect(table.out).toMatch(/m5\.large +amd64 +1930m +6\.7Gi +29 +0\.0960 +~0\.0384/);
    expect(table.out).toMatch(
      /\nPrice \(1 price\): ~ estimated: .*\nPrice \(1 price\): list price of us-west-2 on 2026-08-22\.\n$/,
    );
    const names = await run([
      "instance-types",
      ...west,
      "-l",
      "instance-family=m5",
      "-l",
      "instance-size=large",
      "-o",
      "name",
    ]);
    expect(names.out).toBe("m5.large\n");
    expect(await run(["instance-types", ...west, "-l", "colour=red"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("-l colour: no such label"),
    });
    expect((await run(["instance-types", "-l", "a b"])).code).toBe(2);
    expect((await run(["instance-types", "--region", "mars-1"])).err).toContain("us-east-1, us-east-2, ");
    expect(await run(["instance-types", "-o", "name"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("give it with --region"),
    });
  });
});
