import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { awsPool, awsWorld } from "./aws-world.ts";
import type { FakeAws } from "./fake-aws.ts";
import { type NodeClassWorld, type NodeClassWorldOptions, nodeClassWorld } from "./node-class-world.ts";

let world: NodeClassWorld | undefined;

async function open(options: NodeClassWorldOptions = {}): Promise<NodeClassWorld> {
  world = await nodeClassWorld(options);
  return world;
}

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

const iamCalls = ({ aws }: NodeClassWorld) =>
  aws.calls.flatMap(({ operation }) => (operation.startsWith("iam:") ? [operation.slice(4)] : []));

describe("instance profiles", () => {
  it("04 §1.11 a role gets a profile with path and tags, and no more calls while all is well", async () => {
    const one = await open();
    const { metadata, status } = await one.create({ role: "team/KarpenterNodeRole", tags: { cost: "web" } });
    const name = status?.instanceProfile ?? "";
    const profile = one.aws.instanceProfiles.get(name);
    expect(profile?.Path).toBe(`/karpenter/us-west-2/demo/${metadata.uid}/`);
    expect(profile?.Roles?.map(({ RoleName }) => RoleName)).toEqual(["KarpenterNodeRole"]);
    expect(Object.fromEntries((profile?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual({
      cost: "web",
      "kubernetes.io/cluster/demo": "owned",
      "eks:eks-cluster-name": "demo",
      "karpenter.k8s.aws/ec2nodeclass": "web",
      "topology.kubernetes.io/region": "us-west-2",
    });
    const own = iamCalls(one).filter((operation) => operation !== "ListInstanceProfiles");
    expect(own).toEqual(["CreateInstanceProfile", "AddRoleToInstanceProfile"]);
    // A role written with its path is the same role when IAM is asked again. (04 §9.7)
    await one.pass(40 * 60);
    expect((await one.read()).status?.instanceProfile).toBe(name);
    expect(one.aws.instanceProfiles.size).toBe(1);
  });

  it("04 §1.11 another role gets a new profile; the old one is kept for an hour", async () => {
    const { create, update, aws, pass } = await open();
    aws.roles.add("Other");
    const { status } = await create();
    const { status: changed } = await update({ role: "Other" });
    expect(changed?.instanceProfile).not.toBe(status?.instanceProfile);
    expect([...aws.instanceProfiles.values()].map(({ Roles }) => Roles?.[0]?.RoleName)).toEqual([
      "KarpenterNodeRole",
      "Other",
    ]);
    await pass(45 * 60);
    expect(aws.instanceProfiles.size).toBe(2);
    await pass(60 * 60);
    expect([...aws.instanceProfiles.keys()]).toEqual([changed?.instanceProfile]);
  });

  it("04 §3.8 a profile that a claim names is not collected", async () => {
    const { create, update, aws, pass, claim } = await open();
    aws.roles.add("Other");
    const { status } = await create();
    const name = status?.instanceProfile ?? "";
    await claim("one", { annotations: { "karpenter.k8s.aws/instance-profile-name": name } });
    await update({ role: "Other" });
    await pass(3 * 60 * 60);
    expect(aws.instanceProfiles.has(name)).toBe(true);
  });

  it("04 §1.11 a profile that lost its role gets it back; one that is gone is made again", async () => {
    const { create, read, aws, pass } = await open();
    const name = (await create()).status?.instanceProfile ?? "";
    const profile = aws.instanceProfiles.get(name);
    if (profile) profile.Roles = [];
    await pass(16 * 60);
    expect(aws.instanceProfiles.get(name)?.Roles).toHaveLength(1);
    aws.instanceProfiles.delete(name);
    await pass(16 * 60);
    const again = (await read()).status?.instanceProfile ?? "";
    expect(again).not.toBe(name);
    expect(aws.instanceProfiles.has(again)).toBe(true);
  });

  it("04 §1.11 a role that does not exist leaves no profile behind, and is asked for once a minute", async () => {
    const { create, condition, events, aws, pass } = await open();
    await create({ role: "Missing" });
    await pass(50);
    expect(await condition("InstanceProfileReady")).toBe("Unknown AwaitingReconciliation");
    expect(aws.inputsOf("iam:AddRoleToInstanceProfile")).toHaveLength(1);
    expect(aws.instanceProfiles.size).toBe(0);
    expect((await events("web")).map(({ message }) => message).join()).toContain("The role with name Missing");
    aws.roles.add("Missing");
    await pass(5 * 60);
    expect(await condition("Ready")).toBe("True Ready");
  });

  it.each([[true], [false]])(
    "04 §1.11 a given profile is used as it is, without a call to IAM; isolated VPC: %s",
    async (isIsolatedVpc) => {
      const one = await open({ settings: { isIsolatedVpc } });
      await one.pass(1); // the collection of profiles has looked by now
      one.aws.calls.length = 0;
      const { status } = await one.create({ instanceProfile: "mine" });
      await one.pass(20 * 60);
      expect(status?.instanceProfile).toBe("mine");
      expect(iamCalls(one)).toEqual([]);
    },
  );

  it("04 §1.11 a profile that a given one replaces is kept for an hour", async () => {
    const { create, update, aws, pass } = await open();
    const own = (await create()).status?.instanceProfile ?? "";
    await pass(65 * 60); // that it is new protects it no more
    const { status } = await update({ role: null, instanceProfile: "mine" });
    expect(status?.instanceProfile).toBe("mine");
    await pass(45 * 60);
    expect([...aws.instanceProfiles.keys()]).toEqual([own]);
    await pass(60 * 60);
    expect([...aws.instanceProfiles.keys()]).toEqual([]);
  });

  it("04 §1.11 a profile that was given before is not touched when a role takes its place", async () => {
    const { create, update, aws } = await open();
    aws.instanceProfiles.set("mine", {
      InstanceProfileName: "mine",
      InstanceProfileId: "x",
      Path: "/",
      Arn: "arn",
      CreateDate: new Date(0),
      Roles: [],
    });
    await create({ instanceProfile: "mine" });
    const { status } = await update({ instanceProfile: null, role: "KarpenterNodeRole" });
    expect(status?.instanceProfile).toMatch(/^demo_/);
    expect(aws.instanceProfiles.get("mine")?.Roles).toEqual([]);
  });

  it("04 §1.11 a profile whose status was lost is not made twice", async () => {
    const { aws, services, create } = await open();
    const nodeClass = await create();
    const { status: _, ...lost } = nodeClass;
    const first = await services.instanceProfiles.resolve(lost);
    expect(await services.instanceProfiles.resolve(lost)).toBe(first);
    expect(first).toBe(nodeClass.status?.instanceProfile);
    expect(aws.instanceProfiles.size).toBe(1);
  });

  it("04 §1.11 what was just made is remembered for its class and role alone, for a minute", async () => {
    const { aws, services, pass } = await open();
    aws.roles.add("Other");
    const unwritten = (uid: string, role = "KarpenterNodeRole") =>
      services.instanceProfiles.resolve({
        apiVersion: "karpenter.k8s.aws/v1",
        kind: "EC2NodeClass",
        metadata: { name: "web", uid },
        spec: { role },
      } as never);
    const first = await unwritten("1");
    const otherClass = await unwritten("2");
    const otherRole = await unwritten("1", "Other");
    expect(new Set([first, otherClass, otherRole]).size).toBe(3);
    await pass(50);
    expect([await unwritten("1"), await unwritten("2"), await unwritten("1", "Other")]).toEqual([
      first,
      otherClass,
      otherRole,
    ]);
    await pass(10);
    expect(await unwritten("1")).not.toBe(first);
    expect(aws.instanceProfiles.size).toBe(4);
  });
});

describe("deleting a class", () => {
  const remove = async ({ client, pass }: NodeClassWorld) => {
    await client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
    await pass(1);
  };
  const isGone = async ({ get }: NodeClassWorld) => (await get(karpenterTypes.EC2NodeClass, "web")) === undefined;

  it("04 §1.14 waits for its claims, then deletes its profiles and launch templates, not those of others", async () => {
    const one = await open();
    await one.create({}, "other");
    await one.create();
    for (const name of ["a", "b", "c", "d", "e", "f"]) await one.claim(name);
    await remove(one);
    const [event] = (await one.events("web")).filter(({ reason }) => reason === "WaitingOnNodeClaimTermination");
    expect(event?.message).toContain("a, b, c, d, e and 1 more");
    expect(await isGone(one)).toBe(false);
    expect(one.aws.instanceProfiles.size).toBe(2);
    for (const name of ["a", "b", "c", "d", "e", "f"]) await one.client.delete(karpenterTypes.NodeClaim, { name });
    await one.pass(1);
    expect(await isGone(one)).toBe(true);
    expect(one.aws.instanceProfiles.size).toBe(1);
    const owners = [...one.aws.launchTemplates.values()].map(
      ({ tags }) => tags.find(({ Key }) => Key === "karpenter.k8s.aws/ec2nodeclass")?.Value,
    );
    expect(owners).toEqual(["other"]);
  });

  it("04 §1.14 a failure keeps the finalizer", async () => {
    const one = await open();
    await one.create();
    one.aws.failNext("iam:ListInstanceProfiles", { code: "AccessDenied" }, 10);
    await remove(one);
    expect(await isGone(one)).toBe(false);
    const [event] = (await one.events("web")).filter(({ reason }) => reason === "NodeClassTerminationFailed");
    expect(event?.message).toContain("iam:ListInstanceProfiles is not allowed");
    await one.pass(10 * 60);
    expect(await isGone(one)).toBe(true);
    expect(one.aws.instanceProfiles.size).toBe(0);
  });

  it("04 §1.14 a launch template that cannot be deleted keeps the finalizer", async () => {
    const one = await awsWorld({ types: (name) => name === "m5.large" });
    const operation = "ec2:DeleteLaunchTemplate";
    one.aws.failNext(operation, { code: "UnauthorizedOperation" }, 100);
    await one.client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
    await one.pass(5);
    expect((await one.nodeClass())?.metadata.finalizers).toEqual(["karpenter.k8s.aws/termination"]);
    const [event] = (await one.events("web")).filter(({ reason }) => reason === "NodeClassTerminationFailed");
    expect(event?.message).toContain(`${operation} is not allowed`);
    one.aws.recover(operation);
    await one.pass(5 * 60);
    expect(await one.nodeClass()).toBeUndefined();
    expect(one.aws.launchTemplates.size).toBe(0);
    await one.stop();
  });

  it.each([
    ["in an isolated VPC", { settings: { isIsolatedVpc: true } }, {}],
    ["with a given profile", {}, { instanceProfile: "mine" }],
    ["with a given profile in an isolated VPC", { settings: { isIsolatedVpc: true } }, { instanceProfile: "mine" }],
  ])("04 §1.14 %s no profile is looked for", async (_, options, spec) => {
    const one = await open(options);
    await one.create(spec);
    one.aws.calls.length = 0;
    await remove(one);
    expect(await isGone(one)).toBe(true);
    expect(iamCalls(one)).toEqual([]);
  });

  const profileNamed = (name: string) => ({
    InstanceProfileName: name,
    InstanceProfileId: name,
    Path: "/",
    Arn: `arn:aws:iam::000000000000:instance-profile/${name}`,
    CreateDate: new Date(0),
    Roles: [{ RoleName: "KarpenterNodeRole", RoleId: "r", Path: "/", Arn: "arn", CreateDate: new Date(0) }],
  });

  it("04 §1.14 a profile under the name that old versions gave it is deleted, too, and no other", async () => {
    const legacy = "demo_5346303934099638368"; // hashstructure's FNV-1 of `us-west-2web`
    const one = await open({
      account: ({ instanceProfiles }) => {
        for (const name of [legacy, "demo_1", "mine"]) instanceProfiles.set(name, profileNamed(name));
      },
    });
    await one.create();
    await remove(one);
    expect(await isGone(one)).toBe(true);
    expect([...one.aws.instanceProfiles.keys()]).toEqual(["demo_1", "mine"]);
  });

  it("04 §1.14 an old name that IAM would refuse is not asked for", async () => {
    const one = await open({
      settings: { clusterName: "a".repeat(120), isDryRunDisabled: true },
      account: ({ clusters }) => clusters.set("a".repeat(120), clusters.get("demo") ?? {}),
    });
    await one.create();
    const own = (await one.read()).status?.instanceProfile;
    one.aws.calls.length = 0;
    await remove(one);
    expect(await isGone(one)).toBe(true);
    expect(one.aws.inputsOf("iam:GetInstanceProfile")).toEqual([{ name: own }]);
  });
});

describe("the hash", () => {
  const hash = "karpenter.k8s.aws/ec2nodeclass-hash";
  const version = "karpenter.k8s.aws/ec2nodeclass-hash-version";

  it("04 §1.13 follows the spec; claims of an older version are stamped anew unless drifted", async () => {
    const one = await open();
    const before = (await one.create()).metadata.annotations?.[hash];
    expect((await one.update({ tags: { a: "b" } })).metadata.annotations?.[hash]).not.toBe(before);
    const stale = { annotations: { [hash]: "1", [version]: "old" } };
    await one.claim("plain", stale);
    const drifted = await one.claim("drifted", stale);
    await one.status(drifted, {
      conditions: [
        { type: "Drifted", status: "True", reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
      ],
    });
    const patch = { kind: "merge", body: { metadata: { annotations: { [version]: "old" } } } } as const;
    await one.client.patch(karpenterTypes.EC2NodeClass, { name: "web" }, patch);
    await one.pass(1);
    const now = (await one.read()).metadata.annotations?.[hash];
    const annotationsOf = async (name: string) => (await one.get(karpenterTypes.NodeClaim, name))?.metadata.annotations;
    expect(await annotationsOf("plain")).toEqual({ [hash]: now, [version]: "v6" });
    expect(await annotationsOf("drifted")).toEqual({ [hash]: "1", [version]: "v6" });
  });
});

describe("validation", () => {
  const validation = (one: NodeClassWorld) => one.condition("ValidationSucceeded");
  const refused = { code: "UnauthorizedOperation", message: "You are not authorized to perform this operation." };

  it("04 §1.12 tries a template, a fleet and an instance, and launches nothing", async () => {
    const one = await open();
    await one.create({ tags: { a: "b" } });
    expect(await validation(one)).toBe("True ValidationSucceeded");
    const [fleet] = one.aws.inputsOf<{ DryRun: boolean }>("ec2:CreateFleet");
    const runs = one.aws.inputsOf<{ DryRun: boolean; InstanceType: string }>("ec2:RunInstances");
    expect(fleet?.DryRun).toBe(true);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ DryRun: true, InstanceType: "m5.large" });
    const [template] = one.aws.launchTemplates.values();
    const tags = Object.fromEntries((template?.tags ?? []).map(({ Key, Value }) => [Key, Value]));
    expect(tags).toMatchObject({ a: "b", "karpenter.sh/nodepool": "" });
    expect(one.aws.running()).toEqual([]);
  });

  it.each([
    ["ec2:CreateLaunchTemplate", "CreateLaunchTemplateAuthCheckFailed"],
    ["ec2:CreateFleet", "CreateFleetAuthCheckFailed"],
  ])("04 §1.12 %s refused is %s, remembered for half an hour", async (operation, reason) => {
    const one = await open({ account: (aws) => aws.failNext(operation, refused) });
    await one.create();
    expect(await validation(one)).toBe(`False ${reason}`);
    expect(await one.message("ValidationSucceeded")).toContain(`${operation} is not allowed`);
    await one.pass(29 * 60);
    expect(await validation(one)).toBe(`False ${reason}`);
    await one.pass(12 * 60);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it("04 §1.12 an instance must be allowed in one subnet", async () => {
    const one = await open({ account: (aws) => aws.failNext("ec2:RunInstances", refused) });
    await one.create();
    expect(await validation(one)).toBe("True ValidationSucceeded");
    expect(one.aws.inputsOf("ec2:RunInstances")).toHaveLength(2);
    one.aws.failNext("ec2:RunInstances", refused, one.aws.subnets.length);
    await one.update({ tags: { c: "d" } });
    expect(await validation(one)).toBe("False RunInstancesAuthCheckFailed");
  });

  it.each([
    ["a rate limit", { code: "RequestLimitExceeded" }],
    ["a server error", { code: "Whatever", status: 503 }],
  ])("04 §1.12 %s is tried again and decides nothing", async (_, error) => {
    const one = await open({ account: (aws) => aws.failNext("ec2:CreateFleet", error, 5) });
    await one.create();
    expect(await validation(one)).toBe("Unknown AwaitingReconciliation");
    await one.pass(60);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it("04 §1.12 another error is retried and leaves an event", async () => {
    const error = {
      code: "InvalidParameter",
      message: "Security group sg-1 and subnet subnet-1 belong to different networks.",
    };
    const one = await open({ account: (aws) => aws.failNext("ec2:RunInstances", error) });
    await one.create();
    const messages = (await one.events("web")).map(({ message }) => message).join();
    expect(messages).toContain("belong to different networks");
    await one.pass(30);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it("04 §1.12 user data that is too long is named", async () => {
    const message = "User data is limited to 16384 bytes";
    const one = await open({
      account: (aws) => aws.failNext("ec2:CreateLaunchTemplate", { code: "InvalidUserData.Malformed", message }),
    });
    await one.create();
    expect(await validation(one)).toBe("False UserDataSizeLimitExceeded");
  });

  const invalidProfile = {
    code: "InvalidParameterValue",
    message: "Value (mine) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
  };

  it("04 §1.12 a given profile that does not exist is named, and found as soon as it is there", async () => {
    const one = await open({ account: (aws) => aws.failNext("ec2:RunInstances", invalidProfile, 4) });
    await one.create({ instanceProfile: "mine" });
    expect(await validation(one)).toBe("False InstanceProfileNotFound");
    await one.pass(5 * 60);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it("04 §1.12 a profile of our own may not be known everywhere yet", async () => {
    const one = await open({ account: (aws) => aws.failNext("ec2:RunInstances", invalidProfile, 5) });
    await one.create();
    expect(await validation(one)).toBe("Unknown AwaitingReconciliation");
    await one.pass(60);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it("04 §1.12 the result is kept while nothing changes, an annotation included", async () => {
    const one = await open();
    await one.create();
    await one.pass(25 * 60);
    expect(one.aws.inputsOf("ec2:CreateFleet")).toHaveLength(1);
    const patch = { kind: "merge", body: { metadata: { annotations: { mine: "x" } } } } as const;
    await one.client.patch(karpenterTypes.EC2NodeClass, { name: "web" }, patch);
    await one.pass(1);
    expect(one.aws.inputsOf("ec2:CreateFleet")).toHaveLength(2);
  });

  it("04 §1.12 DISABLE_DRY_RUN makes none of the calls", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    await one.create();
    expect(await validation(one)).toBe("True ValidationSucceeded");
    for (const operation of ["ec2:CreateLaunchTemplate", "ec2:CreateFleet", "ec2:RunInstances"]) {
      expect(one.aws.inputsOf(operation)).toEqual([]);
    }
  });

  it("04 §1.12 the type is one of the class's pools, ordinary if possible, of the tenancy they allow", async () => {
    const one = await open();
    const pool = (name: string, requirements: readonly object[]) => ({
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name },
      spec: {
        template: {
          spec: { requirements, nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "web" } },
        },
      },
    });
    const requirement = (key: string, ...values: string[]) => ({ key, operator: "In", values });
    for (const object of [
      pool("gpu", [requirement("karpenter.k8s.aws/instance-family", "g4dn")]),
      pool("arm", [
        requirement("node.kubernetes.io/instance-type", "m6g.xlarge"),
        requirement("karpenter.k8s.aws/instance-tenancy", "dedicated"),
      ]),
    ]) {
      await one.client.create(karpenterTypes.NodePool, object);
    }
    await one.pass(1);
    await one.create();
    expect(one.aws.inputsOf<{ InstanceType: string }>("ec2:RunInstances")[0]?.InstanceType).toBe("m6g.xlarge");
    const [template] = one.aws.launchTemplates.values();
    expect(template?.data.Placement?.Tenancy).toBe("dedicated");
  });

  it.each([
    ["InvalidKubeletConfiguration", { kubelet: { maxPods: -1 } }],
    ["KubeletExpressionsDisabled", { kubelet: { maxPods: "vcpus * 10" } }],
    ["UnsupportedKubeletConfiguration", { amiFamily: "AL2", kubelet: { registryPullQPS: 5 } }],
  ] as const)("04 §1.12 %s", async (reason, spec) => {
    const one = await open();
    const terms = [{ tags: { "karpenter.sh/discovery": "demo" } }];
    await one.create({ amiFamily: "AL2023", amiSelectorTerms: terms, ...spec });
    expect(await validation(one)).toBe(`False ${reason}`);
  });

  it.each([
    ["KubeletExpressionInvalid", { maxPods: "vcpus *" }],
    ["KubeletExpressionEvaluationFailed", { kubeReserved: { cpu: "vcpus - 10" } }],
  ])("04 §1.10 with the gate NodeClassCEL: %s", async (reason, kubelet) => {
    const one = await open({ settings: { gates: { NodeClassCEL: true } } });
    await one.create({ kubelet });
    expect(await validation(one)).toBe(`False ${reason}`);
  });

  it("04 §1.10 with the gate NodeClassCEL an expression that holds for every type is fine", async () => {
    const one = await open({ settings: { gates: { NodeClassCEL: true } } });
    await one.create({ kubelet: { maxPods: "min(110, max_pods)" } });
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  it.each([
    [{ serviceIpv4Cidr: "10.100.0.0/16" }, "10.100.0.0/16"],
    [{ serviceIpv6Cidr: "fd00::/108" }, "fd00::/108"],
    [{ serviceIpv4Cidr: "10.100.0.0/16", serviceIpv6Cidr: "fd00::/108" }, "10.100.0.0/16"],
  ])("04 §1.12 AL2023 needs the CIDR of Services: of %j it is %s, asked for once", async (network, cidr) => {
    const one = await open({
      account: ({ clusters }) => {
        const cluster = clusters.get("demo");
        if (cluster) cluster.kubernetesNetworkConfig = network;
      },
    });
    await one.create();
    expect(await validation(one)).toBe("True ValidationSucceeded");
    expect(one.services.clusterCidr.known).toBe(cidr);
    await one.create({}, "other");
    await one.pass(11 * 60);
    expect(one.aws.inputsOf("eks:DescribeCluster")).toHaveLength(1);
    const userData = [...one.aws.launchTemplates.values()].map(({ data }) =>
      Buffer.from(data.UserData ?? "", "base64").toString(),
    );
    for (const text of userData) expect(text).toContain(`cidr: ${cidr}`);
  });

  it("04 §1.12 other families do not need the CIDR of Services", async () => {
    const one = await open({
      account: (aws) => aws.failNext("eks:DescribeCluster", { code: "AccessDeniedException" }, 9),
    });
    const discovery = [{ tags: { "karpenter.sh/discovery": "demo" } }];
    await one.create({ amiFamily: "Bottlerocket", amiSelectorTerms: discovery });
    expect(await validation(one)).toBe("True ValidationSucceeded");
    expect(one.aws.inputsOf("eks:DescribeCluster")).toEqual([]);
  });

  it("04 §1.12 a restricted tag that an older CRD let through is refused, and launches nothing", async () => {
    const one = await open();
    const schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/tags";
    await one.client.patch(
      builtInTypes.CustomResourceDefinition,
      { name: "ec2nodeclasses.karpenter.k8s.aws" },
      { kind: "json", body: [{ op: "remove", path: `${schema}/x-kubernetes-validations` }] },
    );
    await one.create({ tags: { "karpenter.sh/nodepool": "mine" } });
    expect(await validation(one)).toBe("False TagValidationFailed");
    expect(await one.message("ValidationSucceeded")).toContain("karpenter.sh/nodepool");
    expect(await one.condition("Ready")).toMatch(/^False/);
    expect(one.aws.inputsOf("ec2:CreateLaunchTemplate")).toEqual([]);
    await one.update({ tags: null });
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });

  const tried = (one: NodeClassWorld) =>
    one.aws.inputsOf<{ InstanceType: string }>("ec2:RunInstances")[0]?.InstanceType;
  const aliasImage = (name: string, Architecture: "x86_64" | "arm64") => (aws: FakeAws) => {
    aws.parameters.set(name, "ami-alias");
    aws.images.push({ ImageId: "ami-alias", Architecture, CreationDate: "2026-01-01T00:00:00.000Z" });
  };

  it.each([
    [
      "windows2022@latest",
      "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id",
      "x86_64",
      "m5.large",
    ],
    [
      "al2023@latest",
      "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/arm64/standard/recommended/image_id",
      "arm64",
      "m6g.large",
    ],
    [
      "al2023@latest",
      "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/neuron/recommended/image_id",
      "x86_64",
      "inf1.xlarge",
    ],
  ] as const)("04 §1.12 without a type of a pool, %s with the image of %s tries %s %s", async (...row) => {
    const [alias, name, architecture, type] = row;
    const one = await open({ account: aliasImage(name, architecture) });
    await one.create({ amiSelectorTerms: [{ alias }] });
    expect(await validation(one)).toBe("True ValidationSucceeded");
    expect(tried(one)).toBe(type);
  });

  it("04 §1.12 Windows is tried with the usual type, whatever its pools want", async () => {
    const name = "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id";
    const one = await open({ account: aliasImage(name, "x86_64") });
    const requirements = [{ key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["g4dn"] }];
    await one.client.create(karpenterTypes.NodePool, awsPool("gpu", "web", requirements) as KubeObject);
    await one.pass(1);
    await one.create({ amiSelectorTerms: [{ alias: "windows2022@latest" }] });
    expect(await validation(one)).toBe("True ValidationSucceeded");
    expect(tried(one)).toBe("m5.large");
  });

  it.each([
    [{ code: "AccessDeniedException", status: 403 }, "False ClusterCIDRResolutionFailed"],
    [{ code: "ServerException", status: 500 }, "Unknown AwaitingReconciliation"],
  ])("04 §1.12 a CIDR that cannot be read for %j leaves %s", async (error, condition) => {
    const one = await open({ account: (aws) => aws.failNext("eks:DescribeCluster", error, 12) });
    await one.create();
    expect(await validation(one)).toBe(condition);
    await one.pass(20 * 60);
    expect(await validation(one)).toBe("True ValidationSucceeded");
  });
});
