import type { CreateFleetCommandInput } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { awsLabels, labels } from "../../src/api/labels.ts";
import { CloudError } from "../../src/cloud/cloud-error.ts";
import { claimLaunchRequestOf } from "../../src/cloud/launchable-offerings.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { planLaunch } from "../../src/providers/aws/launch/launch-plan.ts";
import { SubnetAddresses } from "../../src/providers/aws/node-class/subnet-addresses.ts";
import { recordingLog } from "../world/recording-log.ts";
import { type AwsWorld, type AwsWorldOptions, awsPool, inLarge, launchedClaim, opensAwsWorlds } from "./aws-world.ts";

const open = opensAwsWorlds();

/** No controller runs any more: the class says what a test writes. */
async function openStill(options: AwsWorldOptions = {}): Promise<AwsWorld> {
  const one = await open(options);
  await one.stopControllers();
  return one;
}

async function patchClass(one: AwsWorld, body: object, subresource?: "status"): Promise<void> {
  const options = subresource === undefined ? {} : { subresource };
  await one.client.patch(karpenterTypes.EC2NodeClass, { name: "web" }, { kind: "merge", body }, options);
}

async function refusalOf(call: Promise<unknown>): Promise<{ readonly code?: string; readonly message: string }> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error(`expected an error, got ${String(error)}`);
  return error instanceof CloudError
    ? { code: [error.code, error.reason].filter(Boolean).join(" "), message: error.message }
    : { message: error.message };
}

const requirements = inLarge("us-west-2a", "on-demand");

describe("a launch", () => {
  it.each([
    [
      "whose readiness is not known",
      { type: "Ready", status: "Unknown", message: "subnets are not known" },
      { code: "create-failed NodeClassReadinessUnknown", message: "creating nodeclaim, subnets are not known" },
    ],
    [
      "that is not ready",
      { type: "Ready", status: "False", message: "SubnetsReady=False" },
      { code: "node-class-not-ready", message: "NodeClassRef not ready, SubnetsReady=False" },
    ],
  ])("04 §9.4 of a class %s is refused, and EC2 is not asked", async (_, condition, expected) => {
    const one = await openStill();
    const { generation: observedGeneration } = (await one.nodeClass())?.metadata ?? {};
    const common = { reason: "Tested", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration };
    await patchClass(one, { status: { conditions: [{ ...common, ...condition }] } }, "status");
    expect(await refusalOf(one.create("a", { requirements }))).toEqual(expected);
    expect(one.aws.running()).toEqual([]);
  });

  it("04 §9.4 of a class without conditions, or with those of an older spec, is refused", async () => {
    const one = await openStill();
    await patchClass(one, { spec: { tags: { team: "new" } } });
    const stale = await refusalOf(one.create("a", { requirements }));
    expect(stale).toMatchObject({ code: "node-class-not-ready", message: expect.stringContaining("older generation") });
    await patchClass(one, { status: { conditions: [] } }, "status");
    expect((await refusalOf(one.create("a", { requirements }))).code).toBe("create-failed NodeClassReadinessUnknown");
    expect(one.aws.running()).toEqual([]);
  });

  it("04 §9.4 without instance types is a failed launch that says so", async () => {
    const one = await openStill();
    await patchClass(one, { status: { subnets: null } }, "status");
    expect((await refusalOf(one.create("a", { requirements }))).code).toBe(
      "create-failed InstanceTypeResolutionFailed",
    );
  });

  it("04 §9.4 without a subnet is a failed launch that says so", async () => {
    const one = await open();
    const nodeClass = await one.nodeClass();
    const instanceTypes = await one.during(one.provider.instanceTypes(awsPool("pool") as never), 1);
    if (nodeClass === undefined) throw new Error("no class");
    const claim = one.claimOf("a", { requirements });
    const planned = planLaunch(
      claim,
      {
        nodeClass: { ...nodeClass, status: { ...nodeClass.status, subnets: [] } } as never,
        launchRequest: claimLaunchRequestOf(claim, one.provider.labelPolicy),
        instanceTypes,
      },
      {
        log: recordingLog([]),
        clusterName: "demo",
        subnetAddresses: new SubnetAddresses({ clock: one.clock, refreshMs: 60_000 }),
        targetFor: async () => ({
          region: "us-west-2",
          cluster: { name: "demo", endpoint: "https://a", caBundle: "", cidr: "10.0.0.0/16" },
        }),
        placementGroupOf: () => undefined,
        usesReservations: false,
      },
    );
    expect((await refusalOf(planned)).code).toBe("create-failed SubnetResolutionFailed");
  });

  it("04 §9.4 with minValues names as many types in its fleet, dear and exotic ones too", async () => {
    const one = await open({ types: (name) => /^(m5|c5|g4dn)\.(large|xlarge)$/.test(name) });
    const families = { key: awsLabels.instanceFamily, operator: "In" as const, values: ["m5", "c5", "g4dn"] };
    await one.create("a", { requirements: [{ ...families, minValues: 3 }] });
    const [input] = one.aws
      .inputsOf<CreateFleetCommandInput>("ec2:CreateFleet")
      .filter(({ DryRun }) => DryRun !== true);
    const named = (input?.LaunchTemplateConfigs ?? []).flatMap(({ Overrides = [] }) =>
      Overrides.map(({ InstanceType = "" }) => InstanceType.split(".")[0]),
    );
    expect([...new Set(named)].sort()).toEqual(["c5", "g4dn", "m5"]);
    const four = { ...families, values: [...families.values, "x9"], minValues: 4 };
    expect((await refusalOf(one.create("b", { requirements: [four] }))).code).toBe("insufficient-capacity");
  });
});

describe("drift", () => {
  const reservation = {
    CapacityReservationId: "cr-1",
    OwnerId: "123456789012",
    InstanceType: "m5.large",
    AvailabilityZone: "us-west-2a",
    State: "active" as const,
    AvailableInstanceCount: 2,
    TotalInstanceCount: 2,
    InstanceMatchCriteria: "targeted" as const,
  };

  it("04 §1.13 an instance in a reservation its class does not name has drifted, unless EC2 says it left it", async () => {
    const one = await open({
      nodeClass: { capacityReservationSelectorTerms: [{ id: "cr-1" }] },
      account: ({ capacityReservations }) => void capacityReservations.push(reservation),
    });
    const asked = inLarge("us-west-2a", "reserved");
    const claim = launchedClaim(one, await one.create("a", { requirements: asked }), { requirements: asked });
    const drift = () => one.during(one.provider.driftReason(claim), 2);
    expect(await drift()).toBeUndefined();
    await one.stopControllers();
    await patchClass(one, { status: { capacityReservations: null } }, "status");
    expect(await drift()).toBe("CapacityReservationDrift");
    const [instance] = [...one.aws.instances.values()];
    if (instance === undefined) throw new Error("no instance");
    const { CapacityReservationId: _, CapacityReservationSpecification: __, ...left } = instance;
    one.aws.instances.set(instance.InstanceId ?? "", left); // what was read before says otherwise
    expect(await drift()).toBeUndefined();
  });

  it("04 §1.13 of several reasons the first in order is named", async () => {
    const one = await openStill();
    const claim = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    const moved = { subnets: [{ id: "subnet-9", zone: "us-west-2a", zoneID: "usw2-az1" }] };
    await patchClass(one, { status: { ...moved, securityGroups: [{ id: "sg-9" }] } }, "status");
    expect(await one.during(one.provider.driftReason(claim), 2)).toBe("SecurityGroupDrift");
    const renewed = { ...claim, status: { ...claim.status, imageID: "ami-old" } } as NodeClaim;
    expect(await one.during(one.provider.driftReason(renewed), 2)).toBe("AMIDrift");
  });

  it.each<readonly [string, object, (claim: NodeClaim) => NodeClaim, RegExp]>([
    ["its class has no images", { amis: null }, (claim) => claim, /has no images/],
    ["its class has no security groups", { securityGroups: null }, (claim) => claim, /has no security groups/],
    [
      "its type is not known",
      {},
      (claim) => withLabel(claim, labels.instanceType, "x9.large"),
      /unknown instance type/,
    ],
    ["it does not say its image", {}, (claim) => withStatus(claim, { imageID: "" }), /which image it has/],
    ["its provider id is another's", {}, (claim) => withStatus(claim, { providerID: "kwok://a" }), /not one of AWS/],
    [
      "its instance is gone",
      {},
      (claim) => withStatus(claim, { providerID: "aws:///us-west-2a/i-0123456789abcdef0" }),
      /does not exist/,
    ],
  ])("04 §1.13 is an error, not drift, when %s", async (_, status, change, message) => {
    const one = await openStill();
    const claim = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    await patchClass(one, { status }, "status");
    const asked = await refusalOf(one.during(one.provider.driftReason(change(claim)), 2));
    expect(asked.message).toMatch(message);
  });

  it("04 §1.13 is not judged without a pool's label or without the class", async () => {
    const one = await openStill();
    const launched = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    const claim = withStatus(launched, { imageID: "ami-old" });
    const drift = (own: NodeClaim) => one.during(one.provider.driftReason(own), 2);
    expect(await drift(claim)).toBe("AMIDrift");
    const { [labels.nodePool]: _, ...others } = claim.metadata.labels ?? {};
    expect(await drift({ ...claim, metadata: { ...claim.metadata, labels: others } })).toBeUndefined();
    await one.client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
    expect(await drift(claim)).toBeUndefined(); // its finalizer keeps it, but it is going
  });
});

function withLabel(claim: NodeClaim, key: string, value: string): NodeClaim {
  return { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, [key]: value } } };
}

function withStatus(claim: NodeClaim, status: object): NodeClaim {
  return { ...claim, status: { ...claim.status, ...status } } as NodeClaim;
}

describe("repair", () => {
  it("04 §5.3 conditions of nodes that lead to it, and after how long", async () => {
    const { provider } = await open();
    const policies = provider.repairPolicies.map(
      ({ conditionType, conditionStatus, tolerationMs }) =>
        `${conditionType} ${conditionStatus} ${tolerationMs / 60_000} min`,
    );
    expect(policies).toEqual([
      "Ready False 30 min",
      "Ready Unknown 30 min",
      "AcceleratedHardwareReady False 10 min",
      "StorageReady False 30 min",
      "NetworkingReady False 30 min",
      "KernelReady False 30 min",
      "ContainerRuntimeReady False 30 min",
    ]);
  });
});
