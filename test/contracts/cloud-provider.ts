import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { groups, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { type CloudErrorCode, cloudErrorOf } from "../../src/cloud/cloud-error.ts";
import type { CloudProvider, Instance } from "../../src/cloud/cloud-provider.ts";
import { offeringCapacityType, offeringZone } from "../../src/core/instance-type.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { Quantity } from "../../src/util/quantity.ts";
import type { VirtualClock } from "../../src/util/virtual-clock.ts";

/** A provider on the virtual clock, with one node class that is ready. */
export interface ProviderUnderTest {
  readonly provider: CloudProvider;
  readonly client: KubeClient;
  readonly clock: VirtualClock;
  readonly nodeClassRef: { readonly group: string; readonly kind: string; readonly name: string };
  /** Types of one architecture, the first cheaper than the second and too small for 3 cpus. */
  readonly types: readonly [cheap: string, dear: string];
  /** Makes the class say that it is not ready. */
  breakClass(): Promise<void>;
  /** Makes the next list fail. */
  breakList(): void;
  stop(): Promise<void>;
}

/** A claim as it stands once its launch has been written down. (03:L-6) */
function afterLaunch(claim: KubeObject & NodeClaim, instance: Instance): NodeClaim {
  const { metadata } = claim;
  return {
    ...claim,
    metadata: {
      ...metadata,
      labels: { ...instance.labels, ...metadata.labels },
      annotations: { ...metadata.annotations, ...instance.annotations },
    },
    status: {
      providerID: instance.providerId,
      ...(instance.imageId !== undefined && { imageID: instance.imageId }),
    },
  } as NodeClaim;
}

type ClaimItem = { readonly key: string; readonly operator: string; readonly values?: readonly string[] };

interface ProviderTraits {
  /** Whether a launch is found again by its claim; in EC2 it is not, and what nobody has heard of is collected. (04 §3.3) */
  readonly findsLaunchOfClaim: boolean;
}

/** What every `CloudProvider` does, whatever machines are behind it. (02 §7) */
export function cloudProviderContract(
  title: string,
  open: () => Promise<ProviderUnderTest>,
  { findsLaunchOfClaim }: ProviderTraits = { findsLaunchOfClaim: true },
): void {
  describe(`CloudProvider contract: ${title}`, () => {
    let under: ProviderUnderTest;
    let count = 0;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.stop());

    /** Lets time pass while a call is answered. */
    const answer = async <T>(call: Promise<T>): Promise<T> => {
      const kept = call.then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      );
      await under.clock.advance(1_000);
      return (await kept)();
    };
    const refusal = async (call: Promise<unknown>): Promise<CloudErrorCode | undefined> => {
      try {
        await answer(call);
      } catch (error) {
        return cloudErrorOf(error)?.code;
      }
      throw new Error("was not refused");
    };
    const claimed = (
      requirements: readonly ClaimItem[] = [],
      requests = { cpu: "1" },
    ): Promise<KubeObject & NodeClaim> =>
      under.client.create<KubeObject & NodeClaim>(karpenterTypes.NodeClaim, {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: { name: `default-${++count}`, labels: { [labels.nodePool]: "default", team: "blue" } },
        spec: {
          requirements: [{ key: labels.instanceType, operator: "In", values: under.types }, ...requirements],
          resources: { requests },
          nodeClassRef: under.nodeClassRef,
          expireAfter: "Never",
        },
      });
    const launched = async (...asked: Parameters<typeof claimed>) => {
      const claim = await claimed(...asked);
      const instance = await answer(under.provider.create(claim));
      return { claim, instance, told: afterLaunch(claim, instance) };
    };
    const pool = () =>
      ({
        metadata: { name: "default" },
        spec: { template: { spec: { nodeClassRef: under.nodeClassRef, requirements: [] } } },
      }) as unknown as NodePool;

    it("02 §7 create resolves type, zone and capacity type within what the claim allows, and keeps the claim's labels", async () => {
      const { provider } = under;
      const offered = await answer(provider.instanceTypes(pool()));
      const zones = [
        ...new Set(offered.flatMap(({ offerings }) => offerings.map((one) => offeringZone(one) ?? ""))),
      ].sort();
      const { instance } = await launched([
        { key: labels.zone, operator: "In", values: [zones[1] ?? ""] },
        { key: labels.capacityType, operator: "In", values: ["on-demand"] },
      ]);
      expect(instance.labels).toMatchObject({
        [labels.instanceType]: under.types[0],
        [labels.zone]: zones[1],
        [labels.capacityType]: "on-demand",
        [labels.arch]: "amd64",
        [labels.nodePool]: "default",
        team: "blue",
      });
      expect(Object.values(instance.labels).every((value) => typeof value === "string")).toBe(true);
    });

    it("02:L-30 create tells capacity and allocatable, which is less of it", async () => {
      const { instance } = await launched();
      const offered = await answer(under.provider.instanceTypes(pool()));
      const type = offered.find(({ name }) => name === under.types[0]);
      expect(Quantity.parse(String(instance.capacity["cpu"])).equals(type?.capacity["cpu"] ?? Quantity.zero)).toBe(
        true,
      );
      const memory = (list: Readonly<Record<string, unknown>>) => Quantity.parse(String(list["memory"]));
      expect(memory(instance.allocatable).cmp(memory(instance.capacity))).toBeLessThan(0);
      expect(memory(instance.allocatable).sign()).toBeGreaterThan(0);
    });

    it.runIf(findsLaunchOfClaim)("02 §7 create is safe to repeat: one claim, one machine", async () => {
      const { claim, instance } = await launched();
      await under.clock.advance(60_000);
      const again = await answer(under.provider.create(claim));
      expect(again).toMatchObject({ providerId: instance.providerId, labels: instance.labels });
      expect(await answer(under.provider.list())).toHaveLength(1);
    });

    it.runIf(findsLaunchOfClaim)("02 §7 create called twice at once gives one machine", async () => {
      const claim = await claimed();
      const both = Promise.all([under.provider.create(claim), under.provider.create(claim)]);
      const [first, second] = await answer(both);
      expect(second.providerId).toBe(first.providerId);
      expect(await answer(under.provider.list())).toHaveLength(1);
    });

    it("02 §7 two claims have two machines, and both are listed", async () => {
      const one = await launched();
      const two = await launched();
      const listed = await answer(under.provider.list());
      expect(listed.map(({ providerId }) => providerId).sort()).toEqual(
        [one.instance.providerId, two.instance.providerId].sort(),
      );
      const names = [one.claim.metadata.name, two.claim.metadata.name].sort();
      expect(listed.map(({ claimName }) => claimName).sort()).toEqual(
        findsLaunchOfClaim ? names : [undefined, undefined],
      );
    });

    it("02 §7 get finds a machine by its provider id, also before it has joined", async () => {
      const { instance } = await launched();
      const found = await answer(under.provider.get(instance.providerId));
      expect(found).toMatchObject({ providerId: instance.providerId, isTerminating: false });
      expect(instance.labels).toMatchObject(found.labels);
      expect(Object.keys(found.labels)).toEqual(
        expect.arrayContaining([labels.instanceType, labels.zone, labels.capacityType, labels.nodePool]),
      );
    });

    it("02 §7 get and delete of a machine that is not there are not-found", async () => {
      const { instance, told } = await launched();
      const missing = `${instance.providerId.slice(0, -1)}x`;
      expect(await refusal(under.provider.get(missing))).toBe("not-found");
      expect(await refusal(under.provider.delete({ ...told, status: { providerID: missing } } as NodeClaim))).toBe(
        "not-found",
      );
      expect(await answer(under.provider.list())).toHaveLength(1);
    });

    it("02 §7 delete begins the end, may be repeated, and is not-found once it is over", async () => {
      const { instance, told } = await launched();
      await answer(under.provider.delete(told));
      await under.clock.advance(30_000);
      expect(await refusal(under.provider.delete(told))).toBe("not-found");
      expect(await refusal(under.provider.get(instance.providerId))).toBe("not-found");
      expect(await answer(under.provider.list())).toEqual([]);
    });

    it("02 §7 delete after the machine has joined ends it as well", async () => {
      const { told } = await launched();
      await under.clock.advance(60_000);
      await answer(under.provider.delete(told));
      await under.clock.advance(30_000);
      expect(await refusal(under.provider.delete(told))).toBe("not-found");
      expect(await answer(under.provider.list())).toEqual([]);
    });

    it.runIf(findsLaunchOfClaim)("03:S-12 a claim that never heard of its machine can still delete it", async () => {
      const { claim } = await launched();
      await answer(under.provider.delete(claim));
      await under.clock.advance(30_000);
      expect(await answer(under.provider.list())).toEqual([]);
    });

    it("02 §7 delete of a claim that has no machine is not-found", async () => {
      expect(await refusal(under.provider.delete(await claimed()))).toBe("not-found");
    });

    it("02:K-7 the cheapest offering that would do is taken", async () => {
      const { instance } = await launched();
      const offered = await answer(under.provider.instanceTypes(pool()));
      const offers = offered
        .filter(({ name }) => under.types.includes(name))
        .flatMap(({ name, offerings }) =>
          offerings.filter(({ available }) => available).map((one) => ({ name, ...one })),
        );
      const cheapest = Math.min(...offers.map(({ price }) => price));
      const taken = offers.find(
        (one) =>
          one.name === instance.labels[labels.instanceType] &&
          offeringZone(one) === instance.labels[labels.zone] &&
          offeringCapacityType(one) === instance.labels[labels.capacityType],
      );
      expect(taken?.price).toBe(cheapest);
    });

    it("02:L-33 a type too small for what is requested is passed over", async () => {
      const { instance } = await launched([], { cpu: "3" });
      expect(instance.labels[labels.instanceType]).toBe(under.types[1]);
    });

    it("02 §12.2-20 a claim nothing suits is refused for want of capacity, and nothing is launched", async () => {
      const nowhere = await claimed([{ key: labels.zone, operator: "In", values: ["nowhere-1"] }]);
      expect(await refusal(under.provider.create(nowhere))).toBe("insufficient-capacity");
      expect(await refusal(under.provider.create(await claimed([], { cpu: "4000" })))).toBe("insufficient-capacity");
      expect(await answer(under.provider.list())).toEqual([]);
    });

    it("02:K-7 without its node class there is no capacity", async () => {
      const claim = await claimed();
      const ref = { ...claim.spec.nodeClassRef, name: "missing" };
      const orphan = { ...claim, spec: { ...claim.spec, nodeClassRef: ref } };
      expect(await refusal(under.provider.create(orphan))).toBe("insufficient-capacity");
    });

    it("02:K-7 a node class that is not ready launches nothing", async () => {
      const claim = await claimed();
      await under.breakClass();
      await under.clock.advance(1_000);
      expect(await refusal(under.provider.create(claim))).toBe("node-class-not-ready");
      expect(await answer(under.provider.list())).toEqual([]);
    });

    it("02 §7 list is all machines or an error", async () => {
      await launched();
      under.breakList();
      await expect(answer(under.provider.list())).rejects.toThrow();
      expect(await answer(under.provider.list())).toHaveLength(1);
    });

    it("02:C-1, C-2 every type is named as its label, and every offering has a zone and a capacity type", async () => {
      const offered = await answer(under.provider.instanceTypes(pool()));
      expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining([...under.types]));
      const misnamed = offered.filter(
        ({ name, requirements }) => requirements.get(labels.instanceType).singleValue !== name,
      );
      const vague = offered.filter(({ offerings }) =>
        offerings.some((one) => offeringZone(one) === undefined || offeringCapacityType(one) === undefined),
      );
      expect([misnamed, vague]).toEqual([[], []]);
    });

    it("02 §7 the same types come back while nothing has changed", async () => {
      const first = await answer(under.provider.instanceTypes(pool()));
      expect(await answer(under.provider.instanceTypes(pool()))).toBe(first);
    });

    it("02:O-9 a launch goes by the prices it was planned with", async () => {
      const dear = under.types[1];
      const claim = await claimed();
      const instance = await answer(
        under.provider.create(claim, {
          plannedInstanceTypes: (types) =>
            types.map((type) =>
              type.name === dear
                ? { ...type, offerings: type.offerings.map((one) => ({ ...one, price: 1e-6 })) }
                : type,
            ),
        }),
      );
      expect(instance.labels[labels.instanceType]).toBe(dear);
    });

    it("03:R-1 nodes that are not ready for long are replaced", () => {
      const statuses = under.provider.repairPolicies
        .filter(({ conditionType }) => conditionType === "Ready")
        .map(({ conditionStatus }) => conditionStatus);
      expect(statuses).toEqual(["False", "Unknown"]);
    });

    it("02 §7 a machine that is what its class asks for has not drifted", async () => {
      const { told } = await launched();
      expect(await answer(under.provider.driftReason(told))).toBeUndefined();
    });

    it("01 §3.1 its label policy knows the keys of its offerings", async () => {
      const [first] = await answer(under.provider.instanceTypes(pool()));
      const keys = [...(first?.offerings[0]?.requirements.keys() ?? [])];
      expect(keys.filter((key) => !under.provider.labelPolicy.wellKnown.has(key))).toEqual([]);
      expect(under.provider.labelPolicy.restrictedDomains).toContain(groups.karpenter);
    });
  });
}
