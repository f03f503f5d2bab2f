import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { interruptionEventOf } from "../../../src/providers/aws/interruption/interruption-event.ts";
import {
  type InterruptionRuleName,
  interruptionRules,
} from "../../../src/providers/aws/interruption/interruption-rules.ts";
import { putEvent } from "./moto-account.ts";
import { describeOnMoto } from "./shared.ts";

describeOnMoto("IAM, SQS and what goes wrong", (account) => {
  it("04 §7.2 instance profiles: created with path and tags, one role, removed; every code as we know it", async () => {
    const { iam } = account().api;
    const [InstanceProfileName, Path] = ["wire_1", "/karpenter/us-west-2/wire/uid/"];
    const Tags = [{ Key: "eks:eks-cluster-name", Value: "wire" }];
    await expect(iam.getInstanceProfile(InstanceProfileName)).rejects.toMatchObject({ code: "NoSuchEntity" });
    await iam.createInstanceProfile({ InstanceProfileName, Path, Tags });
    await expect(iam.createInstanceProfile({ InstanceProfileName, Path })).rejects.toMatchObject({
      code: "EntityAlreadyExists",
    });
    const RoleName = "KarpenterNodeRole-wire";
    await iam.addRoleToInstanceProfile({ InstanceProfileName, RoleName });
    const found = await iam.getInstanceProfile(InstanceProfileName);
    expect(found).toMatchObject({ Path, Roles: [expect.objectContaining({ RoleName })] });
    expect(found.Tags).toEqual(Tags);
    await expect(iam.addRoleToInstanceProfile({ InstanceProfileName, RoleName })).rejects.toMatchObject({
      code: "LimitExceeded",
    });
    await expect(iam.deleteInstanceProfile(InstanceProfileName)).rejects.toMatchObject({ code: "DeleteConflict" });
    await iam.tagInstanceProfile({ InstanceProfileName, Tags: [{ Key: "team", Value: "a" }] });
    expect((await iam.getInstanceProfile(InstanceProfileName)).Tags).toHaveLength(2);
    await iam.createInstanceProfile({ InstanceProfileName: "other", Path: "/other/" });
    const listed = await iam.listInstanceProfiles({ PathPrefix: "/karpenter/us-west-2/wire/" });
    expect(listed.filter((profile) => profile.Path?.startsWith("/karpenter/"))).toHaveLength(1);
    await iam.removeRoleFromInstanceProfile({ InstanceProfileName, RoleName });
    await iam.deleteInstanceProfile(InstanceProfileName);
    await expect(
      iam.addRoleToInstanceProfile({ InstanceProfileName: "other", RoleName: "none" }),
    ).rejects.toMatchObject({
      code: "NoSuchEntity",
      message: expect.stringMatching(/role/i),
    });
  });

  it("04 §7.2 IAM GetRole", async () => {
    const { iam } = account().api;
    expect(await iam.getRole("KarpenterNodeRole-wire")).toMatchObject({ RoleName: "KarpenterNodeRole-wire" });
    await expect(iam.getRole("none")).rejects.toMatchObject({ code: "NoSuchEntity" });
  });

  /** How many messages the queue has, received or not. */
  async function messagesLeft(): Promise<number> {
    const { motoUrl: endpoint, region, cluster, api } = account();
    const sqs = new SQSClient({ region, endpoint, credentials: { accessKeyId: "test", secretAccessKey: "test" } });
    const names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
    const QueueUrl = await api.sqs.getQueueUrl(cluster);
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] }));
    sqs.destroy();
    return names.reduce((sum, name) => sum + Number(Attributes[name]), 0);
  }

  const instance = { "instance-id": "i-1" };
  const details: Readonly<Record<InterruptionRuleName, { readonly detail: object; readonly kind: string }>> = {
    ScheduledChange: {
      detail: { service: "EC2", eventTypeCategory: "scheduledChange", affectedEntities: [{ entityValue: "i-1" }] },
      kind: "scheduled_change",
    },
    SpotInterruption: { detail: { ...instance, "instance-action": "terminate" }, kind: "spot_interrupted" },
    Rebalance: { detail: instance, kind: "rebalance_recommendation" },
    InstanceStateChange: { detail: { ...instance, state: "stopping" }, kind: "instance_stopped" },
    CapacityReservationInterruption: {
      detail: { ...instance, "instance-action": "terminate" },
      kind: "capacity_reservation_interrupted",
    },
  };

  it.each(interruptionRules)(
    "04 §7.2 rule $name brings its event into the queue, where it is received once and deleted",
    async ({ name, source, detailType }) => {
      const { api, motoUrl: url, region, cluster } = account();
      const { detail, kind } = details[name];
      const queueUrl = await api.sqs.getQueueUrl(cluster);
      await putEvent({ url, region }, { source, detailType, detail });
      const [message, ...others] = await api.sqs.receiveMessages(queueUrl);
      expect(others).toEqual([]);
      expect(message?.Attributes?.SentTimestamp).toMatch(/^\d+$/);
      expect(interruptionEventOf(message?.Body)).toEqual({ kind, instanceIds: ["i-1"], at: expect.any(Number) });
      expect(await messagesLeft()).toBe(1); // hidden, until it is deleted
      await api.sqs.deleteMessage(queueUrl, message?.ReceiptHandle ?? "");
      expect(await messagesLeft()).toBe(0);
    },
  );

  it("04 §7.2 events no rule asks for stay out of the queue", async () => {
    const { motoUrl: url, region } = account();
    await putEvent({ url, region }, { source: "aws.ec2", detailType: "EBS Volume Notification", detail: {} });
    await putEvent({ url, region }, { source: "mine", detailType: "AWS Health Event", detail: {} });
    expect(await messagesLeft()).toBe(0);
  });

  it("04 §7.2 a long poll is ended by its signal, and a missing queue is QueueDoesNotExist", async () => {
    const { api, cluster } = account();
    const queueUrl = await api.sqs.getQueueUrl(cluster);
    const stopping = new AbortController();
    const polling = api.sqs.receiveMessages(queueUrl, { signal: stopping.signal });
    const ended = polling.then(
      () => "answered",
      () => "aborted",
    );
    stopping.abort();
    expect(await ended).toBe("aborted");
    await expect(api.sqs.getQueueUrl("nothing")).rejects.toMatchObject({ code: "QueueDoesNotExist" });
  });

  it.each([
    ["ec2", "DescribeSubnets"],
    ["iam", "GetRole"],
    ["sqs", "GetQueueUrl"],
    ["ssm", "GetParameter"],
  ] as const)("04 §5.8 %s:%s is tried again when it is throttled", async (service, action) => {
    const { api, shim, cluster } = account();
    const code = service === "ec2" ? "RequestLimitExceeded" : "ThrottlingException";
    shim.tables.parameters.set("/a", "b");
    shim.tables.fail({ action: `${service}:${action}`, code, status: 400, times: 2 });
    const calls = {
      ec2: () => api.ec2.describeSubnets({}),
      iam: () => api.iam.getRole("KarpenterNodeRole-wire"),
      sqs: () => api.sqs.getQueueUrl(cluster),
      ssm: () => api.ssm.getParameter("/a"),
    };
    await calls[service]();
    expect(shim.calls.filter((call) => call.action === action).map(({ status }) => status)).toEqual([400, 400, 200]);
  });

  it("04 §3.7 a refusal has AWS's code and names no account", async () => {
    const { api, shim } = account();
    const message = "User: arn:aws:sts::123456789012:assumed-role/x is not authorized to perform: ec2:DescribeSubnets";
    shim.tables.fail({ action: "ec2:DescribeSubnets", code: "UnauthorizedOperation", message, status: 403 });
    const refusal = await api.ec2.describeSubnets({}).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "UnauthorizedOperation", status: 403, operation: "ec2:DescribeSubnets" });
    expect(String(refusal)).not.toContain("123456789012");
  });

  it("04 §7.1 what moto has not built answers HTML, which is an error with a code all the same", async () => {
    const { api, shim } = account();
    shim.tables.fail({ action: "ec2:DescribeSubnets", isAnswerLost: true, times: 5 });
    await expect(api.ec2.describeSubnets({})).rejects.toMatchObject({ code: expect.stringMatching(/./) });
  });

  it("04 §5.2 calls carry our user agent", async () => {
    const { api, shim } = account();
    await api.ec2.describeSubnets({});
    expect(shim.calls[0]?.headers["user-agent"]).toContain("karpenter.sh-0.0.0");
  });
});
