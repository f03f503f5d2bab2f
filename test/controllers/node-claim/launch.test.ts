import { describe, expect, it } from "vitest";
import { finalizers, labels } from "../../../src/api/labels.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { claimNamed, foreignRef, nodeClaimWorld, recordedProvider } from "./node-claim-world.ts";

const controllers = (dependencies: Parameters<typeof lifecycleController>[0]) => [lifecycleController(dependencies)];

describe("launch", () => {
  it("03:L-7 02:L-30 buys a machine and writes down what it is, the claim's own labels first", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.launched("a", {}, { labels: { [labels.zone]: "mine", team: "x" }, annotations: { note: "y" } });
    const { metadata, status } = await world.requireClaim("a");
    expect(status?.providerID).toMatch(/^kwok:\/\//);
    expect(status?.capacity).toMatchObject({ cpu: expect.anything() });
    expect(status?.allocatable).toMatchObject({ cpu: expect.anything() });
    expect(metadata.labels).toMatchObject({ [labels.zone]: "mine", team: "x" });
    expect(metadata.labels?.[labels.instanceType]).toBeDefined();
    expect(metadata.annotations).toMatchObject({ note: "y" });
    expect(await world.condition("a", "Launched")).toMatchObject({ status: "True", reason: "Launched" });
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "Unknown", reason: "NodeNotFound" });
    expect(await world.condition("a", "Initialized")).toMatchObject({ reason: "AwaitingReconciliation" });
    expect(world.logged("launched nodeclaim")).toMatchObject([
      { level: "info", controller: "nodeclaim.lifecycle", NodeClaim: { name: "a" }, "provider-id": status?.providerID },
    ]);
    expect(world.cloud.records()).toHaveLength(1);
  });

  it("03:L-1 leaves a claim of another provider's class alone", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.create(claimNamed("foreign", { nodeClassRef: foreignRef }));
    await world.pass(60);
    expect(await world.requireClaim("foreign")).not.toHaveProperty("status");
    expect((await world.requireClaim("foreign")).metadata.finalizers).toBeUndefined();
    expect(world.cloud.records()).toEqual([]);
  });

  it("03:L-2 stores the finalizer before the cloud is called", async () => {
    const seen: unknown[] = [];
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({
        ...provider,
        create: async (claim) => {
          seen.push((await world.requireClaim("a")).metadata.finalizers);
          return provider.create(claim);
        },
      }),
    });
    await world.launched("a");
    expect(seen).toEqual([[finalizers.termination]]);
  });

  it("03:L-6 02:L-23 a shortage is told, deletes the claim and is counted", async () => {
    const refuse = recordedProvider({
      create: () => Promise.reject(new CloudError("insufficient-capacity", `${"x".repeat(300)} sold out`)),
    });
    const world = await nodeClaimWorld({ controllers, wrapProvider: refuse.cloud });
    await world.create(claimNamed("a"));
    await world.pass(5);
    expect(await world.claim("a")).toBeUndefined();
    const [event] = await world.events("a");
    expect(event).toMatchObject({ reason: "InsufficientCapacityError", type: "Warning" });
    expect(event?.message).toMatch(/^NodeClaim a event: insufficient capacity, x+\.\.\.$/);
    expect(world.logged("failed launching nodeclaim")).toMatchObject([
      { level: "error", error: expect.objectContaining({ message: expect.stringContaining("xxx") }) },
    ]);
    expect(refuse.calls).toEqual(["create"]);
    expect(world.counted.filter(({ name }) => name === "nodeclaims_disrupted_total")).toEqual([
      {
        name: "nodeclaims_disrupted_total",
        labels: {
          reason: "insufficient_capacity",
          nodepool: "default",
          capacity_type: "",
          consolidation_policy: "",
          termination_mode: "graceful",
        },
        value: 1,
      },
    ]);
    expect(world.failures).toEqual([]);
  });

  it("03:S-11 a claim given up on goes, though the server refuses its deletion at first", async () => {
    let refusals = 0;
    const refuse = recordedProvider({
      create: () => Promise.reject(new CloudError("insufficient-capacity", "sold out")),
    });
    const through = beforeWrites(({ verb, type }) => {
      if (verb !== "delete" || type !== karpenterTypes.NodeClaim || ++refusals > 1) return;
      throw new KubeError("conflict", "the object has been modified");
    });
    const world = await nodeClaimWorld({ controllers, wrapProvider: refuse.cloud, wrapClient: through });
    await world.create(claimNamed("a"));
    await world.pass(10);
    expect(refusals).toBe(2);
    expect(await world.claim("a")).toBeUndefined();
    expect(world.failures).toEqual([]);
  });

  it("03:L-6 a class that is not ready deletes the claim without an event", async () => {
    const refuse = recordedProvider({
      create: () => Promise.reject(new CloudError("node-class-not-ready", "not yet")),
    });
    const world = await nodeClaimWorld({ controllers, wrapProvider: refuse.cloud });
    await world.create(claimNamed("a", { terminationGracePeriod: "0s" }));
    await world.pass(5);
    expect(await world.claim("a")).toBeUndefined();
    expect(await world.events("a")).toEqual([
      expect.objectContaining({ reason: "TerminationGracePeriodExpiring" }), // of its end, not of its launch
    ]);
    expect(world.logged("failed launching nodeclaim")).toHaveLength(1);
    expect(world.counted.map(({ labels: told }) => [told["reason"], told["termination_mode"]])).toContainEqual([
      "nodeclass_not_ready",
      "forceful",
    ]);
  });

  it("03:L-6 what the cloud says of a failed launch lands in the condition, and it is tried again", async () => {
    let failures = 2;
    const flaky = recordedProvider();
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) =>
        flaky.cloud({
          ...provider,
          create: (claim) =>
            failures-- > 0
              ? Promise.reject(new CloudError("create-failed", "too many", { reason: "RequestLimitExceeded" }))
              : provider.create(claim),
        }),
    });
    await world.create(claimNamed("a"));
    await world.pass(0.2);
    expect(await world.condition("a", "Launched")).toMatchObject({
      status: "Unknown",
      reason: "RequestLimitExceeded",
      message: "too many",
    });
    expect(world.failures).toMatchObject([{ kind: "reconcile-failed", controller: "nodeclaim.lifecycle", key: "a" }]);
    await world.pass(10);
    expect(await world.condition("a", "Launched")).toMatchObject({ status: "True" });
    expect(flaky.calls).toEqual(["create", "create", "create"]);
  });

  it("03:L-4 a launch that fails is tried again after a second, twice as late each time, at most a minute", async () => {
    const times: number[] = [];
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({
        ...provider,
        create: () => {
          times.push(world.clock.now());
          return Promise.reject(new CloudError("create-failed", "too many", { reason: "RequestLimitExceeded" }));
        },
      }),
    });
    await world.create(claimNamed("a"));
    await world.pass(250);
    const waits = times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1_000);
    // Each wait is drawn from half of it to the whole, so that many claims do not ask together.
    for (const [at, wait] of waits.entries()) {
      const most = Math.min(60, 2 ** at);
      expect(wait).toBeGreaterThanOrEqual(most / 2);
      expect(wait).toBeLessThanOrEqual(most);
    }
    expect(waits.length).toBeGreaterThan(6);
  });

  it("03:L-6 an error nobody planned for is cut to 300 characters", async () => {
    const broken = recordedProvider({ create: () => Promise.reject(new Error("y".repeat(400))) });
    const world = await nodeClaimWorld({ controllers, wrapProvider: broken.cloud });
    await world.create(claimNamed("a"));
    await world.pass(0.2);
    expect(await world.condition("a", "Launched")).toMatchObject({
      status: "Unknown",
      reason: "LaunchFailed",
      message: `${"y".repeat(300)}...`,
    });
  });

  it("03:L-5 a status that could not be written does not buy a second machine", async () => {
    const counting = recordedProvider();
    const world = await nodeClaimWorld({ controllers, wrapProvider: counting.cloud });
    const { client } = world;
    const patch = client.patch.bind(client);
    let refusals = 3;
    client.patch = ((type, key, body, options) => {
      const isStatus = type.kind === "NodeClaim" && options?.subresource === "status";
      return isStatus && refusals-- > 0
        ? Promise.reject(new KubeError("unavailable", "not now"))
        : patch(type, key, body, options);
    }) as typeof client.patch;
    await world.create(claimNamed("a"));
    await world.pass(30);
    expect(await world.condition("a", "Launched")).toMatchObject({ status: "True" });
    expect(counting.calls).toEqual(["create"]);
    expect(world.logged("launched nodeclaim")).toHaveLength(1);
  });

  it("03:S-10 somebody who was faster is a quiet second look", async () => {
    const counting = recordedProvider();
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) =>
        counting.cloud({
          ...provider,
          create: async (claim) => {
            const body = { metadata: { annotations: { meanwhile: "yes" } } };
            await world.client.patch(karpenterTypes.NodeClaim, { name: "a" }, { kind: "merge", body });
            return provider.create(claim);
          },
        }),
    });
    await world.launched("a");
    await world.pass(5);
    const { metadata, status } = await world.requireClaim("a");
    expect(status?.providerID).toMatch(/^kwok/);
    expect(metadata.annotations).toMatchObject({ meanwhile: "yes" });
    expect(counting.calls).toEqual(["create"]);
    expect(world.failures).toEqual([]);
  });

  it("03:S-12 a machine bought for a claim deleted meanwhile is given back", async () => {
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({
        ...provider,
        create: async (claim) => {
          const instance = await provider.create(claim);
          await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
          return instance;
        },
      }),
    });
    await world.create(claimNamed("a"));
    await world.pass(30);
    expect(await world.claim("a")).toBeUndefined();
    expect(world.cloud.records()).toEqual([]);
  });
});
