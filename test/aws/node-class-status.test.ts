import type { Image } from "@aws-sdk/client-ec2";
import { afterEach, describe, expect, it } from "vitest";
import { karpenterTypes } from "../../src/kube/resources.ts";
import type { Ec2NodeClassObject } from "../../src/providers/aws/node-class/node-class-object.ts";
import { startAt } from "../world/api-world.ts";
import {
  type NodeClassWorld,
  type NodeClassWorldOptions,
  nodeClassManifest,
  nodeClassWorld,
} from "./node-class-world.ts";

const minute = 60_000;
let world: NodeClassWorld | undefined;

async function open(options: NodeClassWorldOptions = {}): Promise<NodeClassWorld> {
  world = await nodeClassWorld(options);
  return world;
}

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

function image(ImageId: string, changes: Partial<Image> = {}): Image {
  return { ImageId, Name: ImageId, Architecture: "x86_64", CreationDate: "2026-01-01T00:00:00.000Z", ...changes };
}

describe("an EC2NodeClass", () => {
  it("04 §1.4 becomes Ready: images, subnets, groups, profile and validation are in its status", async () => {
    const { create, condition, aws } = await open();
    const { status, metadata } = await create();
    expect(await condition("Ready")).toBe("True Ready");
    expect(status?.subnets?.map(({ id }) => id)).toEqual(
      ["subnet-1", "subnet-2", "subnet-3", "subnet-4"].slice(0, status?.subnets?.length),
    );
    expect(status?.subnets?.[0]).toEqual({ id: "subnet-1", zone: "us-west-2a", zoneID: "usw2-az1" });
    expect(status?.securityGroups).toEqual([{ id: "sg-1", name: "nodes" }]);
    expect(status?.amis?.map(({ id }) => id)).toEqual(["ami-amd64", "ami-arm64"]);
    expect(status?.instanceProfile).toMatch(/^demo_\d+$/);
    expect(metadata.finalizers).toEqual(["karpenter.k8s.aws/termination"]);
    expect(Object.keys(metadata.annotations ?? {})).toEqual([
      "karpenter.k8s.aws/ec2nodeclass-hash",
      "karpenter.k8s.aws/ec2nodeclass-hash-version",
    ]);
    expect(aws.running()).toEqual([]);
  });

  it("04 §1.4 all parts are resolved even if one fails, which leaves an event that says what to do", async () => {
    const { create, condition, events, pass, aws } = await open({
      account: (one) =>
        one.failNext("ec2:DescribeSubnets", {
          code: "UnauthorizedOperation",
          message:
            "User: arn:aws:sts::123456789012:assumed-role/x is not authorized. Encoded authorization failure message: abc",
        }),
    });
    await create();
    expect(await condition("AMIsReady")).toBe("True AMIsReady");
    expect(await condition("SecurityGroupsReady")).toBe("True SecurityGroupsReady");
    const [event] = (await events("web")).filter(({ reason }) => reason === "NodeClassResolutionFailed");
    expect(event?.message).toContain("ec2:DescribeSubnets is not allowed");
    expect(event?.message).toContain("karpenter aws iam");
    expect(event?.message).not.toContain("123456789012");
    await pass(30);
    expect(await condition("Ready")).toBe("True Ready");
    expect(aws.inputsOf("ec2:DescribeSubnets").length).toBeGreaterThan(1);
  });

  it.each([
    ["subnets", "SubnetsReady", "SubnetsNotFound", { subnetSelectorTerms: [{ id: "subnet-no" }] }],
    [
      "securityGroups",
      "SecurityGroupsReady",
      "SecurityGroupsNotFound",
      { securityGroupSelectorTerms: [{ name: "no" }] },
    ],
    ["amis", "AMIsReady", "AMINotFound", { amiSelectorTerms: [{ id: "ami-no" }] }],
  ] as const)(
    "04 §1.4 %s that are not found any more are cleared, and come back",
    async (field, type, reason, spec) => {
      const { create, update, condition } = await open();
      await create();
      const { status } = await update(spec);
      expect(status).not.toHaveProperty(field);
      expect(await condition(type)).toBe(`False ${reason}`);
      expect(await condition("ValidationSucceeded")).toBe("False DependenciesNotReady");
      expect(await condition("Ready")).toMatch(/^False/);
      const back = await update({ [Object.keys(spec)[0] ?? ""]: [{ tags: { "karpenter.sh/discovery": "*" } }] });
      expect(back.status?.[field]).not.toHaveLength(0);
      expect(await condition("Ready")).toBe("True Ready");
    },
  );

  it("04 §1.4 looks again every minute, at most one call for each part", async () => {
    const { create, aws, pass } = await open();
    await create();
    aws.calls.length = 0;
    await pass(60);
    expect(aws.inputsOf("ec2:DescribeSubnets")).toHaveLength(1);
    aws.subnets.pop();
    await pass(61);
    expect((await world?.read())?.status?.subnets).toHaveLength(aws.subnets.length);
    expect(aws.inputsOf("iam:CreateInstanceProfile")).toHaveLength(0);
  });

  it("04 §1.3 subnets with more free addresses come first, ties by id", async () => {
    const { create } = await open({
      account: ({ subnets }) => {
        const [first, second] = subnets;
        if (first) first.AvailableIpAddressCount = 5;
        if (second) second.AvailableIpAddressCount = 9_000;
      },
    });
    const { status } = await create();
    const ids = status?.subnets?.map(({ id }) => id) ?? [];
    expect(ids[0]).toBe("subnet-2");
    expect(ids.at(-1)).toBe("subnet-1");
  });

  it.each([
    [{ tags: { a: "1", b: "2" } }, ["subnet-b"]],
    [{ tags: { a: "*" } }, ["subnet-a", "subnet-b"]],
    [{ tags: { a: "1*" } }, ["subnet-a", "subnet-b"]],
    [{ id: "subnet-a" }, ["subnet-a"]],
    [{ id: "subnet-a", tags: { a: "*" } }, ["subnet-a"]],
  ])("04 §1.5 the term %j selects %j", async (term, ids) => {
    const tag = (Key: string, Value: string) => ({ Key, Value });
    const { create } = await open({
      account: ({ subnets }) =>
        subnets.splice(
          0,
          subnets.length,
          { SubnetId: "subnet-a", AvailabilityZone: "us-west-2a", Tags: [tag("a", "1")] },
          { SubnetId: "subnet-b", AvailabilityZone: "us-west-2b", Tags: [tag("a", "1"), tag("b", "2")] },
        ),
    });
    const { status } = await create({ subnetSelectorTerms: [term, { id: "subnet-missing" }] });
    expect(status?.subnets?.map(({ id }) => id)).toEqual(ids);
  });

  it("04 §1.6 groups are found by id, name and tags together, once each", async () => {
    const { create, aws } = await open({
      account: ({ securityGroups }) => {
        securityGroups.push(
          { GroupId: "sg-3", GroupName: "three" },
          { GroupId: "sg-2", GroupName: "two", Tags: [{ Key: "x", Value: "y" }] },
        );
      },
    });
    const terms = [{ name: "nodes" }, { id: "sg-3" }, { tags: { x: "y" } }, { id: "sg-2", name: "ignored" }];
    const { status } = await create({ securityGroupSelectorTerms: terms });
    expect(status?.securityGroups?.map(({ id }) => id)).toEqual(["sg-1", "sg-2", "sg-3"]);
    expect(aws.inputsOf("ec2:DescribeSecurityGroups")).toHaveLength(3);
  });

  it("04 §1.5 04 §1.6 two classes side by side each have their own subnets and groups, asked for once each", async () => {
    const one = await open({
      account: ({ subnets, securityGroups }) => {
        for (const [index, subnet] of subnets.entries()) subnet.Tags = [{ Key: "of", Value: index < 2 ? "a" : "b" }];
        securityGroups.push({ GroupId: "sg-2", GroupName: "two", Tags: [{ Key: "of", Value: "b" }] });
      },
    });
    const { aws, services, pass } = one;
    const terms = (value: string, group: string) => ({
      subnetSelectorTerms: [{ tags: { of: value } }],
      securityGroupSelectorTerms: [{ id: group }],
    });
    const both = () => Promise.all(["a", "b"].map((name) => one.read(name)));
    const manifests = [nodeClassManifest("a", terms("a", "sg-1")), nodeClassManifest("b", terms("b", "sg-2"))];
    await Promise.all(manifests.map((manifest) => one.client.create(karpenterTypes.EC2NodeClass, manifest)));
    await pass(1);
    const found = (await both()).map(({ status }) => [
      status?.subnets?.map(({ id }) => id),
      status?.securityGroups?.map(({ id }) => id),
    ]);
    expect(found).toEqual([
      [["subnet-1", "subnet-2"], ["sg-1"]],
      [aws.subnets.slice(2).map(({ SubnetId }) => SubnetId), ["sg-2"]],
    ]);
    expect(aws.inputsOf("ec2:DescribeSubnets")).toHaveLength(2);
    expect(aws.inputsOf("ec2:DescribeSecurityGroups")).toHaveLength(2);
    // Once the answers are old, all who ask at the same time share one call for each class.
    await one.during(one.running.stop(), 1);
    await pass(60);
    aws.calls.length = 0;
    const [a, b] = await both();
    const asked = [a, b, a, b].flatMap((nodeClass) =>
      nodeClass === undefined ? [] : [services.subnets.resolve(nodeClass), services.securityGroups.resolve(nodeClass)],
    );
    expect((await Promise.all(asked)).map((list) => list.length)).toEqual([
      2,
      1,
      aws.subnets.length - 2,
      1,
      2,
      1,
      aws.subnets.length - 2,
      1,
    ]);
    expect(aws.inputsOf("ec2:DescribeSubnets")).toHaveLength(2);
    expect(aws.inputsOf("ec2:DescribeSecurityGroups")).toHaveLength(2);
  });

  it("04 §1.5 another spec is another key: it is not answered from what the old one found", async () => {
    const { create, update, aws } = await open();
    await create({ subnetSelectorTerms: [{ id: "subnet-1" }], securityGroupSelectorTerms: [{ id: "sg-1" }] });
    const { status } = await update({ subnetSelectorTerms: [{ id: "subnet-2" }] });
    expect(status?.subnets?.map(({ id }) => id)).toEqual(["subnet-2"]);
    expect(aws.inputsOf("ec2:DescribeSubnets")).toHaveLength(2);
  });
});

describe("selector terms", () => {
  it("04 §9.7-1 a term of which a part is not used leaves one event for each spec", async () => {
    const { create, events, pass } = await open();
    await create({ subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }, { id: "subnet-2" }] });
    await pass(10 * 60);
    const warnings = (await events("web")).filter(({ reason }) => reason === "SelectorTermFieldsIgnored");
    expect(warnings.map(({ message }) => message)).toEqual([
      "spec.subnetSelectorTerms[0]: only id is used and tags ignored; put them into terms of their own",
    ]);
  });
});

describe("images", () => {
  const eks = "/aws/service/eks/optimized-ami/1.33";
  const labelsOf = (
    requirements: readonly { key: string; operator: string; values?: readonly string[] | undefined }[],
  ) => requirements.map(({ key, operator, values }) => [key.split("/")[1], operator, ...(values ?? [])].join(" "));

  const standard = (arch: string) => [
    `arch In ${arch}`,
    "instance-gpu-count DoesNotExist",
    "instance-accelerator-count DoesNotExist",
  ];
  const nvidia = (arch: string) => [`arch In ${arch}`, "instance-gpu-count Exists"];
  const neuron = ["arch In amd64", "instance-accelerator-count Exists"];
  const windowsParameter = (year: string, kubernetes: string) =>
    `/aws/service/ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}/image_id`;
  const windows = (build: string) => ["os In windows", "arch In amd64", `windows-build In ${build}`];

  it.each([
    [
      "al2@latest",
      "1.32",
      {
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id": "ami-1",
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id": "ami-2",
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id": "ami-4",
      },
      [
        ["ami-1", standard("amd64")],
        ["ami-2", neuron],
        ["ami-2", nvidia("amd64")],
        ["ami-4", standard("arm64")],
      ],
    ],
    [
      "al2@v20260101",
      "1.32",
      {
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/amazon-eks-node-1.32-v20260101/image_id": "ami-1",
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20260101/image_id": "ami-2",
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20260101/image_id":
          "ami-4",
      },
      [
        ["ami-1", standard("amd64")],
        ["ami-2", neuron],
        ["ami-2", nvidia("amd64")],
        ["ami-4", standard("arm64")],
      ],
    ],
    [
      "al2023@latest",
      "1.33",
      {
        [`${eks}/amazon-linux-2023/x86_64/standard/recommended/image_id`]: "ami-1",
        [`${eks}/amazon-linux-2023/x86_64/nvidia/recommended/image_id`]: "ami-2",
        [`${eks}/amazon-linux-2023/x86_64/neuron/recommended/image_id`]: "ami-3",
        [`${eks}/amazon-linux-2023/arm64/standard/recommended/image_id`]: "ami-4",
        [`${eks}/amazon-linux-2023/arm64/nvidia/recommended/image_id`]: "ami-5",
      },
      [
        ["ami-1", standard("amd64")],
        ["ami-2", nvidia("amd64")],
        ["ami-3", neuron],
        ["ami-4", standard("arm64")],
        ["ami-5", nvidia("arm64")],
      ],
    ],
    [
      "al2023@v20260101",
      "1.33",
      {
        [`${eks}/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.33-v20260101/image_id`]:
          "ami-1",
      },
      [["ami-1", standard("amd64")]],
    ],
    [
      "bottlerocket@v1.46.0",
      "1.33",
      {
        "/aws/service/bottlerocket/aws-k8s-1.33/x86_64/1.46.0/image_id": "ami-1",
        "/aws/service/bottlerocket/aws-k8s-1.33-nvidia/x86_64/1.46.0/image_id": "ami-2",
        "/aws/service/bottlerocket/aws-k8s-1.33/arm64/1.46.0/image_id": "ami-4",
        "/aws/service/bottlerocket/aws-k8s-1.33-nvidia/arm64/1.46.0/image_id": "ami-5",
      },
      [
        ["ami-1", standard("amd64")],
        ["ami-1", neuron],
        ["ami-2", nvidia("amd64")],
        ["ami-4", standard("arm64")],
        ["ami-5", nvidia("arm64")],
      ],
    ],
    [
      "bottlerocket@latest",
      "1.33",
      {
        "/aws/service/bottlerocket/aws-k8s-1.33/arm64/latest/image_id": "ami-4",
        "/aws/service/bottlerocket/aws-k8s-1.33-nvidia/x86_64/latest/image_id": "ami-2",
      },
      [
        ["ami-2", nvidia("amd64")],
        ["ami-4", standard("arm64")],
      ],
    ],
    ["windows2019@latest", "1.33", { [windowsParameter("2019", "1.33")]: "ami-1" }, [["ami-1", windows("10.0.17763")]]],
    ["windows2022@latest", "1.33", { [windowsParameter("2022", "1.33")]: "ami-1" }, [["ami-1", windows("10.0.20348")]]],
    ["windows2025@latest", "1.35", { [windowsParameter("2025", "1.35")]: "ami-1" }, [["ami-1", windows("10.0.26100")]]],
  ])("04 §1.7 alias %s on Kubernetes %s is resolved through its parameters", async (...row) => {
    const [alias, kubernetesVersion, parameters, expected] = row;
    const { create, condition } = await open({
      kubernetesVersion,
      account: (aws) => {
        for (const [name, value] of Object.entries(parameters)) aws.parameters.set(name, value);
        for (const id of [1, 2, 3]) aws.images.push(image(`ami-${id}`));
        for (const id of [4, 5]) aws.images.push(image(`ami-${id}`, { Architecture: "arm64" }));
      },
    });
    const { status } = await create({ amiSelectorTerms: [{ alias }] });
    expect(await condition("AMIsReady")).toBe("True AMIsReady");
    expect((status?.amis ?? []).map(({ id, requirements }) => [id, labelsOf(requirements)])).toEqual(expected);
  });

  it("04 §1.7 an alias without any image is not ready; a parameter that cannot be read is tried again", async () => {
    const { create, condition, aws, pass } = await open();
    await create({ amiSelectorTerms: [{ alias: "al2023@latest" }] });
    expect(await condition("AMIsReady")).toBe("False AMINotFound");
    aws.parameters.set(`${eks}/amazon-linux-2023/x86_64/standard/recommended/image_id`, "ami-amd64");
    await pass(61);
    expect(await condition("AMIsReady")).toBe("True AMIsReady");
  });

  it("04 §1.7 while SSM refuses, nothing is said about images", async () => {
    const { create, condition, events } = await open({
      account: (aws) => aws.failNext("ssm:GetParameter", { code: "AccessDeniedException" }, 200),
    });
    await create({ amiSelectorTerms: [{ alias: "al2023@latest" }] });
    expect(await condition("AMIsReady")).toBe("Unknown AwaitingReconciliation");
    expect((await events("web"))[0]?.message).toContain("ssm:GetParameter is not allowed");
  });

  it("04 §1.7 one parameter that is refused is left out; while SSM is busy nothing is concluded", async () => {
    const { aws, services } = await open({
      account: (one) => {
        one.parameters.set(`${eks}/amazon-linux-2023/arm64/standard/recommended/image_id`, "ami-arm64");
      },
    });
    const nodeClass = {
      apiVersion: "karpenter.k8s.aws/v1",
      kind: "EC2NodeClass",
      metadata: { name: "web", uid: "1", generation: 1 },
      spec: { amiSelectorTerms: [{ alias: "al2023@latest" }] },
    } as unknown as Ec2NodeClassObject;
    aws.failNext("ssm:GetParameter", { code: "ThrottlingException" });
    await expect(services.amis.resolve(nodeClass)).rejects.toThrow("ThrottlingException");
    aws.failNext("ssm:GetParameter", { code: "AccessDeniedException" });
    expect((await services.amis.resolve(nodeClass)).amis.map(({ id }) => id)).toEqual(["ami-arm64"]);
  });

  it.each([
    ["al2@latest", "1.33", "1.32"],
    ["windows2025@latest", "1.34", "1.35"],
  ])("04 §1.4 alias %s is not supported on Kubernetes %s", async (alias, kubernetesVersion) => {
    const { create, condition, aws } = await open({ kubernetesVersion });
    await create({ amiSelectorTerms: [{ alias }] });
    expect(await condition("AMIsReady")).toBe("False UnsupportedAlias");
    expect(aws.inputsOf("ssm:GetParameter")).toEqual([]);
  });

  it("04 §1.7 ids, parameters, names, tags and owners are queries of their own", async () => {
    const { create, aws, lines } = await open({
      account: (one) => {
        one.parameters.set("/mine", "ami-amd64");
        one.parameters.set("/wrong", "no image");
      },
    });
    await create({
      amiFamily: "AL2023",
      amiSelectorTerms: [
        { id: "ami-x" },
        { ssmParameter: "/mine" },
        { ssmParameter: "/wrong" },
        { ssmParameter: "/missing" },
        { name: "image-*" },
        { name: "other", owner: "123456789012" },
        { tags: { a: "b" } },
        { tags: { a: "b" }, owner: "self" },
      ],
    });
    const available = { Name: "state", Values: ["available"] };
    const tagged = { Name: "tag:a", Values: ["b"] };
    expect(aws.inputsOf("ec2:DescribeImages")).toEqual([
      { Filters: [{ Name: "image-id", Values: ["ami-x", "ami-amd64"] }, available], IncludeDeprecated: true },
      {
        Filters: [{ Name: "name", Values: ["image-*"] }, available],
        Owners: ["self", "amazon"],
        IncludeDeprecated: true,
      },
      { Filters: [{ Name: "name", Values: ["other"] }, available], Owners: ["123456789012"], IncludeDeprecated: true },
      { Filters: [tagged, available], IncludeDeprecated: true },
      { Filters: [tagged, available], Owners: ["self"], IncludeDeprecated: true },
    ]);
    const unusable = lines.filter(({ level }) => level === "error").map((line) => line["parameter"]);
    expect([...new Set(unusable)]).toEqual(["/wrong", "/missing"]);
  });

  it("04 §1.7 all tags of a term must match, and an image of any term is taken", async () => {
    const tagged = (...keys: string[]) => ({ Tags: keys.map((Key) => ({ Key, Value: "x" })) });
    const { create, update } = await open({
      account: ({ images }) =>
        images.splice(
          0,
          images.length,
          image("ami-a", tagged("a")),
          image("ami-ab", { ...tagged("a", "b"), Architecture: "arm64" }),
          image("ami-c", { ...tagged("c"), CreationDate: "2026-01-02T00:00:00.000Z" }),
        ),
    });
    const ids = ({ status }: Ec2NodeClassObject) => status?.amis?.map(({ id }) => id);
    const spec = (...terms: Record<string, string>[]) => ({ amiSelectorTerms: terms.map((tags) => ({ tags })) });
    expect(ids(await create({ amiFamily: "AL2023", ...spec({ a: "x" }) }))).toEqual(["ami-a", "ami-ab"]);
    expect(ids(await update(spec({ a: "x", b: "*" })))).toEqual(["ami-ab"]);
    expect(ids(await update(spec({ a: "x", b: "y" })))).toBeUndefined();
    expect(ids(await update(spec({ a: "x", b: "x" }, { c: "x" })))).toEqual(["ami-c", "ami-ab"]);
  });

  it("04 §1.7 a parameter of the user's is remembered for five minutes", async () => {
    const { create, aws, pass, read } = await open({
      account: (one) => {
        one.parameters.set("/mine", "ami-amd64");
        one.images.push(image("ami-next"));
      },
    });
    await create({ amiFamily: "AL2023", amiSelectorTerms: [{ ssmParameter: "/mine" }] });
    aws.parameters.set("/mine", "ami-next");
    const ids = async () => (await read()).status?.amis?.map(({ id }) => id);
    await pass(4 * 60);
    expect(await ids()).toEqual(["ami-amd64"]);
    expect(aws.inputsOf("ssm:GetParameter")).toHaveLength(1);
    await pass(2 * 60);
    expect(await ids()).toEqual(["ami-next"]);
    expect(aws.inputsOf("ssm:GetParameter")).toHaveLength(2);
  });

  it("04 §1.7 of equal images the one that is not deprecated wins, then the newer, then the later name", async () => {
    const past = "2025-01-01T00:00:00.000Z";
    const { create, aws, pass, read } = await open({
      account: ({ images }) =>
        images.splice(
          0,
          images.length,
          image("ami-new", { CreationDate: "2025-12-01T00:00:00.000Z", DeprecationTime: past }),
          image("ami-b", { Name: "b", CreationDate: "2025-11-01T00:00:00.000Z" }),
          image("ami-c", { Name: "c", CreationDate: "2025-11-01T00:00:00.000Z" }),
          image("ami-old", { Name: "z", CreationDate: past }),
          image("ami-nodate", { Name: "zz", CreationDate: "" }),
          image("ami-odd", { Architecture: "i386" }),
        ),
    });
    const terms = ["ami-new", "ami-b", "ami-c", "ami-old", "ami-nodate", "ami-odd"].map((id) => ({ id }));
    const { status } = await create({ amiFamily: "AL2023", amiSelectorTerms: terms });
    expect(status?.amis?.map(({ id }) => id)).toEqual(["ami-c"]);
    aws.images.splice(1);
    await pass(6 * 60);
    const { status: later } = await read();
    expect(later?.amis).toMatchObject([{ id: "ami-new", deprecated: true }]);
  });

  it("04 §1.7 a parameter is remembered for a day, unless its image is deprecated meanwhile", async () => {
    const name = `${eks}/amazon-linux-2023/x86_64/standard/recommended/image_id`;
    const { create, aws, pass, read } = await open({
      account: (one) => {
        one.parameters.set(name, "ami-1");
        one.images.push(image("ami-1"), image("ami-2", { CreationDate: "2026-01-01T00:30:00.000Z" }));
      },
    });
    await create({ amiSelectorTerms: [{ alias: "al2023@latest" }] });
    aws.parameters.set(name, "ami-2");
    await pass(40 * 60);
    expect((await read()).status?.amis?.map(({ id }) => id)).toEqual(["ami-1"]);
    const [first] = aws.images.filter(({ ImageId }) => ImageId === "ami-1");
    if (first) first.DeprecationTime = new Date(startAt + 41 * minute).toISOString();
    await pass(30 * 60);
    expect((await read()).status?.amis?.map(({ id }) => id)).toEqual(["ami-2"]);
  });

  it("04 §1.7 a pinned parameter is kept when its image is deprecated: it will not name another", async () => {
    const pinned = "amazon-eks-node-al2023-x86_64-standard-1.33-v20260101";
    const name = `${eks}/amazon-linux-2023/x86_64/standard/${pinned}/image_id`;
    const { create, aws, pass, read } = await open({
      account: (one) => {
        one.parameters.set(name, "ami-1");
        one.images.push(image("ami-1", { DeprecationTime: new Date(startAt + minute).toISOString() }));
      },
    });
    await create({ amiSelectorTerms: [{ alias: "al2023@v20260101" }] });
    const asked = aws.inputsOf<{ name: string }>("ssm:GetParameter").filter((one) => one.name === name);
    await pass(65 * 60);
    expect(aws.inputsOf<{ name: string }>("ssm:GetParameter").filter((one) => one.name === name)).toEqual(asked);
    expect((await read()).status?.amis).toMatchObject([{ id: "ami-1", deprecated: true }]);
    expect(asked).toHaveLength(1);
  });
});

describe("capacity reservations", () => {
  const reservation = (CapacityReservationId: string, changes: object = {}) => ({
    CapacityReservationId,
    AvailabilityZone: "us-west-2a",
    InstanceType: "m5.large",
    InstanceMatchCriteria: "targeted" as const,
    OwnerId: "123456789012",
    State: "active" as const,
    ...changes,
  });

  it("04 §1.3 reservations by id, tags, owner and criteria, with their state", async () => {
    const at = (ms: number) => new Date(startAt + ms);
    const { create, condition, lines } = await open({
      account: ({ capacityReservations }) => {
        capacityReservations.push(
          reservation("cr-1"),
          reservation("cr-2", { InstanceMatchCriteria: "open", Tags: [{ Key: "a", Value: "b" }], Interruptible: true }),
          reservation("cr-3", {
            ReservationType: "capacity-block",
            EndDate: at(39 * minute),
            Tags: [{ Key: "a", Value: "b" }],
          }),
          reservation("cr-4", {
            ReservationType: "capacity-block",
            EndDate: at(60 * minute),
            Tags: [{ Key: "a", Value: "b" }],
          }),
          reservation("cr-5", { EndDate: at(-minute), Tags: [{ Key: "a", Value: "b" }] }),
          reservation("cr-6", { ReservationType: "new-kind", Tags: [{ Key: "a", Value: "b" }] }),
          reservation("cr-7", { State: "expired" }),
          reservation("cr-8", { OwnerId: "000000000000", InstanceMatchCriteria: "open" }),
        );
      },
    });
    const { status } = await create({
      capacityReservationSelectorTerms: [
        { id: "cr-1" },
        { id: "cr-7" },
        { id: "cr-missing" },
        { tags: { a: "*" } },
        { instanceMatchCriteria: "open", ownerID: "000000000000" },
      ],
    });
    expect(await condition("CapacityReservationsReady")).toBe("True CapacityReservationsReady");
    expect(
      status?.capacityReservations?.map((one) => [one.id, one.reservationType, one.state, one.interruptible]),
    ).toEqual([
      ["cr-1", "default", "active", false],
      ["cr-2", "default", "active", true],
      ["cr-3", "capacity-block", "expiring", false],
      ["cr-4", "capacity-block", "active", false],
      ["cr-8", "default", "active", false],
    ]);
    expect(lines.some((line) => line["id"] === "cr-6")).toBe(true);
  });

  it("04 §1.4 one that ends within the minute is looked at when it does; none is no problem", async () => {
    const { create, read, pass } = await open({
      account: ({ capacityReservations }) => {
        capacityReservations.push(reservation("cr-1", { EndDate: new Date(startAt + 20_000) }));
      },
    });
    expect(
      (await create({ capacityReservationSelectorTerms: [{ id: "cr-1" }] })).status?.capacityReservations,
    ).toHaveLength(1);
    await pass(20);
    expect((await read()).status).not.toHaveProperty("capacityReservations");
  });

  it("04 §1.4 without their gate reservations are neither read nor part of Ready", async () => {
    const { create, condition, aws } = await open({ usesReservations: false });
    await create({ capacityReservationSelectorTerms: [{ id: "cr-1" }] });
    expect(aws.inputsOf("ec2:DescribeCapacityReservations")).toEqual([]);
    expect(await condition("Ready")).toBe("True Ready");
    expect(await condition("CapacityReservationsReady")).toBe("undefined undefined");
  });
});

describe("placement groups", () => {
  it("04 §1.4 a group is found by name or id, if it is available", async () => {
    const { create, update, condition, aws, pass } = await open({
      account: ({ placementGroups }) => {
        placementGroups.push(
          { GroupId: "pg-1", GroupName: "fast", Strategy: "cluster", State: "available" },
          { GroupId: "pg-2", GroupName: "old", Strategy: "spread", State: "deleting" },
        );
      },
    });
    await create({ placementGroupSelector: { name: "fast" } });
    expect(await condition("PlacementGroupReady")).toBe("True PlacementGroupReady");
    await update({ placementGroupSelector: { name: null, id: "pg-2" } });
    expect(await condition("PlacementGroupReady")).toBe("False PlacementGroupNotFound");
    await update({ placementGroupSelector: { id: "pg-9" } });
    expect(await condition("PlacementGroupReady")).toBe("False PlacementGroupNotFound");
    await update({ placementGroupSelector: null });
    expect(await condition("PlacementGroupReady")).toBe("True PlacementGroupReady");
    aws.failNext("ec2:DescribePlacementGroups", { code: "UnauthorizedOperation" }, 12);
    await update({ placementGroupSelector: { id: "pg-3" } });
    expect(await condition("PlacementGroupReady")).toBe("False PlacementGroupResolutionFailed");
    aws.placementGroups.push({ GroupId: "pg-3", GroupName: "late", Strategy: "partition", State: "available" });
    await pass(10 * 60);
    expect(await condition("PlacementGroupReady")).toBe("True PlacementGroupReady");
  });
});
