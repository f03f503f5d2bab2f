import { afterEach, describe, expect, it } from "vitest";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { annotations, awsLabels, kwokLabels, labels, simulationAnnotations, taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { CloudError, cloudErrorOf } from "../../src/cloud/cloud-error.ts";
import { offeringCapacityType, offeringZone } from "../../src/core/instance-type.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { instanceType } from "../builders/instance-type.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { ec2, type ProviderWorld, type ProviderWorldOptions, providerWorld, startAt } from "./provider-world.ts";

let open: ProviderWorld | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

/** With a ready class of each kind. */
async function opened(options: ProviderWorldOptions = {}): Promise<ProviderWorld> {
  const made = await providerWorld({ ...options, controllers: ["nodeclass", ...(options.controllers ?? [])] });
  open = made;
  await made.create(kwokNodeClass());
  await made.create(ec2NodeClass());
  await made.clock.advance(1_000);
  return made;
}

const type = "c-2x-amd64-linux";
const one = { wants: { [labels.instanceType]: [type] } };
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error: unknown) => cloudErrorOf(error)?.code ?? "unknown",
  );
const poolOf = (kind: "KWOKNodeClass" | "EC2NodeClass") =>
  ({
    metadata: { name: "default" },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: kind === "EC2NodeClass" ? ec2.group : "karpenter.kwok.sh", kind, name: "default" },
          requirements: [],
        },
      },
    },
  }) as unknown as NodePool;

describe("machines", () => {
  it("05:CP-L10 a machine joins as a Node after its boot, wearing the unregistered taint, and is ready a little later", async () => {
    const { launchClaim, clock, get, cloud } = await opened({ runsCluster: true });
    await launchClaim(one);
    const [machine] = cloud.list();
    expect(machine?.bootMs).toBeGreaterThanOrEqual(8_000);
    expect(machine?.bootMs).toBeLessThanOrEqual(15_000);
    await clock.advance(6_500);
    expect(await get(builtInTypes.Node, machine?.nodeName ?? "")).toBeUndefined();
    await clock.advance(20_000);
    expect(await get(builtInTypes.Node, machine?.nodeName ?? "")).toMatchObject({
      metadata: { labels: { [labels.hostname]: machine?.nodeName, [labels.instanceType]: type } },
      spec: { providerID: machine?.providerId, taints: [taints.unregistered] },
      status: {
        capacity: { cpu: "2" },
        allocatable: { cpu: "1900m" },
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
      },
    });
  });

  it("02:K-7 nodeRegistrationDelay of the class is the boot time", async () => {
    const { create, launchClaim: launched, cloud } = await opened();
    await create(kwokNodeClass("late", { nodeRegistrationDelay: "90s" }));
    await launched({ ...one, nodeClass: { name: "late" } });
    expect(cloud.list().map(({ bootMs }) => bootMs)).toEqual([90_000]);
  });

  it("02:K-11 beyond its quota the cloud launches nothing, and no offering is to blame", async () => {
    const { launchClaim, provider, cloud } = await opened({ settings: { maxInstances: 2 } });
    await launchClaim(one);
    await launchClaim(one);
    await expect(launchClaim(one)).rejects.toThrow("the quota of 2 instances is used up");
    expect(await codeOf(launchClaim(one))).toBe("insufficient-capacity");
    const types = await provider.instanceTypes(poolOf("KWOKNodeClass"));
    expect(types.find(({ name }) => name === type)?.offerings.every(({ available }) => available)).toBe(true);
    cloud.vanish(cloud.records()[0]?.instance.id ?? "");
    expect(await codeOf(launchClaim(one))).toBe("ok");
  });

  it("the end of a machine takes a few seconds, in which it is listed as ending; then its Node goes", async () => {
    const { launchClaim: launched, provider, answer, clock, cloud, get } = await opened({ runsCluster: true });
    const { claim } = await launched(one);
    await clock.advance(20_000);
    const [machine] = cloud.list();
    await answer(provider.delete(claim));
    expect(await answer(provider.list(), 100)).toMatchObject([{ isTerminating: true }]);
    await answer(provider.delete(claim), 100); // accepted again
    await clock.advance(5_000);
    expect(cloud.list()).toEqual([]);
    await clock.advance(120_000);
    expect(await get(builtInTypes.Node, machine?.nodeName ?? "")).toBeUndefined();
  });

  it("02:K-8 a KWOK machine has the labels of its type and offering, its price and a kwok provider id", async () => {
    const { launchClaim: launched } = await opened();
    const { instance, claim } = await launched(one);
    expect(instance.providerId).toMatch(/^kwok:\/\/kwok-default-1-[a-z0-9]{5}-\d+$/);
    expect(instance.labels).toMatchObject({
      [labels.instanceType]: type,
      [labels.arch]: "amd64",
      [labels.os]: "linux",
      [labels.capacityType]: "spot",
      [labels.nodePool]: "default",
      [kwokLabels.instanceCpu]: "2",
      [kwokLabels.instanceFamily]: "c",
      [kwokLabels.instancePrice]: "0.038006",
    });
    expect(claim.status?.capacity).toMatchObject({ cpu: "2", memory: "4Gi", pods: "32" });
  });

  it("02 §12.2-19 capacity is the type's, or what was requested where that is asked for", async () => {
    const { launchClaim: launched } = await opened({ provider: { capacityFromRequests: true } });
    const { instance } = await launched({ ...one, requests: { cpu: "1", memory: "1Gi" } });
    expect(instance.capacity).toEqual({ cpu: "1", memory: "1Gi" });
    expect(instance.allocatable).toMatchObject({ cpu: "1900m", pods: "32" });
  });

  it("an EC2 machine is named, labelled, tainted and stamped as on AWS", async () => {
    const { launchClaim: launched, cloud, get } = await opened();
    const spec = { nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"], [labels.zone]: ["us-west-2b"] } };
    const { instance } = await launched({ ...spec, taints: [{ key: "team", value: "a", effect: "NoSchedule" }] });
    expect(instance.providerId).toMatch(/^aws:\/\/\/us-west-2b\/i-[0-9a-f]{17}$/);
    expect(instance.imageId).toBe("ami-simal2023amd64standardlatest");
    expect(instance.labels).toMatchObject({
      [labels.instanceType]: "m5.large",
      [labels.zone]: "us-west-2b",
      [labels.region]: "us-west-2",
      [labels.capacityType]: "spot",
      [awsLabels.instanceFamily]: "m5",
      [awsLabels.instanceCpu]: "2",
      [awsLabels.nodeClass]: "default",
      [awsLabels.instanceTenancy]: "default",
      "topology.k8s.aws/zone-id": "usw2-az2",
    });
    const [machine] = cloud.list();
    expect(machine?.nodeName).toMatch(/^ip-10-(1[6-9]|2\d|3[01])-\d+-\d+\.us-west-2\.compute\.internal$/);
    expect(machine?.taints).toEqual([taints.unregistered, { key: "team", value: "a", effect: "NoSchedule" }]);
    const nodeClass = await get<KubeObject>(karpenterTypes.EC2NodeClass, "default");
    expect(instance.annotations?.[annotations.ec2NodeClassHash]).toBe(
      nodeClass?.metadata.annotations?.[annotations.ec2NodeClassHash],
    );
  });

  it("retired EC2 types are sold too, and marked", async () => {
    const { launchClaim: launched } = await opened();
    const { instance } = await launched({ nodeClass: ec2, wants: { [labels.instanceType]: ["p3.2xlarge"] } });
    expect(instance.labels[awsLabels.instanceGpuName]).toBe("v100");
    expect(instance.annotations?.[simulationAnnotations.retiredType]).toBe("true");
    expect(instance.imageId).toBe("ami-simal2023amd64nvidialatest");
  });

  it("a machine that vanishes is not-found at once", async () => {
    const { launchClaim: launched, cloud, provider, answer } = await opened();
    const { instance, claim } = await launched(one);
    cloud.vanish(instance.providerId);
    expect(await answer(codeOf(provider.get(instance.providerId)))).toBe("not-found");
    expect(await answer(codeOf(provider.delete(claim)))).toBe("not-found");
  });

  it("05:CP-L10 kubelets can be made unwell", async () => {
    const { launchClaim: launched, cloud, clock, get } = await opened({ runsCluster: true });
    const { instance } = await launched(one);
    await clock.advance(30_000);
    cloud.setKubelet(instance.providerId, "not-ready");
    await clock.advance(1_000);
    const node = await get<KubeObject>(builtInTypes.Node, cloud.list()[0]?.nodeName ?? "");
    expect(node?.status).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "False" })]),
    });
  });
});

describe("stock and prices", () => {
  it("02:L-32 a sold out offering is passed over, and not offered for three minutes", async () => {
    const { launchClaim, cloud, provider, answer, clock } = await opened();
    const before = await answer(provider.instanceTypes(poolOf("KWOKNodeClass")));
    const zones = ["test-zone-a", "test-zone-b", "test-zone-c"];
    for (const soldOut of zones)
      cloud.setAvailableCount({ instanceType: type, zone: soldOut, capacityType: "spot" }, 0);
    const { instance } = await launchClaim(one);
    expect(instance.labels).toMatchObject({ [labels.zone]: "test-zone-d", [labels.capacityType]: "spot" });

    const shown = async () => {
      const types = await answer(provider.instanceTypes(poolOf("KWOKNodeClass")), 0);
      const offerings = types.find(({ name }) => name === type)?.offerings ?? [];
      return {
        types,
        missing: offerings.filter(({ available }) => !available).map((offering) => offeringZone(offering)),
      };
    };
    const after = await shown();
    expect(after.missing.length).toBeGreaterThan(0); // the dice did not begin with the one in stock
    expect(zones).toEqual(expect.arrayContaining(after.missing));
    expect(after.types.filter((now, index) => now !== before[index]).map(({ name }) => name)).toEqual([type]);
    await clock.advance(3 * 60_000);
    expect((await shown()).missing).toEqual([]);
  });

  it("02:L-33 when all of the capacity type is sold out the claim is refused, and the next one gets another", async () => {
    const { claimed, cloud, provider, answer } = await opened();
    cloud.setAvailableCount({ capacityType: "spot" }, 0);
    const wants = { [labels.instanceType]: ["m5.large", "m5.xlarge"] };
    const first = await claimed({ nodeClass: ec2, wants });
    expect(await answer(codeOf(provider.create(first)))).toBe("insufficient-capacity");
    const second = await claimed({ nodeClass: ec2, wants });
    const instance = await answer(provider.create(second));
    expect(instance.labels).toMatchObject({ [labels.capacityType]: "on-demand", [labels.instanceType]: "m5.large" });
  });

  it("stock is used up, and a machine that ends is back in stock", async () => {
    const { launchClaim: launched, claimed, cloud, provider, answer, clock } = await opened();
    cloud.setAvailableCount({ instanceType: type }, 2);
    const { claim } = await launched(one);
    await launched(one);
    expect(await answer(codeOf(provider.create(await claimed(one))))).toBe("insufficient-capacity");
    await answer(provider.delete(claim));
    await clock.advance(3 * 60_000);
    await launched(one);
    expect(await answer(codeOf(provider.create(await claimed(one))))).toBe("insufficient-capacity");
  });

  it("a price that changes shows in that type alone, and decides the next launch", async () => {
    const { launchClaim: launched, cloud, provider, answer } = await opened();
    const before = await answer(provider.instanceTypes(poolOf("KWOKNodeClass")));
    let heard = 0;
    provider.onPricesChanged?.(() => heard++);
    cloud.setPrice({ instanceType: type, zone: "test-zone-c", capacityType: "on-demand" }, 0.001);
    expect(heard).toBe(1);
    const after = await answer(provider.instanceTypes(poolOf("KWOKNodeClass")));
    expect(after.filter((now, index) => now !== before[index]).map(({ name }) => name)).toEqual([type]);
    const { instance } = await launched(one);
    expect(instance.labels).toMatchObject({
      [labels.zone]: "test-zone-c",
      [labels.capacityType]: "on-demand",
      [kwokLabels.instancePrice]: "0.001000",
    });
  });

  it("02:L-33 a reservation is used first, and up; it shows how much is left", async () => {
    const kwokTypes = [instanceType("m.large").reserved("cr-1", { zone: "a", capacity: 1 }).build()];
    const { launchClaim: launched, provider, answer, clock } = await opened({ provider: { kwokTypes } });
    const left = async () => {
      const [only] = await answer(provider.instanceTypes(poolOf("KWOKNodeClass")), 0);
      const held = only?.offerings.find((offering) => offeringCapacityType(offering) === "reserved");
      return [held?.reservationCapacity, held?.available];
    };
    expect(await left()).toEqual([1, true]);
    const { claim, instance } = await launched();
    expect(instance.labels).toMatchObject({ [labels.capacityType]: "reserved", [kwokLabels.reservationId]: "cr-1" });
    expect(await left()).toEqual([0, false]);
    expect((await launched()).instance.labels[labels.capacityType]).toBe("spot");
    await answer(provider.delete(claim));
    await clock.advance(5_000);
    expect(await left()).toEqual([1, true]);
  });

  it("02:L-33 EC2: spot before on demand, but not where it is dearer", async () => {
    const { launchClaim: launched, cloud } = await opened();
    const spec = { nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"] } };
    expect((await launched(spec)).instance.labels[labels.capacityType]).toBe("spot");
    cloud.setPrice({ instanceType: "m5.large", capacityType: "spot" }, 10);
    expect((await launched(spec)).instance.labels[labels.capacityType]).toBe("on-demand");
  });

  it("02:K-7 equal prices are spread over zones by the seed", async () => {
    const { launchClaim: launched } = await opened();
    const zones = new Set<string | undefined>();
    for (let index = 0; index < 12; index++) zones.add((await launched(one)).instance.labels[labels.zone]);
    expect(zones.size).toBeGreaterThan(2);
  });

  it("EC2 types are sold in the zones of the class's subnets only", async () => {
    const { create, clock, provider, answer, launchClaim: launched } = await opened();
    const terms = [{ tags: { [labels.zone]: "us-west-2c" } }];
    await create(ec2NodeClass("one-zone", { subnetSelectorTerms: terms }));
    await clock.advance(1_000);
    const pool = poolOf("EC2NodeClass");
    const ref = { ...pool.spec.template.spec.nodeClassRef, name: "one-zone" };
    const template = { spec: { ...pool.spec.template.spec, nodeClassRef: ref } };
    const types = await answer(provider.instanceTypes({ ...pool, spec: { ...pool.spec, template } }));
    const offered = types.flatMap(({ offerings }) => offerings.filter(({ available }) => available));
    expect(new Set(offered.map((offering) => offeringZone(offering)))).toEqual(new Set(["us-west-2c"]));
    expect(new Set(offered.map((offering) => offeringCapacityType(offering)))).toEqual(new Set(["on-demand", "spot"]));
    const { instance } = await launched({ nodeClass: { ...ec2, name: "one-zone" }, wants: {} });
    expect(instance.labels[labels.zone]).toBe("us-west-2c");
  });
});

describe("faults", () => {
  it("03:S-12 an answer that is lost costs nothing: the next call finds the machine", async () => {
    const { claimed, cloud, provider, answer } = await opened();
    cloud.failNext("create", { kind: "lost" });
    const claim = await claimed(one);
    expect(await answer(codeOf(provider.create(claim)))).toBe("unknown");
    const instance = await answer(provider.create(claim));
    expect(cloud.list().map(({ providerId }) => providerId)).toEqual([instance.providerId]);
  });

  it("a call that fails did nothing", async () => {
    const { claimed, cloud, provider, answer } = await opened();
    cloud.failNext("create", { kind: "failed" }, 2);
    const claim = await claimed(one);
    expect(await answer(codeOf(provider.create(claim)))).toBe("unknown");
    expect(await answer(codeOf(provider.create(claim)))).toBe("unknown");
    expect(cloud.list()).toEqual([]);
    expect(await answer(codeOf(provider.create(claim)))).toBe("ok");
  });

  it("02:L-31 the cloud can refuse with a reason", async () => {
    const { claimed, cloud, provider, answer } = await opened();
    const error = new CloudError("create-failed", "too many", { reason: "VCPULimitExceeded" });
    cloud.failNext("create", { kind: "refused", error });
    const outcome = await answer(provider.create(await claimed(one)).catch((thrown: unknown) => thrown));
    expect(cloudErrorOf(outcome)).toMatchObject({ code: "create-failed", reason: "VCPULimitExceeded" });
  });

  it("slow answers come late, all the same", async () => {
    const { claimed, cloud, provider, clock } = await opened();
    cloud.failNext("create", { kind: "slow", ms: 40_000 });
    let isAnswered = false;
    const call = provider.create(await claimed(one)).then(() => {
      isAnswered = true;
    });
    await clock.advance(39_000);
    expect([isAnswered, cloud.list().length]).toEqual([false, 1]);
    await clock.advance(2_000);
    await call;
    expect(isAnswered).toBe(true);
  });

  it("a dud starts and never joins", async () => {
    const { launchClaim, cloud, clock, get } = await opened({ runsCluster: true });
    cloud.failNext("create", { kind: "silent-kubelet" });
    await launchClaim(one);
    await clock.advance(120_000);
    expect(await get(builtInTypes.Node, cloud.list()[0]?.nodeName ?? "")).toBeUndefined();
  });

  it("faults come at the rates asked for, the same for the same seed", async () => {
    const kwok = async (seed: string) => {
      const made = await providerWorld({ seed, settings: { faults: { failed: 0.2, lost: 0.2, refused: 0.2 } } });
      await made.create(kwokNodeClass());
      for (let index = 0; index < 30; index++) await made.answer(codeOf(made.provider.create(await made.claimed(one))));
      await made.stop();
      return made.cloudCalls;
    };
    const first = await kwok("a");
    expect(await kwok("a")).toEqual(first);
    expect(await kwok("b")).not.toEqual(first);
    const kinds = new Set(first.map(({ outcome }) => outcome));
    expect(kinds).toEqual(new Set(["ok", "failed", "lost", "create-failed"]));
  });

  it("every call is told of, with its time and outcome", async () => {
    const { launchClaim: launched, provider, answer, cloudCalls } = await opened();
    const { instance } = await launched(one);
    await answer(provider.list());
    await answer(codeOf(provider.get(`${instance.providerId}0`)));
    expect(cloudCalls.map(({ call, about, outcome }) => `${call} ${about} ${outcome}`)).toEqual([
      "create default-1 ok",
      "list  ok",
      `get ${instance.providerId}0 not-found`,
    ]);
    expect(cloudCalls[0]?.at).toBeGreaterThan(startAt);
  });
});
