import { expect, it } from "vitest";
import { isAwsError } from "../../../src/providers/aws/api/aws-error.ts";
import { describeOnMoto, type WireAccount } from "./shared.ts";

async function createTemplate({ api }: WireAccount, LaunchTemplateName: string): Promise<void> {
  const [group] = await api.ec2.describeSecurityGroups({});
  await api.ec2.createLaunchTemplate({
    LaunchTemplateName,
    LaunchTemplateData: {
      ImageId: "ami-0a00000000000001",
      UserData: Buffer.from("hello").toString("base64"),
      NetworkInterfaces: [{ DeviceIndex: 0, Groups: [group?.GroupId ?? ""] }],
    },
    TagSpecifications: [{ ResourceType: "launch-template", Tags: [{ Key: "eks:eks-cluster-name", Value: "wire" }] }],
  });
}

interface FleetChoice {
  readonly template: string;
  readonly capacityType?: "on-demand" | "spot" | "capacity-block";
  readonly count?: number;
  readonly types?: readonly string[];
  readonly subnetId?: string;
  readonly isDryRun?: boolean;
}

async function launch({ api }: WireAccount, choice: FleetChoice) {
  const { template, capacityType = "on-demand", count = 1, types = ["m5.large"], isDryRun } = choice;
  const [subnet] = await api.ec2.describeSubnets({ Filters: [{ Name: "availabilityZone", Values: ["us-west-2a"] }] });
  return api.ec2.createFleet({
    Type: "instant",
    ...(isDryRun && { DryRun: true }),
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: template, Version: "$Latest" },
        Overrides: types.map((type, index) => ({
          InstanceType: type as "m5.large",
          SubnetId: choice.subnetId ?? subnet?.SubnetId,
          AvailabilityZone: "us-west-2a",
          ImageId: "ami-0a00000000000001",
          Priority: index,
        })),
      },
    ],
    TargetCapacitySpecification: { DefaultTargetCapacityType: capacityType, TotalTargetCapacity: count },
    TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "karpenter.sh/nodepool", Value: "default" }] }],
  });
}

const alive = ["pending", "running", "stopping", "stopped", "shutting-down"];
const states = { Name: "instance-state-name", Values: alive };

describeOnMoto("launches", (account) => {
  it("04 §7.2 launch templates: more than a page of them, by name and tag; codes of missing and existing ones", async () => {
    const { ec2 } = account().api;
    for (let index = 0; index < 20; index++) await createTemplate(account(), `many/${index}`);
    const Filters = [{ Name: "tag:eks:eks-cluster-name", Values: ["wire"] }];
    expect(await ec2.describeLaunchTemplates({ Filters })).toHaveLength(20);
    expect(await ec2.describeLaunchTemplates({ LaunchTemplateNames: ["many/7"] })).toHaveLength(1);
    await expect(createTemplate(account(), "many/7")).rejects.toMatchObject({
      code: "InvalidLaunchTemplateName.AlreadyExistsException",
    });
    await expect(ec2.describeLaunchTemplates({ LaunchTemplateNames: ["none"] })).rejects.toMatchObject({
      code: "InvalidLaunchTemplateName.NotFoundException",
    });
    for (let index = 0; index < 20; index++) await ec2.deleteLaunchTemplate({ LaunchTemplateName: `many/${index}` });
    expect(await ec2.describeLaunchTemplates({ Filters })).toEqual([]);
    await expect(ec2.deleteLaunchTemplate({ LaunchTemplateId: "lt-0123456789abcdef0" })).rejects.toSatisfy((error) =>
      isAwsError(error, "InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound"),
    );
  });

  it("04 §7.2 CreateFleet on demand: as many instances as wanted, with tags and, by the shim, security groups", async () => {
    const { ec2 } = account().api;
    await createTemplate(account(), "fleet");
    const { Instances = [], Errors = [] } = await launch(account(), { template: "fleet", count: 3 });
    const ids = Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []);
    expect(ids).toHaveLength(3);
    expect(Errors).toEqual([]);
    expect(Instances[0]?.InstanceType).toBe("m5.large");
    const found = await ec2.describeInstances({ InstanceIds: ids, Filters: [states] });
    for (const { Tags, Placement, SecurityGroups, SubnetId, InstanceLifecycle } of found) {
      expect(Tags).toContainEqual({ Key: "karpenter.sh/nodepool", Value: "default" });
      expect(Placement?.AvailabilityZone).toBe("us-west-2a");
      expect(SecurityGroups).toHaveLength(1);
      expect(SubnetId).toMatch(/^subnet-/);
      expect(InstanceLifecycle).not.toBe("spot");
    }
  });

  it("04 §7.2 CreateFleet spot: the instance says that it is spot", async () => {
    await createTemplate(account(), "spot");
    const { Instances = [] } = await launch(account(), { template: "spot", capacityType: "spot" });
    const ids = Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []);
    const [instance] = await account().api.ec2.describeInstances({ InstanceIds: ids });
    expect(instance?.InstanceLifecycle).toBe("spot");
  });

  it("04 §7.2 CreateFleet for a capacity block: neither instances nor errors", async () => {
    await createTemplate(account(), "block");
    const answer = await launch(account(), { template: "block", capacityType: "capacity-block" });
    expect([answer.Instances ?? [], answer.Errors ?? []]).toEqual([[], []]);
  });

  it("04 §7.2 CreateFleet: dry run, unknown template and unknown subnet have their codes", async () => {
    await createTemplate(account(), "codes");
    await expect(launch(account(), { template: "codes", isDryRun: true })).rejects.toMatchObject({
      code: "DryRunOperation",
    });
    await expect(launch(account(), { template: "none" })).rejects.toMatchObject({
      code: "InvalidLaunchTemplateName.NotFoundException",
    });
    await expect(launch(account(), { template: "codes", subnetId: "subnet-00000000" })).rejects.toMatchObject({
      code: "InvalidSubnetID.NotFound",
    });
  });

  it("04 §7.3 pools that are sold out are errors of the answer, beside instances from others or alone", async () => {
    const { shim } = account();
    await createTemplate(account(), "stock");
    shim.tables.soldOut.push({ capacityType: "spot", type: "m5.large", zone: "us-west-2a" });
    const choice = { template: "stock", capacityType: "spot", types: ["m5.large", "c5.large"] } as const;
    const mixed = await launch(account(), choice);
    expect(mixed.Instances?.map(({ InstanceType }) => InstanceType)).toEqual(["c5.large"]);
    expect(mixed.Errors).toEqual([
      expect.objectContaining({
        ErrorCode: "InsufficientInstanceCapacity",
        Lifecycle: "spot",
        LaunchTemplateAndOverrides: expect.objectContaining({
          Overrides: expect.objectContaining({ InstanceType: "m5.large", AvailabilityZone: "us-west-2a" }),
        }),
      }),
    ]);
    shim.tables.soldOut.push({ capacityType: "*", type: "*", zone: "*", code: "InsufficientFreeAddressesInSubnet" });
    const none = await launch(account(), choice);
    expect(none.Instances ?? []).toEqual([]);
    expect(none.Errors?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      "InsufficientInstanceCapacity",
      "InsufficientFreeAddressesInSubnet",
    ]);
    expect(none.Errors?.[1]?.LaunchTemplateAndOverrides?.Overrides?.SubnetId).toMatch(/^subnet-/);
  });

  it("04 §7.2 RunInstances: a dry run that is allowed, and one that is refused", async () => {
    const { api, shim } = account();
    const input = { DryRun: true, MinCount: 1, MaxCount: 1, ImageId: "ami-0a00000000000001" } as const;
    await expect(api.ec2.runInstances(input)).rejects.toMatchObject({ code: "DryRunOperation" });
    const message = "You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/x";
    shim.tables.fail({ action: "ec2:RunInstances", code: "UnauthorizedOperation", message, status: 403 });
    await expect(api.ec2.runInstances(input)).rejects.toMatchObject({
      code: "UnauthorizedOperation",
      status: 403,
      message: expect.not.stringContaining("123456789012"),
    });
    expect(shim.calls.map(({ action }) => action)).toEqual(["RunInstances", "RunInstances"]); // a refusal is not retried
  });

  it("04 §7.2 DescribeInstances by tags and state; one unknown id fails the whole request", async () => {
    const { ec2 } = account().api;
    await createTemplate(account(), "describe");
    const { Instances = [] } = await launch(account(), { template: "describe", count: 5 });
    const ids = Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []);
    const byKey = { Filters: [{ Name: "tag-key", Values: ["karpenter.sh/nodepool"] }, states] };
    expect((await ec2.describeInstances(byKey)).length).toBeGreaterThanOrEqual(5);
    const none = { Filters: [{ Name: "tag:eks:eks-cluster-name", Values: ["other"] }, states] };
    expect(await ec2.describeInstances(none)).toEqual([]);
    await expect(ec2.describeInstances({ InstanceIds: [ids[0] ?? "", "i-0123456789abcdef0"] })).rejects.toMatchObject({
      code: "InvalidInstanceID.NotFound",
    });
  });

  it("04 §7.2 DescribeInstances: instances of all pages, each once", async () => {
    const { api, shim } = account();
    await createTemplate(account(), "pages");
    const launched: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { Instances = [] } = await launch(account(), { template: "pages" });
      launched.push(...Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []));
    }
    await api.ec2.createTags({ Resources: launched, Tags: [{ Key: "paged", Value: "yes" }] });
    shim.tables.instancePageSize = 2;
    shim.calls.splice(0);
    const found = await api.ec2.describeInstances({ Filters: [{ Name: "tag-key", Values: ["paged"] }, states] });
    expect(found.map(({ InstanceId }) => InstanceId).sort()).toEqual([...launched].sort());
    expect(shim.calls.filter(({ action }) => action === "DescribeInstances")).toHaveLength(3);
    const none = { Filters: [{ Name: "tag-key", Values: ["nowhere"] }, states] };
    expect(await api.ec2.describeInstances(none)).toEqual([]);
  });

  it("04 §7.2 TerminateInstances: gone from a read by state; one unknown id fails the request", async () => {
    const { ec2 } = account().api;
    await createTemplate(account(), "terminate");
    const { Instances = [] } = await launch(account(), { template: "terminate", count: 2 });
    const ids = Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []);
    await expect(ec2.terminateInstances({ InstanceIds: [...ids, "i-0123456789abcdef0"] })).rejects.toMatchObject({
      code: "InvalidInstanceID.NotFound",
    });
    const changes = await ec2.terminateInstances({ InstanceIds: ids });
    expect(changes.map(({ InstanceId }) => InstanceId).sort()).toEqual([...ids].sort());
    for (const { CurrentState } of changes) expect(["shutting-down", "terminated"]).toContain(CurrentState?.Name);
    expect(await ec2.describeInstances({ InstanceIds: ids, Filters: [states] })).toEqual([]);
  });

  it("04 §7.2 CreateTags adds tags to an instance", async () => {
    const { ec2 } = account().api;
    await createTemplate(account(), "tags");
    const { Instances = [] } = await launch(account(), { template: "tags" });
    const ids = Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []);
    await ec2.createTags({ Resources: ids, Tags: [{ Key: "Name", Value: "node-1" }] });
    const [instance] = await ec2.describeInstances({ InstanceIds: ids });
    expect(instance?.Tags).toContainEqual({ Key: "Name", Value: "node-1" });
  });

  it("04 §7.2 DescribeInstanceStatus: impaired instances and events through the shim, by EC2's filters", async () => {
    const { api, shim } = account();
    const since = "2026-01-01T00:00:00.000Z";
    shim.tables.impairments.push(
      { instanceId: "i-1", kind: "instance", since },
      { instanceId: "i-2", kind: "system", since },
      { instanceId: "i-3", kind: "event", since, eventCode: "instance-retirement" },
    );
    const status = async (Name: string, Values: string[]) =>
      (await api.ec2.describeInstanceStatus({ Filters: [{ Name, Values }] })).map(({ InstanceId }) => InstanceId);
    expect(await status("instance-status.status", ["impaired"])).toEqual(["i-1"]);
    expect(await status("system-status.status", ["impaired"])).toEqual(["i-2"]);
    expect(await status("event.code", ["instance-retirement"])).toEqual(["i-3"]);
    expect(await status("event.code", ["system-reboot"])).toEqual([]);
    const [first] = await api.ec2.describeInstanceStatus({
      Filters: [{ Name: "instance-status.status", Values: ["impaired"] }],
    });
    expect(first?.InstanceStatus?.Details?.[0]).toMatchObject({ Status: "failed", ImpairedSince: new Date(since) });
  });
});
