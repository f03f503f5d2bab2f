import type { CreateLaunchTemplateCommandInput, TerminateInstancesCommandInput } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { labels } from "../../src/api/labels.ts";
import { offeringCapacityType, offeringReservationId, offeringZone } from "../../src/core/instance-type.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import type { AwsApi } from "../../src/providers/aws/api/aws-api.ts";
import { recordingMetrics } from "../world/recording-metrics.ts";
import {
  type AwsWorld,
  type AwsWorldOptions,
  awsPool,
  inLarge,
  launchedClaim,
  opensAwsWorlds,
  storeClaim,
} from "./aws-world.ts";

const open = opensAwsWorlds({ types: (name) => /^m5\.(large|xlarge)$/.test(name) });

const requirements = inLarge("us-west-2a", "on-demand");

describe("interruptions", () => {
  const queue: AwsWorldOptions = { settings: { interruptionQueue: "demo" } };

  /** Offerings that can be had, as `m5.large spot us-west-2a` with the id of a reservation. */
  async function available(one: AwsWorld): Promise<readonly string[]> {
    const types = await one.during(one.provider.instanceTypes(awsPool("pool") as NodePool), 1);
    return types.flatMap(({ name, offerings }) =>
      offerings
        .filter((offering) => offering.available)
        .map((offering) =>
          [name, offeringCapacityType(offering), offeringZone(offering), offeringReservationId(offering)]
            .filter(Boolean)
            .join(" "),
        ),
    );
  }

  /** A claim with an instance of the capacity type, which EC2 then takes back. */
  async function interrupted(one: AwsWorld, capacityType: string, detailType: string): Promise<void> {
    const asked = inLarge("us-west-2a", capacityType);
    const instance = await one.create("a", { requirements: asked });
    await storeClaim(one, launchedClaim(one, instance, { requirements: asked }));
    const id = instance.providerId.split("/").at(-1);
    const detail = { "instance-id": id, "instance-action": "terminate" };
    const time = "2026-01-01T00:00:00Z";
    const Body = JSON.stringify({ version: "0", source: "aws.ec2", "detail-type": detailType, time, detail });
    one.aws.queues.get("demo")?.push({ MessageId: "m", ReceiptHandle: "m", Body });
    await one.pass(3);
    expect(await one.get(karpenterTypes.NodeClaim, "a")).toBeUndefined();
    expect(one.aws.queues.get("demo")).toEqual([]);
  }

  it("04 §9.4 a spot interruption keeps its offering from being used for three minutes, and no other", async () => {
    const one = await open({ ...queue, account: ({ queues }) => void queues.set("demo", []) });
    const before = await available(one);
    expect(before).toContain("m5.large spot us-west-2a");
    await interrupted(one, "spot", "EC2 Spot Instance Interruption Warning");
    const lost = "m5.large spot us-west-2a";
    expect(await available(one)).toEqual(before.filter((offering) => offering !== lost));
    const next = await one.create("b", { requirements: inLarge("us-west-2a", "spot").slice(0, 2) });
    expect(next.labels[labels.zone]).not.toBe("us-west-2a");
    await one.pass(3 * 60);
    expect(await available(one)).toEqual(before);
  });

  it("04 §9.4 an interruption of a reservation empties it until EC2 is asked again", async () => {
    const reservation = {
      CapacityReservationId: "cr-1",
      OwnerId: "123456789012",
      InstanceType: "m5.large",
      AvailabilityZone: "us-west-2a",
      State: "active" as const,
      AvailableInstanceCount: 5,
      TotalInstanceCount: 5,
      InstanceMatchCriteria: "targeted" as const,
    };
    const one = await open({
      ...queue,
      nodeClass: { capacityReservationSelectorTerms: [{ id: "cr-1" }] },
      account: ({ queues, capacityReservations }) => {
        queues.set("demo", []);
        capacityReservations.push(reservation);
      },
    });
    const reserved = "m5.large reserved us-west-2a cr-1";
    const before = await available(one);
    expect(before).toContain(reserved);
    await interrupted(one, "reserved", "EC2 Capacity Reservation Instance Interruption Warning");
    expect(await available(one)).toEqual(before.filter((offering) => offering !== reserved));
  });
});

describe("batches of calls about instances", () => {
  /** What became of deleting the claims, at the same time. */
  async function deleted(one: AwsWorld, claims: readonly NodeClaim[]): Promise<readonly string[]> {
    const all = Promise.allSettled(claims.map((claim) => one.provider.delete(claim)));
    await one.pass(3);
    return (await all).map((result) => (result.status === "fulfilled" ? "done" : String(result.reason)));
  }

  async function launched(one: AwsWorld, ...names: readonly string[]): Promise<readonly NodeClaim[]> {
    const claims: NodeClaim[] = [];
    for (const name of names)
      claims.push(launchedClaim(one, await one.create(name, { requirements }), { name, requirements }));
    return claims;
  }

  const terminations = ({ aws }: AwsWorld) =>
    aws
      .inputsOf<TerminateInstancesCommandInput>("ec2:TerminateInstances")
      .map(({ InstanceIds = [] }) => InstanceIds.length);

  it("04 §9.5 a termination that fails for all is tried for each", async () => {
    const one = await open();
    const claims = await launched(one, "a", "b", "c");
    one.aws.failNext("ec2:TerminateInstances", { code: "InternalError", status: 500 });
    expect(await deleted(one, claims)).toEqual(["done", "done", "done"]);
    expect(terminations(one)).toEqual([3, 1, 1, 1]);
    expect(one.aws.running()).toEqual([]);
  });

  it("04 §3.5 an instance that EC2 does not say is going is terminated on its own", async () => {
    const kept = new Set<string>();
    const wrapApi = (api: AwsApi): AwsApi => ({
      ...api,
      ec2: {
        ...api.ec2,
        terminateInstances: async (input, options) => {
          const [own = ""] = input.InstanceIds ?? [];
          if ((input.InstanceIds ?? []).length === 1) return api.ec2.terminateInstances(input, options);
          kept.add(own);
          const others = { InstanceIds: input.InstanceIds?.slice(1) ?? [] };
          const going = await api.ec2.terminateInstances(others, options);
          return [{ InstanceId: own, CurrentState: { Name: "running" } }, ...going];
        },
      },
    });
    const one = await open({ wrapApi });
    const claims = await launched(one, "a", "b", "c");
    expect(await deleted(one, claims)).toEqual(["done", "done", "done"]);
    expect(kept.size).toBe(1);
    expect(terminations(one)).toEqual([2, 1]);
    expect(one.aws.running()).toEqual([]);
  });

  it("04 §9.5 each says how many it had and how long it waited for them", async () => {
    const observed: string[] = [];
    const metrics = {
      ...recordingMetrics(),
      observe: (name: string, { batcher = "" }: { batcher?: string }, value: number) => {
        if (batcher !== "") observed.push(`${name} ${batcher} ${value}`);
      },
    };
    const one = await open({ start: { metrics } as NonNullable<AwsWorldOptions["start"]> });
    const names = ["a", "b", "c"];
    const creating = Promise.all(names.map((name) => one.provider.create(one.claimOf(name, { requirements }))));
    await one.pass(2);
    const claims = (await creating).map((instance, index) =>
      launchedClaim(one, instance, { name: names[index] ?? "", requirements }),
    );
    observed.splice(0, observed.length, ...observed.filter((line) => line.includes("create_fleet")));
    expect(await deleted(one, claims)).toEqual(["done", "done", "done"]);
    expect(observed).toEqual([
      "cloudprovider_batcher_batch_size create_fleet 3",
      "cloudprovider_batcher_batch_time_seconds create_fleet 0.035",
      "cloudprovider_batcher_batch_size describe_instances 3",
      "cloudprovider_batcher_batch_time_seconds describe_instances 0.1",
      "cloudprovider_batcher_batch_size terminate_instances 3",
      "cloudprovider_batcher_batch_time_seconds terminate_instances 0.1",
    ]);
  });
});

describe("start", () => {
  /** The user data of what a provider that starts now would launch. */
  async function userData(one: AwsWorld, name: string, settings: object = {}): Promise<string> {
    const provider = await one.during(one.start({ settings: { ...one.settings, ...settings } }), 1);
    await one.during(provider.create(one.claimOf(name, { requirements })), 5);
    const [last] = one.aws.inputsOf<CreateLaunchTemplateCommandInput>("ec2:CreateLaunchTemplate").slice(-1);
    return Buffer.from(last?.LaunchTemplateData?.UserData ?? "", "base64").toString("utf8");
  }

  it("04 §9.5 nodes are told the endpoint EKS has, and the address of kube-dns", async () => {
    const one = await open();
    const before = await userData(one, "a");
    expect(before).toContain("apiServerEndpoint: https://cluster.invalid");
    expect(before).not.toContain("clusterDNS");
    expect(one.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("cannot read the address of kube-dns"),
    );
    const dns = { apiVersion: "v1", kind: "Service", metadata: { name: "kube-dns", namespace: "kube-system" } };
    await one.store({ ...dns, spec: { clusterIP: "10.100.0.53", ports: [{ port: 53 }] } });
    expect(await userData(one, "b")).toMatch(/clusterDNS:\s+- 10\.100\.0\.53/);
    const asked = one.aws.inputsOf("eks:DescribeCluster").length;
    const given = await userData(one, "c", { clusterEndpoint: "https://given.invalid" });
    expect(given).toContain("apiServerEndpoint: https://given.invalid");
    expect(one.aws.inputsOf("eks:DescribeCluster")).toHaveLength(asked + 1); // for the CIDR alone
  });
});
