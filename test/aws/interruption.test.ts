import { afterEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { instanceStatusController } from "../../src/providers/aws/interruption/instance-status-controller.ts";
import type { InterruptionOptions } from "../../src/providers/aws/interruption/interrupt-claim.ts";
import { interruptionQueueController } from "../../src/providers/aws/interruption/queue-controller.ts";
import { interceptCalls } from "../world/intercept-calls.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { testWorld } from "../world/test-world.ts";
import { FakeAws } from "./fake-aws.ts";

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

/** Both controllers of interruption beside a fake AWS and claims that tests make. */
async function interruptionWorld() {
  const world = await testWorld({ seed: "interruption" });
  stop = world.stop;
  const aws = new FakeAws({ clock: world.clock });
  aws.queues.set("prod", []);
  const counted: string[] = [];
  const lost: string[] = [];
  const lines: LogLine[] = [];
  const options: InterruptionOptions = {
    capacityLost: ({ metadata }, kind) => lost.push(`${metadata.name} ${kind}`),
    metrics: {
      count: (name: string, told: object) => counted.push([name, ...Object.values(told)].join(" ").trim()),
      observe: (name: string, _: object, value: number) => counted.push(`${name} ${value}`),
    },
    log: recordingLog(lines),
  };
  const { sqs, ec2 } = aws.api;
  let sent = 0;
  return {
    ...world,
    aws,
    counted,
    lost,
    lines,
    startQueue: (client: KubeClient = world.client) =>
      world.startControllers({
        client,
        log: recordingLog(lines),
        controllers: [interruptionQueueController({ ...options, sqs, queueName: "prod" })],
      }),
    startStatus: () =>
      world.startControllers({
        name: "status",
        log: recordingLog(lines),
        controllers: [instanceStatusController({ ...options, ec2 })],
      }),
    send: (Body: string) => {
      const id = `m-${++sent}`;
      aws.queues.get("prod")?.push({ MessageId: id, ReceiptHandle: id, Body });
    },
    /** A claim that stays to be looked at after it was deleted. */
    claim: async (name: string, instanceId?: string) => {
      const claim = await world.create<KubeObject & NodeClaim>({
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {
          name,
          finalizers: [finalizers.termination],
          labels: { [labels.nodePool]: "default", [labels.capacityType]: "spot" },
        },
        spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
      });
      if (instanceId !== undefined) await world.status(claim, { providerID: `aws:///us-west-2a/${instanceId}` });
      return claim;
    },
    isDeleted: async (name: string): Promise<boolean> =>
      (await world.get(karpenterTypes.NodeClaim, name))?.metadata.deletionTimestamp !== undefined,
    messages: () => aws.queues.get("prod")?.length,
  };
}

function spot(instanceId: string, time = "2026-01-01T00:00:00Z"): string {
  return JSON.stringify({
    version: "0",
    source: "aws.ec2",
    "detail-type": "EC2 Spot Instance Interruption Warning",
    time,
    detail: { "instance-id": instanceId, "instance-action": "terminate" },
  });
}

describe("the interruption queue", () => {
  it("04 §4.3 a spot interruption remembers the lost capacity, deletes the claim and is counted", async () => {
    const { startQueue, claim, send, pass, isDeleted, events, counted, lost, messages } = await interruptionWorld();
    await claim("one", "i-1");
    startQueue();
    send(spot("i-1"));
    await pass(5);
    expect(await isDeleted("one")).toBe(true);
    expect((await events("one")).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      "Warning SpotInterrupted",
      "Warning TerminatingOnInterruption",
    ]);
    expect(lost).toEqual(["one spot_interrupted"]);
    expect(counted).toEqual([
      "interruption_received_messages_total spot_interrupted",
      "nodeclaims_disrupted_total spot_interrupted default spot  graceful",
      "interruption_message_queue_duration_seconds 0",
      "interruption_deleted_messages_total",
    ]);
    expect(messages()).toBe(0);
  });

  it("04 §9.4 thirty messages at once, of which each finds its claim", async () => {
    const { startQueue, claim, send, pass, isDeleted, messages, aws } = await interruptionWorld();
    for (let index = 0; index < 30; index++) await claim(`claim-${index}`, `i-${index}`);
    for (let index = 0; index < 30; index++) send(spot(`i-${index}`));
    startQueue();
    await pass(5);
    for (let index = 0; index < 30; index++) expect(await isDeleted(`claim-${index}`)).toBe(true);
    expect(messages()).toBe(0);
    expect(aws.inputsOf("sqs:GetQueueUrl")).toHaveLength(1);
  });

  it("04 §4.1 what cannot be read is logged and deleted; what asks for nothing is counted and deleted", async () => {
    const { startQueue, send, pass, counted, lines, messages } = await interruptionWorld();
    send("{");
    send("{}");
    startQueue();
    await pass(5);
    expect(messages()).toBe(0);
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "error cannot read an interruption message; it is deleted",
    ]);
    expect(counted).toEqual([
      "interruption_received_messages_total no_op",
      "interruption_deleted_messages_total",
      "interruption_deleted_messages_total",
    ]);
  });

  it("04 §4.1 a message whose handling failed stays and is delivered again", async () => {
    const { startQueue, claim, send, pass, isDeleted, messages, client } = await interruptionWorld();
    await claim("one", "i-1");
    send(spot("i-1"));
    let refusals = 2;
    startQueue(
      interceptCalls(client, ({ verb }, proceed) => {
        if (verb === "delete" && refusals-- > 0) throw new Error("the API server is away");
        return proceed();
      }),
    );
    await pass(5);
    expect([await isDeleted("one"), messages()]).toEqual([false, 1]);
    await pass(60);
    expect([await isDeleted("one"), messages()]).toEqual([true, 0]);
  });

  it("04 §4.1 a queue that is not there yet, and errors of it, are retried", async () => {
    const { startQueue, claim, send, pass, isDeleted, aws, failures } = await interruptionWorld();
    await claim("one", "i-1");
    aws.queues.delete("prod");
    startQueue();
    await pass(30);
    expect(failures.length).toBeGreaterThan(0);
    aws.queues.set("prod", []);
    aws.failNext("sqs:ReceiveMessage", { code: "InternalError", status: 500 }, 3);
    send(spot("i-1"));
    await pass(120);
    expect(await isDeleted("one")).toBe(true);
  });

  it("04 §4.3 an unknown instance is nobody's: its message is deleted", async () => {
    const { startQueue, claim, send, pass, isDeleted, messages } = await interruptionWorld();
    await claim("one", "i-12");
    startQueue();
    send(spot("i-1"));
    await pass(5);
    expect([await isDeleted("one"), messages()]).toEqual([false, 0]);
  });

  it("04 §4.1 a message that comes before the claim knows its instance is left, for a minute", async () => {
    const { startQueue, claim, send, pass, isDeleted, messages, status } = await interruptionWorld();
    const young = await claim("young");
    startQueue();
    send(spot("i-1"));
    await pass(5);
    expect(messages()).toBe(1);
    await status(young, { providerID: "aws:///us-west-2a/i-1" });
    await pass(20);
    expect([await isDeleted("young"), messages()]).toEqual([true, 0]);
    await claim("other");
    send(spot("i-2", "2026-01-01T00:00:25Z"));
    await pass(90);
    expect(messages()).toBe(0);
  });

  it("04 §4.1 an empty queue is not asked more than once a second", async () => {
    const { startQueue, pass, aws } = await interruptionWorld();
    startQueue();
    await pass(60);
    expect(aws.inputsOf("sqs:ReceiveMessage").length).toBeLessThanOrEqual(62);
  });
});

describe("instance status", () => {
  const impaired = (InstanceId: string, since: string) => ({
    InstanceId,
    InstanceStatus: {
      Status: "impaired" as const,
      Details: [{ Status: "failed" as const, ImpairedSince: new Date(since) }],
    },
  });

  it("04 §4.4 an instance impaired for two minutes is forced off, counted once, and again after it has recovered", async () => {
    const { startStatus, claim, pass, isDeleted, get, counted, aws } = await interruptionWorld();
    await claim("one", "i-1");
    aws.instanceStatuses = [impaired("i-1", "2026-01-01T00:00:00Z"), impaired("i-other", "2025-01-01T00:00:00Z")];
    startStatus();
    await pass(100);
    expect(await isDeleted("one")).toBe(false);
    await pass(100);
    expect(await isDeleted("one")).toBe(true);
    const deadline = (await get(karpenterTypes.NodeClaim, "one"))?.metadata.annotations?.[
      annotations.terminationTimestamp
    ];
    expect(deadline).toBe("2026-01-01T00:02:00Z");
    const unhealthy = "interruption_instance_status_unhealthy_total instance_status";
    const disrupted = "nodeclaims_disrupted_total instance_status default spot  forceful";
    expect(counted).toEqual([unhealthy, disrupted]);
    aws.instanceStatuses = [];
    await pass(60);
    aws.instanceStatuses = [impaired("i-1", "2026-01-01T00:00:00Z")];
    await pass(60);
    expect(counted).toEqual([unhealthy, disrupted, unhealthy]);
  });

  it("04 §4.4 a scheduled event deletes without force, and two findings delete once", async () => {
    const { startStatus, claim, pass, get, counted, aws } = await interruptionWorld();
    await claim("event", "i-1");
    await claim("both", "i-2");
    const { InstanceStatus } = impaired("i-2", "2025-01-01T00:00:00Z");
    aws.instanceStatuses = [
      { InstanceId: "i-1", Events: [{ Code: "instance-retirement" }] },
      { InstanceId: "i-2", InstanceStatus, SystemStatus: InstanceStatus },
    ];
    startStatus();
    await pass(1);
    const event = await get(karpenterTypes.NodeClaim, "event");
    expect(event?.metadata.deletionTimestamp).toBeDefined();
    expect(event?.metadata.annotations?.[annotations.terminationTimestamp]).toBeUndefined();
    expect(counted.filter((line) => line.startsWith("nodeclaims_disrupted_total")).sort()).toEqual([
      "nodeclaims_disrupted_total event_status default spot  graceful",
      "nodeclaims_disrupted_total instance_status default spot  forceful",
    ]);
  });

  it("04 §4.4 asks three times a minute; a missing permission is logged once and ends it", async () => {
    const { startStatus, pass, aws, lines } = await interruptionWorld();
    startStatus();
    await pass(61);
    expect(aws.inputsOf("ec2:DescribeInstanceStatus")).toHaveLength(6);
    aws.failNext("ec2:DescribeInstanceStatus", { code: "UnauthorizedOperation", status: 403 }, 3);
    await pass(600);
    expect(aws.inputsOf("ec2:DescribeInstanceStatus")).toHaveLength(9);
    expect(lines.map(({ level }) => level)).toEqual(["error"]);
    expect(lines[0]?.message).toContain("ec2:DescribeInstanceStatus");
  });
});
