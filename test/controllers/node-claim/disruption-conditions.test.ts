import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import type { CloudProvider } from "../../../src/cloud/cloud-provider.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { disruptionConditionsController } from "../../../src/controllers/node-claim/disruption-conditions.ts";
import type { ResourceType } from "../../../src/kube/client.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { type NodePoolBuilder, nodePool } from "../../builders/node-pool.ts";
import { claimNamed, foreignRef, kwokRef, type NodeClaimWorld, nodeClaimWorld, type Spec } from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [disruptionConditionsController(dependencies)];
const minute = 60;
const at = "2026-01-01T00:00:00Z";
const types = ["Launched", "Registered", "Initialized"] as const;

interface Life {
  /** Those that are not True. */
  readonly conditions?: Partial<Record<(typeof types)[number], "False" | "Unknown">>;
  readonly lastPodEventTime?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Spec;
  readonly others?: readonly string[];
}

async function claimIn(world: NodeClaimWorld, name: string, life: Life = {}): Promise<void> {
  const { labels: told, annotations: notes } = life;
  const metadata = { ...(told && { labels: told }), ...(notes && { annotations: notes }) };
  const claim = await world.create(claimNamed(name, life.spec, metadata));
  const known = { reason: "x", message: "", lastTransitionTime: at, observedGeneration: 1 };
  const conditions = [...types, ...(life.others ?? [])].map((type) => ({
    ...known,
    type,
    status: life.conditions?.[type as "Launched"] ?? "True",
  }));
  const { lastPodEventTime } = life;
  await world.status(claim, {
    providerID: `kwok://${name}`,
    conditions,
    ...(lastPodEventTime && { lastPodEventTime }),
  });
  await world.pass(0);
}

function pool(
  builder: NodePoolBuilder = nodePool(),
  { disruption = {}, ...spec }: Record<string, unknown> = {},
): KubeObject {
  const built = builder.build([]).nodePool;
  return {
    ...built,
    spec: { ...built.spec, ...spec, disruption: { ...built.spec.disruption, ...(disruption as object) } },
  };
}

const consolidatedAfter = (consolidateAfter: string) => pool(nodePool(), { disruption: { consolidateAfter } });

async function staged(object: KubeObject, cloud?: (provider: CloudProvider) => CloudProvider): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({ controllers, wrapProvider: cloud });
  await world.create(object);
  return world;
}

describe("03:M-4 Consolidatable", () => {
  const found = (world: NodeClaimWorld) => world.condition("a", "Consolidatable");

  it("is set when nothing has happened for as long as the pool asks for", async () => {
    const world = await staged(consolidatedAfter("5m"));
    await claimIn(world, "a", { lastPodEventTime: "2026-01-01T00:01:00Z" });
    await world.pass(6 * minute - 1);
    expect(await found(world)).toBeUndefined();
    await world.pass(1);
    expect(await found(world)).toMatchObject({ status: "True", reason: "Consolidatable" });
    expect(world.logged("marking consolidatable")).toHaveLength(1);
    await world.pass(10 * minute);
    expect(world.logged("marking consolidatable")).toHaveLength(1);
  });

  it("counts from when the node was usable where no pod has come yet", async () => {
    const world = await staged(consolidatedAfter("5m"));
    await claimIn(world, "a");
    await world.pass(5 * minute - 1);
    expect(await found(world)).toBeUndefined();
    await world.pass(1);
    expect(await found(world)).toMatchObject({ status: "True" });
  });

  it("is set at once where the pool does not want to wait", async () => {
    const world = await staged(consolidatedAfter("0s"));
    await claimIn(world, "a", { lastPodEventTime: "2026-01-01T00:10:00Z" });
    expect(await found(world)).toMatchObject({ status: "True" });
  });

  it("goes when a pod comes or goes", async () => {
    const world = await staged(consolidatedAfter("5m"));
    await claimIn(world, "a");
    await world.pass(10 * minute);
    expect(await found(world)).toMatchObject({ status: "True" });
    await world.patchClaim("a", { status: { lastPodEventTime: "2026-01-01T00:10:00Z" } }, "status");
    expect(await found(world)).toBeUndefined();
    expect(world.logged("removing consolidatable status condition")).toHaveLength(1);
    await world.pass(5 * minute);
    expect(await found(world)).toMatchObject({ status: "True" });
  });

  it("goes when the pool says Never", async () => {
    const world = await staged(consolidatedAfter("0s"));
    await claimIn(world, "a");
    expect(await found(world)).toMatchObject({ status: "True" });
    const body = { spec: { disruption: { consolidateAfter: "Never" } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
    await world.pass(1);
    expect(await found(world)).toBeUndefined();
  });

  it.each(["Unknown", "False"] as const)("goes where Initialized is %s", async (Initialized) => {
    const world = await staged(consolidatedAfter("0s"));
    await claimIn(world, "a", { others: ["Consolidatable"], conditions: { Initialized } });
    expect(await found(world)).toBeUndefined();
  });

  it("03:L-1 is not put on claims of others, nor on those without a pool or on their way out", async () => {
    const world = await staged(consolidatedAfter("0s"));
    await claimIn(world, "foreign", { spec: { nodeClassRef: foreignRef } });
    await claimIn(world, "alone", { labels: { [labels.nodePool]: "gone" } });
    const held = { ...claimNamed("leaving"), metadata: { ...claimNamed("leaving").metadata, finalizers: ["x.y/z"] } };
    await world.create(held);
    await world.removeClaim("leaving");
    await world.patchClaim(
      "leaving",
      { status: { conditions: [{ type: "Initialized", status: "True", lastTransitionTime: at }] } },
      "status",
    );
    for (const name of ["foreign", "alone", "leaving"]) {
      expect(await world.condition(name, "Consolidatable")).toBeUndefined();
    }
  });
});

describe("03:M-6 Drifted", () => {
  const found = (world: NodeClaimWorld, name = "a") => world.condition(name, "Drifted");
  const drifting = (provider: CloudProvider): CloudProvider => ({
    ...provider,
    driftReason: async () => "CloudDrifted",
  });

  it("says what the cloud says", async () => {
    const world = await staged(pool(), drifting);
    await claimIn(world, "a");
    await claimIn(world, "foreign", { spec: { nodeClassRef: foreignRef } });
    expect(await found(world)).toMatchObject({ status: "True", reason: "CloudDrifted", message: "CloudDrifted" });
    expect(await found(world, "foreign")).toBeUndefined();
    expect(world.logged("marking drifted")).toMatchObject([{ level: "debug", reason: "CloudDrifted" }]);
  });

  it("prefers what the pool says: its template, then its requirements", async () => {
    const stamped = (hash: string) => ({ [annotations.nodePoolHash]: hash, [annotations.nodePoolHashVersion]: "v" });
    const object = pool(nodePool().zones("b"));
    const world = await staged({ ...object, metadata: { ...object.metadata, annotations: stamped("2") } }, drifting);
    await claimIn(world, "a", { annotations: stamped("1"), labels: { [labels.zone]: "a" } });
    await claimIn(world, "b", { annotations: stamped("2"), labels: { [labels.zone]: "a" } });
    await claimIn(world, "c", { annotations: stamped("2"), labels: { [labels.zone]: "b" } });
    const reasons = await Promise.all(["a", "b", "c"].map(async (name) => (await found(world, name))?.reason));
    expect(reasons).toEqual(["NodePoolDrifted", "RequirementsDrifted", "CloudDrifted"]);
  });

  it("is looked at again every five minutes, and goes when it is over", async () => {
    let reason: string | undefined = "CloudDrifted";
    const world = await staged(pool(), (provider) => ({ ...provider, driftReason: async () => reason }));
    await claimIn(world, "a");
    reason = undefined;
    await world.pass(4 * minute);
    expect(await found(world)).toMatchObject({ status: "True" });
    await world.pass(minute);
    expect(await found(world)).toBeUndefined();
  });

  it.each(["Unknown", "False"] as const)("goes where Launched is %s", async (Launched) => {
    const world = await staged(pool(), drifting);
    await claimIn(world, "a", { others: ["Drifted"], conditions: { Launched } });
    expect(await found(world)).toBeUndefined();
  });

  it("stays as it is where the pool is gone, or the machine", async () => {
    const world = await staged(pool(), (provider) => ({
      ...provider,
      driftReason: () => Promise.reject(new CloudError("not-found", "gone")),
    }));
    await claimIn(world, "a", { others: ["Drifted"] });
    await claimIn(world, "b", { others: ["Drifted"], labels: { [labels.nodePool]: "gone" } });
    expect(await found(world)).toMatchObject({ status: "True", reason: "x" });
    expect(await found(world, "b")).toMatchObject({ status: "True", reason: "x" });
    expect(world.failures).toEqual([]);
  });

  it("an error of the cloud is reported, and does not keep the other mark away", async () => {
    const world = await staged(pool(), (provider) => ({
      ...provider,
      driftReason: () => Promise.reject(new Error("no")),
    }));
    await claimIn(world, "a");
    expect(await world.condition("a", "Consolidatable")).toMatchObject({ status: "True" });
    expect(world.failures[0]).toMatchObject({ kind: "reconcile-failed", controller: "nodeclaim.disruption" });
  });

  it("after an edit of the pool only claims that no longer fit drift", async () => {
    const world = await staged(pool(nodePool().zones("a", "b")));
    await claimIn(world, "a", { labels: { [labels.zone]: "a" } });
    await claimIn(world, "b", { labels: { [labels.zone]: "b" } });
    const requirements = [{ key: labels.zone, operator: "In", values: ["b"] }];
    const body = { spec: { template: { spec: { requirements } } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
    await world.pass(1);
    expect(await found(world, "a")).toMatchObject({ status: "True", reason: "RequirementsDrifted" });
    expect(await found(world, "b")).toBeUndefined();
  });

  it("is looked at when the node class changes", async () => {
    let reason: string | undefined;
    const world = await staged(pool(), (provider) => ({ ...provider, driftReason: async () => reason }));
    await claimIn(world, "a");
    reason = "CloudDrifted";
    const body = { metadata: { labels: { touched: "1" } } };
    await world.client.patch(karpenterTypes.KWOKNodeClass, { name: "default" }, { kind: "merge", body });
    await world.pass(1);
    expect(await found(world)).toMatchObject({ status: "True" });
  });

  it("03 §1.10 a change of a node class or pool has its own claims looked at, and one of a pool's status none", async () => {
    const asked = new Set<string>();
    const driftReason = async ({ metadata }: KubeObject) => void asked.add(metadata.name ?? "");
    const world = await staged(pool(), (provider) => ({ ...provider, driftReason }));
    const second = await world.create(pool(nodePool("second")));
    await claimIn(world, "a");
    await claimIn(world, "b", { spec: { nodeClassRef: { ...kwokRef, name: "other" } } });
    await claimIn(world, "c", { labels: { [labels.nodePool]: "second" } });
    const askedAfter = async (change: Promise<unknown>) => {
      asked.clear();
      await change;
      await world.pass(1);
      return [...asked].sort();
    };
    const patched = (type: ResourceType, name: string, body: object) =>
      askedAfter(world.client.patch(type, { name }, { kind: "merge", body }));
    expect(await askedAfter(world.pass(1))).toEqual([]);
    const touched = { metadata: { annotations: { touched: "1" } } };
    expect(await patched(karpenterTypes.KWOKNodeClass, "default", touched)).toEqual(["a", "c"]);
    expect(await patched(karpenterTypes.NodePool, "second", { spec: { weight: 7 } })).toEqual(["c"]);
    expect(await patched(karpenterTypes.NodePool, "second", touched)).toEqual(["c"]);
    expect(await askedAfter(world.status(second, { nodes: 3 }))).toEqual([]);
  });

  it("03:M-7 an unknown type drifts an hour after launch; a known one is asked for every half hour", async () => {
    const asked: number[] = [];
    const world = await staged(pool(), (provider) => ({
      ...provider,
      instanceTypes: (one) => {
        asked.push(Math.round((world.clock.now() - Date.parse(at)) / 60_000));
        return provider.instanceTypes(one);
      },
    }));
    await claimIn(world, "a", {
      labels: {
        [labels.instanceType]: "c-1x-amd64-linux",
        [labels.zone]: "test-zone-a",
        [labels.capacityType]: "spot",
      },
    });
    await world.pass(2 * 60 * minute);
    expect(await found(world)).toBeUndefined();
    expect(asked).toEqual([65, 95]);
    await claimIn(world, "b", { labels: { [labels.instanceType]: "nowhere" } });
    await world.pass(60 * minute);
    expect(await found(world, "b")).toBeUndefined();
    await world.pass(6 * minute);
    expect(await found(world, "b")).toMatchObject({ status: "True", reason: "InstanceTypeNotFound" });
  });

  it("02:O-8 prices that are being worked out are waited for", async () => {
    let isReady = false;
    const world = await staged(pool(), (provider) => ({
      ...provider,
      instanceTypes: () => (isReady ? Promise.resolve([]) : Promise.reject(new CloudError("unevaluated", "soon"))),
    }));
    await claimIn(world, "a");
    await world.pass(66 * minute);
    expect(await found(world)).toBeUndefined();
    isReady = true;
    await world.pass(10);
    expect(await found(world)).toMatchObject({ reason: "InstanceTypeNotFound" });
    expect(world.failures).toEqual([]);
  });
});

describe("both marks", () => {
  const drifting =
    (reason: () => string | undefined) =>
    (provider: CloudProvider): CloudProvider => ({
      ...provider,
      driftReason: async () => reason(),
    });
  const both = (world: NodeClaimWorld) =>
    Promise.all(["Drifted", "Consolidatable"].map(async (type) => (await world.condition("a", type))?.status));

  it("come and go together", async () => {
    let reason: string | undefined = "CloudDrifted";
    const world = await staged(
      consolidatedAfter("0s"),
      drifting(() => reason),
    );
    await claimIn(world, "a");
    expect(await both(world)).toEqual(["True", "True"]);
    reason = undefined;
    const body = { spec: { disruption: { consolidateAfter: "Never" } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
    await world.pass(1);
    expect(await both(world)).toEqual([undefined, undefined]);
  });

  it("03:M-5 claims of static pools are never consolidatable", async () => {
    const world = await staged(
      pool(nodePool(), { replicas: 1 }),
      drifting(() => "CloudDrifted"),
    );
    await claimIn(world, "a", { others: ["Consolidatable"] });
    expect(await both(world)).toEqual(["True", undefined]);
  });

  it("03:S-10 a change that came in between is not overwritten", async () => {
    let isFirst = true;
    const world = await staged(consolidatedAfter("0s"), (provider) => ({
      ...provider,
      driftReason: async () => {
        const conditions = (await world.requireClaim("a")).status?.conditions ?? [];
        const reason = {
          type: "DisruptionReason",
          status: "True",
          reason: "Empty",
          message: "",
          lastTransitionTime: at,
        };
        const body = { status: { conditions: [...conditions, reason] } };
        const key = { name: "a" };
        if (isFirst)
          await world.client.patch(karpenterTypes.NodeClaim, key, { kind: "merge", body }, { subresource: "status" });
        isFirst = false;
        return "CloudDrifted";
      },
    }));
    await claimIn(world, "a");
    await world.pass(3);
    expect(await both(world)).toEqual(["True", "True"]);
    expect(await world.condition("a", "DisruptionReason")).toMatchObject({ status: "True" });
    expect(world.failures).toEqual([]);
  });
});
