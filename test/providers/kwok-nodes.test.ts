import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { kwokLabels, labels, taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { cloudErrorOf } from "../../src/cloud/cloud-error.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import { type RunningControllers, startControllers } from "../../src/kube/controller.ts";
import { KubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { kwokNodes } from "../../src/providers/kwok/kwok-nodes.ts";
import { type KwokProviderOptions, kwokProvider } from "../../src/providers/kwok/kwok-provider.ts";
import { Random } from "../../src/util/random.ts";
import { kwokNodeClass } from "../builders/node-class.ts";
import { type Claim, type ProviderWorld, providerWorld } from "./provider-world.ts";

const type = "c-2x-amd64-linux";

describe("KWOK machines that are Nodes", () => {
  let open: ProviderWorld;
  let loops: RunningControllers;
  let provider: CloudProvider;

  const start = (options: Partial<KwokProviderOptions> = {}): void => {
    const { client, clock } = open;
    const fleet = kwokNodes({ client, clock });
    provider = kwokProvider({ client, clock, kwokNodes: fleet, catalogue: kwokInstanceTypes(), ...options });
    loops = startControllers({ client, clock, random: new Random("kwok"), controllers: provider.controllers });
  };
  const stop = async (): Promise<void> => {
    const stopping = loops.stop();
    await open.clock.advance(60_000);
    await stopping;
  };
  beforeEach(async () => {
    open = await providerWorld({});
    await open.create(kwokNodeClass());
    start();
    await open.clock.advance(0);
  });
  afterEach(async () => {
    await stop();
    await open.stop();
  });

  const asked = { wants: { [labels.instanceType]: [type] }, requests: { cpu: "1", memory: "1Gi" } };
  const launched = async (claim?: Claim) => {
    const wanted = claim ?? (await open.claimed(asked));
    return { claim: wanted, instance: await open.answer(provider.create(wanted)) };
  };
  const nodes = async () => (await open.client.list<KubeObject>(builtInTypes.Node)).items;

  it("02:K-8 the Node has upstream's name, labels, taint and status, with the type's capacity", async () => {
    const { claim, instance } = await launched();
    const [node] = await nodes();
    const name = node?.metadata.name ?? "";
    expect(name).toMatch(/^kwok-default-1-[a-z0-9]{5}-\d+$/);
    expect(node).toMatchObject({
      metadata: {
        labels: {
          [labels.instanceType]: type,
          [labels.capacityType]: "spot",
          [labels.nodePool]: "default",
          [labels.hostname]: claim.metadata.name,
          [labels.arch]: "amd64",
          [kwokLabels.instanceCpu]: "2",
          [kwokLabels.instancePrice]: "0.038006",
          [kwokLabels.partition]: "a",
          [kwokLabels.fakeNode]: "fake",
        },
        annotations: { [kwokLabels.fakeNode]: "fake" },
      },
      spec: { providerID: `kwok://${name}`, taints: [taints.unregistered] },
      status: { capacity: { cpu: "2", memory: "4Gi" }, allocatable: { cpu: "1900m" }, phase: "Pending" },
    });
    expect(instance.providerId).toBe(`kwok://${name}`);
  });

  it("02 §12.2-19 upstream's capacity, which is what was requested, can be had", async () => {
    await stop();
    start({ capacityFromRequests: true });
    await launched();
    const [node] = await nodes();
    expect(node?.status).toMatchObject({
      capacity: { cpu: "1", memory: "1Gi" },
      allocatable: { cpu: "1900m", memory: "4086Mi", pods: "32" },
    });
  });

  it("02:K-7 the Node appears after nodeRegistrationDelay; until then the machine exists all the same", async () => {
    await open.create(kwokNodeClass("late", { nodeRegistrationDelay: "30s" }));
    const { instance, claim } = await launched(await open.claimed({ ...asked, nodeClass: { name: "late" } }));
    expect(await nodes()).toEqual([]);
    expect(await provider.get(instance.providerId)).toMatchObject({ claimName: claim.metadata.name });
    expect(await provider.list()).toHaveLength(1);
    await open.clock.advance(30_000);
    expect(await nodes()).toHaveLength(1);
    expect(await provider.list()).toHaveLength(1);
  });

  it("02:K-7 a Node that cannot be made is tried again", async () => {
    await stop();
    let failures = 3;
    const { client } = open;
    const refuse = new KubeError("unavailable", "not now");
    const create: typeof client.create = (of, object, options) =>
      of === builtInTypes.Node && failures-- > 0 ? Promise.reject(refuse) : client.create(of, object, options);
    const flaky = new Proxy(client, { get: (target, key) => (key === "create" ? create : bound(target, key)) });
    start({ kwokNodes: kwokNodes({ client: flaky, clock: open.clock }) });
    await launched();
    await open.clock.advance(20_000);
    expect(await nodes()).toHaveLength(1);
    expect(failures).toBeLessThan(0);
  });

  const transient = ["unavailable", "too-many-requests", "timeout", "server-error", "forbidden"] as const;
  describe.each(transient)("02:K-7 an API server that answers %s", (code) => {
    const trouble = new KubeError(code, "not now");
    let isOut: (kind: string) => boolean;
    beforeEach(async () => {
      await stop();
      const { client, clock } = open;
      isOut = () => false;
      const get: typeof client.get = (of, key) => (isOut(of.kind) ? Promise.reject(trouble) : client.get(of, key));
      const flaky = new Proxy(client, { get: (target, key) => (key === "get" ? get : bound(target, key)) });
      start({ client: flaky, kwokNodes: kwokNodes({ client: flaky, clock }) });
    });

    it("to the reading of a KWOKNodeClass that is not in a view yet is no lack of capacity", async () => {
      const claim = await open.claimed(asked);
      await stop();
      isOut = (read) => read === "KWOKNodeClass";
      await expect(open.answer(provider.create(claim))).rejects.toBe(trouble);
    });

    it("to the reading of a KWOKNodeClass does not matter when it is in a view", async () => {
      isOut = (read) => read === "KWOKNodeClass";
      await launched();
      await open.clock.advance(0);
      expect(await nodes()).toHaveLength(1);
    });

    it("to the reading of a Node is no lack of capacity", async () => {
      const claim = await open.claimed(asked);
      isOut = (read) => read === "Node";
      await expect(open.answer(provider.create(claim))).rejects.toBe(trouble);
      isOut = () => false;
      await launched(claim);
      await open.clock.advance(0);
      expect(await nodes()).toHaveLength(1);
    });

    it("says nothing of a machine: it is neither gone nor deleted", async () => {
      const { claim, instance } = await launched();
      await open.clock.advance(0);
      const known = { ...claim, status: { ...claim.status, providerID: instance.providerId } };
      isOut = (read) => read === "Node";
      await expect(open.answer(provider.get(instance.providerId))).rejects.toBe(trouble);
      await expect(open.answer(provider.delete(known))).rejects.toBe(trouble);
      expect(await nodes()).toHaveLength(1);
    });
  });

  it("a controller that starts anew finds the machine of a claim by the claim alone", async () => {
    const { claim, instance } = await launched();
    await stop();
    start();
    const { instance: again } = await launched(claim);
    expect(again.providerId).toBe(instance.providerId);
    await open.clock.advance(5_000);
    expect(await nodes()).toHaveLength(1);
  });

  it("02:K-10 a Node on its way out counts as gone", async () => {
    const { claim, instance } = await launched();
    const [node] = await nodes();
    const name = node?.metadata.name ?? "";
    const body = { metadata: { finalizers: ["karpenter.sh/termination"] } };
    await open.client.patch(builtInTypes.Node, { name }, { kind: "merge", body });
    await open.client.delete(builtInTypes.Node, { name });
    const told = { ...claim, status: { providerID: instance.providerId } } as NodeClaim;
    const code = (call: Promise<unknown>) => call.catch((error: unknown) => cloudErrorOf(error)?.code);
    expect(await code(provider.get(instance.providerId))).toBe("not-found");
    expect(await code(provider.delete(told))).toBe("not-found");
    expect(await provider.list()).toEqual([]);
  });

  it("02:K-10 Nodes of others are none of its machines", async () => {
    await open.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "other" },
      spec: { providerID: "aws:///a/i-1" },
    });
    expect(await provider.list()).toEqual([]);
  });

  it.each(["kwok://another", "aws:///a/i-1", ""])(
    "02:K-10 a Node of the instance's name with provider id %j is neither found nor deleted",
    async (providerID) => {
      const { claim, instance } = await launched();
      const [node] = await nodes();
      const name = node?.metadata.name ?? "";
      await open.client.delete(builtInTypes.Node, { name });
      await open.create({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { providerID } });
      const told = { ...claim, status: { providerID: instance.providerId } } as NodeClaim;
      const code = (call: Promise<unknown>) => call.catch((error: unknown) => cloudErrorOf(error)?.code);
      expect(await code(provider.get(instance.providerId))).toBe("not-found");
      expect(await code(provider.delete(told))).toBe("not-found");
      expect((await nodes()).map(({ metadata }) => metadata.name)).toEqual([name]);
    },
  );

  it("03:G-3 a Node no claim has is collected", async () => {
    const { claim } = await launched();
    await open.client.delete(karpenterTypes.NodeClaim, { name: claim.metadata.name ?? "" });
    await open.clock.advance(60_000);
    expect(await nodes()).toEqual([]);
  });

  it("02:K-8 a long claim name still gives a name that can be a label", async () => {
    const long = `${"pool.".repeat(11)}abcde`;
    const claim = await open.claimed({ ...asked, metadata: { name: long, labels: {} } });
    const { instance } = await launched(claim);
    const name = instance.providerId.slice("kwok://".length);
    expect(name.length).toBeLessThanOrEqual(63);
    expect(await nodes()).toHaveLength(1);
  });
});

function bound(target: object, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key);
  return typeof value === "function" ? value.bind(target) : value;
}
