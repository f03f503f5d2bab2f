import { afterEach, describe, expect, it } from "vitest";
import { getCondition as condition } from "../../src/api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../src/api/kinds/ec2-node-class.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { annotations, finalizers, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { offeringReservationId } from "../../src/core/instance-type.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import type { InterruptionKind } from "../../src/providers/aws/interruption/interruption-kinds.ts";
import { instanceType } from "../builders/instance-type.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { ec2, type ProviderWorld, type ProviderWorldOptions, providerWorld } from "./provider-world.ts";

let open: ProviderWorld | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

async function opened(options: ProviderWorldOptions): Promise<ProviderWorld> {
  open = await providerWorld(options);
  await open.create(kwokNodeClass());
  return open;
}

type Class = KubeObject & Ec2NodeClass;
const one = { wants: { [labels.instanceType]: ["c-2x-amd64-linux"] } };

describe("nodeclass", () => {
  const loops = ["nodeclass", "kwoknodeclass.status"];
  const resolved = async (spec: object): Promise<Class> => {
    const { create, clock, get } = await opened({ controllers: loops });
    await create(ec2NodeClass("default", spec));
    await clock.advance(1_000);
    const found = await get<Class>(karpenterTypes.EC2NodeClass, "default");
    if (found === undefined) throw new Error("no class");
    return found;
  };
  const reasonOf = (nodeClass: Class, type: string) => {
    const found = condition(nodeClass, type);
    return found && `${found.status} ${found.reason}`;
  };

  it("04 §1.3 tags of any cluster select the simulated network, images and profile, and the class is ready", async () => {
    const { status, metadata, ...rest } = await resolved({});
    expect(condition({ status, metadata, ...rest } as Class, "Ready")).toMatchObject({
      status: "True",
      observedGeneration: metadata.generation,
    });
    expect(status?.subnets?.map(({ zone, zoneID }) => `${zone} ${zoneID}`)).toEqual([
      "us-west-2a usw2-az1",
      "us-west-2b usw2-az2",
      "us-west-2c usw2-az3",
      "us-west-2d usw2-az4",
    ]);
    expect(status?.securityGroups).toEqual([
      { id: "sg-simcluster", name: "simulated-cluster" },
      { id: "sg-simnodes", name: "simulated-nodes" },
    ]);
    expect(status?.amis).toHaveLength(6);
    expect(status?.amis?.[0]).toEqual({
      id: "ami-simal2023amd64standardlatest",
      name: "simulated-al2023-amd64-standard-latest",
      requirements: [
        { key: labels.arch, operator: "In", values: ["amd64"] },
        { key: "karpenter.k8s.aws/instance-gpu-count", operator: "DoesNotExist" },
        { key: "karpenter.k8s.aws/instance-accelerator-count", operator: "DoesNotExist" },
      ],
    });
    expect(status?.instanceProfile).toMatch(/^simulated_\d+$/);
    expect(metadata.finalizers).toEqual([finalizers.ec2NodeClass]);
    expect(metadata.annotations?.[annotations.ec2NodeClassHashVersion]).toBe("v6");
  });

  it.each([
    ["SubnetsReady", "SubnetsNotFound", { subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] }],
    ["SecurityGroupsReady", "SecurityGroupsNotFound", { securityGroupSelectorTerms: [{ id: "sg-0123456789abcdef0" }] }],
    ["AMIsReady", "AMINotFound", { amiFamily: "AL2023", amiSelectorTerms: [{ id: "ami-0123456789abcdef0" }] }],
    ["PlacementGroupReady", "PlacementGroupNotFound", { placementGroupSelector: { id: "pg-0123456789abcdef0" } }],
  ])("04 §1.4 %s is False with %s where an id is not of this account", async (type, reason, spec) => {
    const nodeClass = await resolved(spec);
    expect(reasonOf(nodeClass, type)).toBe(`False ${reason}`);
    expect(reasonOf(nodeClass, "Ready")).toBe("False UnhealthyDependents");
    if (type !== "PlacementGroupReady") {
      expect(reasonOf(nodeClass, "ValidationSucceeded")).toBe("False DependenciesNotReady");
    }
  });

  it.each([
    ["InvalidKubeletConfiguration", { kubelet: { kubeReserved: { coffee: "1" } } }],
    ["KubeletExpressionsDisabled", { kubelet: { maxPods: "instance.cpu * 2" } }],
    ["DependenciesNotReady", { subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] }],
  ])("04 §1.12 ValidationSucceeded is False with %s", async (reason, spec) => {
    expect(reasonOf(await resolved(spec), "ValidationSucceeded")).toBe(`False ${reason}`);
  });

  it("04 §1.7 AL2 is sold by the simulated account for old manifests, and marked deprecated", async () => {
    const nodeClass = await resolved({ amiSelectorTerms: [{ alias: "al2@latest" }] });
    expect(reasonOf(nodeClass, "Ready")).toBe("True Ready");
    expect(nodeClass.status?.amis?.every(({ deprecated }) => deprecated === true)).toBe(true);
  });

  it("04 §1.4 a class that is repaired becomes ready in its new form", async () => {
    await resolved({ subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] });
    if (open === undefined) throw new Error("no world");
    const subnetSelectorTerms = [{ id: "subnet-simusw2az2" }];
    const patch = { kind: "merge", body: { spec: { subnetSelectorTerms } } } as const;
    await open.client.patch(karpenterTypes.EC2NodeClass, { name: "default" }, patch);
    await open.clock.advance(1_000);
    const nodeClass = await open.get<Class>(karpenterTypes.EC2NodeClass, "default");
    expect(nodeClass?.status?.subnets?.map(({ zone }) => zone)).toEqual(["us-west-2b"]);
    expect(nodeClass && reasonOf(nodeClass, "Ready")).toBe("True Ready");
    expect(nodeClass && condition(nodeClass, "Ready")?.observedGeneration).toBe(2);
  });

  it("04 §1.14 a class in use stays until its last claim is gone, and says so", async () => {
    await resolved({});
    if (open === undefined) throw new Error("no world");
    const { launchClaim, client, clock, get, events } = open;
    const { claim } = await launchClaim({ nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"] } });
    await client.delete(karpenterTypes.EC2NodeClass, { name: "default" });
    await clock.advance(5_000);
    expect((await get(karpenterTypes.EC2NodeClass, "default"))?.metadata.finalizers).toEqual([finalizers.ec2NodeClass]);
    expect(await events("default")).toEqual(["Normal WaitingOnNodeClaimTermination"]);
    await client.delete(karpenterTypes.NodeClaim, { name: claim.metadata.name ?? "" });
    await clock.advance(5_000);
    expect(await get(karpenterTypes.EC2NodeClass, "default")).toBeUndefined();
  });

  it("04 §1.13 a changed spec drifts claims by hash; selectors do not", async () => {
    await resolved({});
    if (open === undefined) throw new Error("no world");
    const { launchClaim: launched, client, clock, provider, answer } = open;
    const { claim, instance } = await launched({ nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"] } });
    const stamped = { ...claim, metadata: { ...claim.metadata, annotations: instance.annotations } };
    const change = async (spec: object) => {
      await client.patch(karpenterTypes.EC2NodeClass, { name: "default" }, { kind: "merge", body: { spec } });
      await clock.advance(1_000);
      return answer(provider.driftReason(stamped as typeof claim));
    };
    expect(await change({ subnetSelectorTerms: [{ tags: { Name: "*" } }] })).toBeUndefined();
    expect(await change({ userData: "echo" })).toBe("NodeClassDrift");
  });

  it("02:K-10 a KWOKNodeClass is ready, and one that says otherwise is left alone", async () => {
    const { get, client, clock } = await opened({ controllers: loops });
    expect(condition((await get(karpenterTypes.KWOKNodeClass, "default")) as Class, "Ready")?.status).toBe("True");
    const conditions = [
      { type: "Ready", status: "False", reason: "Tested", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const patch = { kind: "merge", body: { status: { conditions } } } as const;
    await client.patch(karpenterTypes.KWOKNodeClass, { name: "default" }, patch, { subresource: "status" });
    await clock.advance(60_000);
    expect(condition((await get(karpenterTypes.KWOKNodeClass, "default")) as Class, "Ready")?.status).toBe("False");
  });
});

describe("instance.garbagecollection", () => {
  const loops = ["instance.garbagecollection"];

  it("03:G-3 a machine no claim has ends after half a minute, and its Node with it", async () => {
    const { launchClaim, client, clock, cloud, get } = await opened({ controllers: loops, runsCluster: true });
    const { claim } = await launchClaim(one);
    await clock.advance(25_000);
    const nodeName = cloud.list()[0]?.nodeName ?? "";
    expect(await get(builtInTypes.Node, nodeName)).toBeDefined();
    await client.delete(karpenterTypes.NodeClaim, { name: claim.metadata.name ?? "" });
    await clock.advance(20_000);
    expect(cloud.list()).toEqual([]);
    expect(await get(builtInTypes.Node, nodeName)).toBeUndefined();
  });

  it("03:G-3 machines that claims have stay, and so do young ones", async () => {
    const {
      launchClaim: launched,
      claimed,
      client,
      clock,
      cloud,
      provider,
      answer,
    } = await opened({ controllers: loops });
    await launched(one);
    await clock.advance(60_000);
    const young = await claimed(one);
    await answer(provider.create(young));
    await client.delete(karpenterTypes.NodeClaim, { name: young.metadata.name ?? "" });
    await clock.advance(25_000);
    expect(cloud.list()).toHaveLength(2);
    await clock.advance(20_000);
    expect(cloud.list()).toHaveLength(1);
  });

  it("03:S-12 a claim that waits to hear of its machine keeps it", async () => {
    const { claimed, clock, cloud, provider, answer, client } = await opened({ controllers: loops });
    const claim = await claimed(one);
    cloud.failNext("create", { kind: "lost" });
    await answer(provider.create(claim).catch(() => undefined));
    await clock.advance(120_000);
    expect(cloud.list()).toHaveLength(1);
    await client.delete(karpenterTypes.NodeClaim, { name: claim.metadata.name ?? "" });
    await clock.advance(20_000);
    expect(cloud.list()).toEqual([]);
  });

  it("03:G-3 looks every ten seconds at first, then every two minutes", async () => {
    const { cloudCalls, clock } = await opened({ controllers: loops });
    await clock.advance(10 * 60_000);
    const at = cloudCalls.filter(({ call }) => call === "list").map((entry) => entry.at);
    const gaps = at.slice(1).map((time, index) => Math.round((time - (at[index] ?? 0)) / 1_000));
    expect(gaps).toEqual([...Array.from({ length: 19 }, () => 10), 120, 120, 120]);
  });
});

describe("interruption", () => {
  const loops = ["interruption"];
  const pool = {
    metadata: { name: "default" },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          requirements: [],
        },
      },
    },
  } as unknown as NodePool;

  /** A claim that stays to be looked at after it was deleted. */
  const held = { ...one, metadata: { name: "held", finalizers: [finalizers.termination], labels: {} } };

  it("03:I-2 a spot notice: events on claim and node, the offering avoided, the claim deleted, the machine gone after two minutes", async () => {
    const counted: string[] = [];
    const metrics = {
      count: (name: string, told: object) => counted.push([name, ...Object.values(told)].join(" ")),
      observe: (name: string) => counted.push(name),
    };
    const lines: LogLine[] = [];
    const { launchClaim, cloud, clock, get, events, provider, answer } = await opened({
      controllers: loops,
      runsCluster: true,
      provider: { metrics, log: recordingLog(lines) },
    });
    const { instance } = await launchClaim(held);
    await clock.advance(30_000);
    const nodeName = cloud.list()[0]?.nodeName ?? "";
    cloud.interrupt(instance.providerId);
    await clock.advance(5_000);
    expect((await get(karpenterTypes.NodeClaim, "held"))?.metadata.deletionTimestamp).toBeDefined();
    expect(await events("held")).toEqual(["Warning SpotInterrupted", "Warning TerminatingOnInterruption"]);
    expect(await events(nodeName)).toEqual(
      expect.arrayContaining(["Warning SpotInterrupted", "Warning TerminatingOnInterruption"]),
    );
    const types = await answer(provider.instanceTypes(pool), 0);
    const gone = types.flatMap(({ name, offerings }) =>
      offerings.filter(({ available }) => !available).map(() => name),
    );
    expect(gone).toEqual(["c-2x-amd64-linux"]);
    expect(counted).toEqual([
      "interruption_received_messages_total spot_interrupted",
      "nodeclaims_disrupted_total spot_interrupted  spot  graceful",
      "interruption_message_queue_duration_seconds",
      "interruption_deleted_messages_total",
    ]);
    expect(lines).toEqual([
      {
        level: "info",
        message: "initiating delete from interruption message",
        controller: "interruption",
        NodeClaim: { name: "held" },
        messageKind: "spot_interrupted",
      },
    ]);
    expect(cloud.interruptionQueue.messages()).toEqual([]);
    expect(cloud.list()).toHaveLength(1);
    await clock.advance(120_000);
    expect(cloud.list()).toEqual([]);
  });

  it.each<[InterruptionKind, string, "stays" | "goes" | "goes at once"]>([
    ["capacity_reservation_interrupted", "Warning CapacityReservationInstanceInterrupted", "goes"],
    ["scheduled_change", "Warning InstanceUnhealthy", "goes"],
    ["event_status", "Warning InstanceUnhealthy", "goes"],
    ["instance_stopped", "Warning InstanceStopping", "goes"],
    ["instance_terminated", "Warning InstanceTerminating", "goes"],
    ["instance_status", "Warning InstanceUnhealthy", "goes at once"],
    ["system_status", "Warning InstanceUnhealthy", "goes at once"],
    ["rebalance_recommendation", "Normal SpotRebalanceRecommendation", "stays"],
  ])("03:I-3 %s: %s, the claim %s", async (kind, event, fate) => {
    const { launchClaim: launched, cloud, clock, get, events } = await opened({ controllers: loops });
    const { instance } = await launched(held);
    cloud.notify(instance.providerId, kind);
    await clock.advance(5_000);
    const claim = await get(karpenterTypes.NodeClaim, "held");
    expect(claim?.metadata.deletionTimestamp !== undefined).toBe(fate !== "stays");
    const deadline = claim?.metadata.annotations?.[annotations.terminationTimestamp];
    expect(deadline).toBe(fate === "goes at once" ? "2026-01-01T00:00:01Z" : undefined);
    expect((await events("held"))[0]).toBe(event);
  });

  it("03:I-2 after a reservation was interrupted its offering is avoided", async () => {
    const kwokTypes = [instanceType("m.large").reserved("cr-1", { zone: "a", capacity: 2 }).build()];
    const {
      launchClaim: launched,
      cloud,
      clock,
      provider,
      answer,
    } = await opened({ controllers: loops, provider: { kwokTypes } });
    const { instance } = await launched();
    expect(instance.labels[labels.capacityType]).toBe("reserved");
    cloud.notify(instance.providerId, "capacity_reservation_interrupted");
    await clock.advance(5_000);
    const [type] = await answer(provider.instanceTypes(pool), 0);
    const unavailable = type?.offerings.filter(({ available }) => !available).map(offeringReservationId);
    expect(unavailable).toEqual(["cr-1"]);
  });

  it("03:I-4 a claim on its way out is left alone, and an unknown machine is nobody's", async () => {
    const { launchClaim: launched, cloud, clock, client, get, events } = await opened({ controllers: loops });
    const { instance } = await launched(held);
    const { instance: lost } = await launched(one);
    await client.delete(karpenterTypes.NodeClaim, { name: "held" });
    await client.delete(karpenterTypes.NodeClaim, { name: "default-2" });
    cloud.notify(instance.providerId, "system_status");
    cloud.notify(lost.providerId, "system_status");
    await clock.advance(5_000);
    const claim = await get(karpenterTypes.NodeClaim, "held");
    expect(claim?.metadata.annotations?.[annotations.terminationTimestamp]).toBeUndefined();
    expect(await events("held")).toEqual(["Warning InstanceUnhealthy"]);
    expect(cloud.interruptionQueue.messages()).toEqual([]);
  });

  it("03:I-5 a notice nobody dealt with is found after a restart", async () => {
    const { launchClaim: launched, cloud, clock, get, start } = await opened({ controllers: [] });
    const { instance } = await launched(one);
    cloud.notify(instance.providerId, "spot_interrupted");
    await clock.advance(5_000);
    expect(await get(karpenterTypes.NodeClaim, "default-1")).toBeDefined();
    const running = start(loops);
    await clock.advance(5_000);
    expect(await get(karpenterTypes.NodeClaim, "default-1")).toBeUndefined();
    const stopping = running.stop();
    await clock.advance(60_000);
    await stopping;
  });
});
