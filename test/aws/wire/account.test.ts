import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { eventually } from "../../cluster/eventually.ts";
import { type AnyAccount, describeOnAnyAccount } from "./shared.ts";
import { publishImages, publishPrices } from "./story.ts";

/** Of this run, in the name and tags of everything it creates. */
const run = `wire-${Date.now().toString(36)}`;
const runTag = { Key: "karpenter-ts/wire-test", Value: run };
const unknownInstance = "i-0123456789abcdef0";

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "answered",
    (error: { readonly code?: string }) => error.code ?? "no code",
  );

/** The subnets, groups and image that nodes of the cluster would have. */
async function nodeSettings({ api, cluster }: AnyAccount) {
  const Filters = [{ Name: "tag:karpenter.sh/discovery", Values: [cluster] }];
  const { version } = await api.eks.describeCluster(cluster);
  const path = `/aws/service/eks/optimized-ami/${version}/amazon-linux-2023/x86_64/standard/recommended/image_id`;
  const [subnets, groups, imageId] = await Promise.all([
    api.ec2.describeSubnets({ Filters }),
    api.ec2.describeSecurityGroups({ Filters }),
    api.ssm.getParameter(path),
  ]);
  return { subnets, groups, imageId };
}

describeOnAnyAccount(
  "an account that was prepared for a cluster",
  (account, itCreates) => {
    it("04 §9.7-7 EC2 answers a dry run, and describes types, where they are offered and what they cost on spot", async () => {
      const { ec2 } = account().api;
      expect(["answered", "DryRunOperation"]).toContain(await codeOf(ec2.describeInstanceTypes({ DryRun: true })));
      const byType = { Filters: [{ Name: "instance-type", Values: ["m5.large"] }] };
      const [type] = await ec2.describeInstanceTypes(byType);
      expect(type).toMatchObject({
        VCpuInfo: { DefaultVCpus: 2 },
        MemoryInfo: { SizeInMiB: 8_192 },
        NetworkInfo: { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10 },
      });
      const offered = await ec2.describeInstanceTypeOfferings({ LocationType: "availability-zone", ...byType });
      expect(offered.length).toBeGreaterThan(0);
      const StartTime = new Date();
      const [price] = await ec2.describeSpotPriceHistory({ InstanceTypes: ["m5.large"], StartTime });
      expect(Number(price?.SpotPrice)).toBeGreaterThan(0);
    });

    it("04 §9.7-7 subnets and security groups of the cluster are tagged, and in one network", async () => {
      const { subnets, groups } = await nodeSettings(account());
      expect(subnets.length).toBeGreaterThan(0);
      for (const { AvailabilityZone, AvailabilityZoneId, AvailableIpAddressCount } of subnets) {
        expect(AvailabilityZone).toContain(account().region);
        expect(AvailabilityZoneId).toMatch(/-az\d+$/);
        expect(AvailableIpAddressCount).toBeGreaterThan(0);
      }
      expect(new Set([...subnets, ...groups].map(({ VpcId }) => VpcId)).size).toBe(1);
    });

    it("04 §9.7-7 EKS knows the cluster, SSM the image of its version, and EC2 that image", async () => {
      const { api, cluster } = account();
      expect(await api.eks.describeCluster(cluster)).toMatchObject({
        endpoint: expect.stringMatching(/^https:/),
        certificateAuthority: { data: expect.any(String) },
        arn: expect.stringContaining(`:cluster/${cluster}`),
      });
      const { imageId } = await nodeSettings(account());
      const [image] = await api.ec2.describeImages({ Filters: [{ Name: "image-id", Values: [imageId] }] });
      expect(image).toMatchObject({ ImageId: imageId, Architecture: "x86_64", State: "available" });
      expect(await codeOf(api.eks.describeCluster(`${run}-none`))).toBe("ResourceNotFoundException");
      expect(await codeOf(api.ssm.getParameter(`/${run}/none`))).toBe("ParameterNotFound");
    });

    it("04 §9.7-7 the price list has a product of the region", async () => {
      const { api, region } = account();
      const field = (Field: string, Value: string) => ({ Type: "TERM_MATCH" as const, Field, Value });
      const products = await api.pricing.getProducts({
        ServiceCode: "AmazonEC2",
        Filters: [
          field("regionCode", region),
          field("instanceType", "m5.large"),
          field("tenancy", "Shared"),
          field("operatingSystem", "Linux"),
          field("preInstalledSw", "NA"),
          field("capacitystatus", "Used"),
        ],
      });
      const types = products.map((text) => JSON.parse(text).product.attributes.instanceType as string);
      expect(types).toContain("m5.large");
    });

    it("04 §9.7-7 what is not there is refused with the code we know", async () => {
      const { ec2, iam, sqs } = account().api;
      const group = { GroupNames: [`${run}-none`] };
      const reservation = { CapacityReservationIds: ["cr-0123456789abcdef0"] };
      expect({
        instance: await codeOf(ec2.describeInstances({ InstanceIds: [unknownInstance] })),
        template: await codeOf(ec2.describeLaunchTemplates({ LaunchTemplateNames: [`${run}/none`] })),
        reservation: await codeOf(ec2.describeCapacityReservations(reservation)),
        group: await codeOf(ec2.describePlacementGroups(group)),
        profile: await codeOf(iam.getInstanceProfile(`${run}-none`)),
        role: await codeOf(iam.getRole(`${run}-none`)),
        queue: await codeOf(sqs.getQueueUrl(`${run}-none`)),
      }).toEqual({
        instance: "InvalidInstanceID.NotFound",
        template: "InvalidLaunchTemplateName.NotFoundException",
        reservation: "InvalidCapacityReservationId.NotFound",
        group: "InvalidPlacementGroup.Unknown",
        profile: "NoSuchEntity",
        role: "NoSuchEntity",
        queue: "QueueDoesNotExist",
      });
    });

    it("04 §9.7-7 role, queue, profiles, instances and their health, reservations and groups can be read", async () => {
      const { api, cluster, region } = account();
      expect((await api.iam.getRole(`KarpenterNodeRole-${cluster}`)).RoleName).toBe(`KarpenterNodeRole-${cluster}`);
      expect(await api.sqs.getQueueUrl(cluster)).toMatch(new RegExp(`/${cluster}$`));
      const active = [{ Name: "state", Values: ["active"] }];
      const impaired = [{ Name: "instance-status.status", Values: ["impaired"] }];
      const answers = await Promise.all([
        api.iam.listInstanceProfiles({ PathPrefix: `/karpenter/${region}/${cluster}/` }),
        api.ec2.describeInstances({ Filters: [{ Name: "tag:eks:eks-cluster-name", Values: [cluster] }] }),
        api.ec2.describeInstanceStatus({ Filters: impaired }),
        api.ec2.describeCapacityReservations({ Filters: active }),
        api.ec2.describePlacementGroups({ Filters: [{ Name: "state", Values: ["available"] }] }),
      ]);
      expect(answers.map(Array.isArray)).toEqual([true, true, true, true, true]);
    });

    itCreates("04 §9.7-7 an instance profile is made, gets a role, and is deleted", { timeout: 120_000 }, async () => {
      const { api, cluster, region } = account();
      const [InstanceProfileName, Path] = [`${cluster}_${run}`, `/karpenter/${region}/${cluster}/${run}/`];
      const RoleName = `KarpenterNodeRole-${cluster}`;
      await api.iam.createInstanceProfile({ InstanceProfileName, Path, Tags: [runTag] });
      try {
        await api.iam.addRoleToInstanceProfile({ InstanceProfileName, RoleName });
        await api.iam.tagInstanceProfile({ InstanceProfileName, Tags: [{ Key: "second", Value: "yes" }] });
        const found = await api.iam.getInstanceProfile(InstanceProfileName);
        expect(found).toMatchObject({ Path, Roles: [expect.objectContaining({ RoleName })] });
        expect(found.Tags).toHaveLength(2);
        expect(await codeOf(api.iam.deleteInstanceProfile(InstanceProfileName))).toBe("DeleteConflict");
        await api.iam.removeRoleFromInstanceProfile({ InstanceProfileName, RoleName });
      } finally {
        await codeOf(api.iam.removeRoleFromInstanceProfile({ InstanceProfileName, RoleName }));
        await api.iam.deleteInstanceProfile(InstanceProfileName);
      }
      expect(await codeOf(api.iam.getInstanceProfile(InstanceProfileName))).toBe("NoSuchEntity");
    });

    itCreates(
      "04 §9.7-7 an instance is launched by template and fleet, tagged and ended",
      { timeout: 300_000 },
      async () => {
        const { ec2 } = account().api;
        const { subnets, groups, imageId } = await nodeSettings(account());
        const LaunchTemplateName = `${run}/launch`;
        const Groups = groups.map(({ GroupId = "" }) => GroupId);
        await ec2.createLaunchTemplate({
          LaunchTemplateName,
          LaunchTemplateData: { ImageId: imageId, NetworkInterfaces: [{ DeviceIndex: 0, Groups }] },
          TagSpecifications: [{ ResourceType: "launch-template", Tags: [runTag] }],
        });
        const launched: string[] = [];
        try {
          const fleet = {
            Type: "instant" as const,
            LaunchTemplateConfigs: [
              {
                LaunchTemplateSpecification: { LaunchTemplateName, Version: "$Latest" },
                Overrides: subnets.map(({ SubnetId, AvailabilityZone }) => ({
                  ...{ InstanceType: "t3.nano" as const, SubnetId, AvailabilityZone },
                })),
              },
            ],
            TargetCapacitySpecification: { DefaultTargetCapacityType: "on-demand" as const, TotalTargetCapacity: 1 },
            TagSpecifications: [{ ResourceType: "instance" as const, Tags: [runTag] }],
          };
          expect(await codeOf(ec2.createFleet({ ...fleet, DryRun: true }))).toBe("DryRunOperation");
          const template = { LaunchTemplateName, Version: "$Latest" };
          const NetworkInterfaces = [{ DeviceIndex: 0, Groups, SubnetId: subnets[0]?.SubnetId }];
          const one = { MinCount: 1, MaxCount: 1, DryRun: true as const, InstanceType: "t3.nano" as const };
          const single = { ...one, NetworkInterfaces };
          expect(await codeOf(ec2.runInstances({ ...single, LaunchTemplate: template }))).toBe("DryRunOperation");
          const { Instances = [] } = await ec2.createFleet(fleet); // a zone may be out of stock: then there are errors too
          launched.push(...Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []));
          expect(launched).toHaveLength(1);
          const found = await eventually("it is described", async () => {
            const [instance] = await ec2.describeInstances({ Filters: [{ Name: `tag:${runTag.Key}`, Values: [run] }] });
            return instance;
          });
          expect(found).toMatchObject({ InstanceId: launched[0], InstanceType: "t3.nano", ImageId: imageId });
          await ec2.createTags({ Resources: launched, Tags: [{ Key: "Name", Value: run }] });
          await eventually("it has its tag", async () => {
            const [instance] = await ec2.describeInstances({ InstanceIds: launched });
            return instance?.Tags?.some(({ Key, Value }) => Key === "Name" && Value === run) ? true : undefined;
          });
          const withUnknown = { InstanceIds: [...launched, unknownInstance] };
          expect(await codeOf(ec2.terminateInstances(withUnknown))).toBe("InvalidInstanceID.NotFound");
        } finally {
          if (launched.length > 0) {
            const changes = await ec2.terminateInstances({ InstanceIds: launched });
            for (const { CurrentState } of changes)
              expect(["shutting-down", "terminated"]).toContain(CurrentState?.Name);
          }
          await ec2.deleteLaunchTemplate({ LaunchTemplateName });
        }
        expect(await codeOf(ec2.describeLaunchTemplates({ LaunchTemplateNames: [LaunchTemplateName] }))).toBe(
          "InvalidLaunchTemplateName.NotFoundException",
        );
      },
    );

    itCreates("04 §9.7-7 a message is received from the queue and deleted", { timeout: 120_000 }, async () => {
      const { api, region, cluster } = account();
      const QueueUrl = await api.sqs.getQueueUrl(cluster);
      const sender = new SQSClient({ region });
      await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ source: run }) }));
      sender.destroy();
      const message = await eventually("it is received", async () =>
        (await api.sqs.receiveMessages(QueueUrl)).find(({ Body = "" }) => Body.includes(run)),
      );
      await api.sqs.deleteMessage(QueueUrl, message.ReceiptHandle ?? "");
    });
  },
  (account) => {
    publishImages({ account });
    publishPrices({ account });
  },
);
