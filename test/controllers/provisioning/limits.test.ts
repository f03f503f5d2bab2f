import { expect, it } from "vitest";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { pod } from "../../builders/pod.ts";
import { interceptCalls } from "../../world/intercept-calls.ts";
import { provisioningWorld } from "./provisioning-world.ts";

const types = [instanceType("four").cpu(4).memory("16Gi")];
const three = (name: string) => pod().named(name).cpu("3");

it("02:H-2 pods beyond the limit get no node, and are told why", async () => {
  const { provision, events, metrics } = await provisioningWorld({ types, pools: [nodePool().limit("cpu", "3")] });

  expect(await provision(three("web"))).toEqual([]);

  expect(await events("web")).toEqual([
    {
      type: "Warning",
      reason: "FailedScheduling",
      message: "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)",
    },
  ]);
  expect(metrics.value("scheduler_unschedulable_pods_count", { controller: "provisioner" })).toBe(1);
});

it("02:H-2 a limit that is met exactly is kept", async () => {
  const { provision } = await provisioningWorld({ types, pools: [nodePool().limit("cpu", "4")] });

  expect(await provision(three("web"))).toHaveLength(1);
});

it("02:H-3 02:L-20a of pods that do not all fit within the limit some get nodes, the others are told with the next round", async () => {
  const { provision, launchAll, pass, events } = await provisioningWorld({
    types,
    pools: [nodePool().limit("cpu", "9")],
  });
  const reasons = async () => {
    const all = await Promise.all(
      ["a", "b", "c"].map(async (name) => (await events(name)).map(({ reason }) => reason)),
    );
    return [...new Set(all.flat())].sort();
  };

  expect(await provision(three("a"), three("b"), three("c"))).toHaveLength(2);

  expect(await reasons()).toEqual(["Nominated"]);
  await launchAll();
  await pass(10);
  expect(await reasons()).toEqual(["FailedScheduling", "Nominated"]);
});

it("02:L-20a what no further node changes is told at once", async () => {
  const { provision, events } = await provisioningWorld({ types, pools: [nodePool().limit("nodes", "1")] });

  expect(await provision(three("a"), three("b"), pod().named("c").on("team", "blue"))).toHaveLength(1);

  const told = await Promise.all(["a", "b", "c"].map(async (name) => (await events(name))[0]?.reason));
  expect(told.sort()).toEqual(["FailedScheduling", "FailedScheduling", "Nominated"]);
});

it("02:H-1 the machines of earlier rounds count", async () => {
  const { provision, launchAll, pass, claims } = await provisioningWorld({
    types,
    pools: [nodePool().limit("cpu", "8")],
  });

  for (const name of ["a", "b", "c"]) {
    await provision(three(name));
    await launchAll();
    await pass(10);
  }

  expect(await claims()).toHaveLength(2);
});

it("02:H-1 a limit on nodes holds over several rounds", async () => {
  const { provision, launchAll, pass, claims, events } = await provisioningWorld({
    types,
    pools: [nodePool().limit("nodes", "2")],
  });

  for (const name of ["a", "b", "c"]) {
    await provision(three(name));
    await launchAll();
    await pass(10);
  }

  expect(await claims()).toHaveLength(2);
  expect((await events("c")).map(({ message }) => message)).toContain(
    "Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=default)",
  );
});

it("02 §11.8-3 §12.2-2 a limit on nodes holds within one round", async () => {
  const { provision } = await provisioningWorld({ types, pools: [nodePool().limit("nodes", "2")] });

  expect(await provision(three("a"), three("b"), three("c"), three("d"))).toHaveLength(2);
});

it("02:H-4 a limit that was lowered during the round is kept: the claim is not made, others are", async () => {
  let change: () => Promise<unknown> = async () => {};
  const { provision, launchAll, client, failures, claims, pass } = await provisioningWorld({
    types,
    pools: [nodePool("heavy").weight(10).limit("cpu", "100")],
    wrapProvider: (cloud) => ({
      ...cloud,
      instanceTypes: async (asked) => {
        const sold = await cloud.instanceTypes(asked);
        await change();
        return sold;
      },
    }),
  });
  await provision(three("first"));
  await launchAll();
  await pass(10);
  const body = { spec: { limits: { cpu: "1" } } };
  change = () => client.patch(karpenterTypes.NodePool, { name: "heavy" }, { kind: "merge", body });

  await provision(three("second"));

  expect(await claims()).toHaveLength(1);
  expect(String((failures[0] as { error?: unknown } | undefined)?.error)).toContain(
    "creating node claim, resource usage exceeds limit (resource-name=cpu, usage=4, limit=1)",
  );
});

it("02:L-10 each claim is made on its own: one that fails takes no other with it", async () => {
  let change: () => Promise<unknown> = async () => {};
  const { provision, client, failures } = await provisioningWorld({
    types,
    pools: [nodePool("a").label("team", "a"), nodePool("b").label("team", "b")],
    wrapProvider: (cloud) => ({
      ...cloud,
      instanceTypes: async (asked) => {
        const sold = await cloud.instanceTypes(asked);
        await change();
        return sold;
      },
    }),
  });
  let isDone = false;
  change = async () => {
    if (isDone) return;
    isDone = true;
    await client.delete(karpenterTypes.NodePool, { name: "a" });
  };

  const claims = await provision(three("one").on("team", "a"), three("two").on("team", "b"));

  expect(claims.map(({ metadata }) => metadata.labels?.team)).toEqual(["b"]);
  expect(failures).toHaveLength(1);
});

it("02:L-10 a round lasts until every claim is answered for, however late, and its errors count", async () => {
  let isOut = true;
  const { provision, pass, claims, failures } = await provisioningWorld({
    types,
    wrapClient: (client) =>
      interceptCalls(client, async ({ verb, type }, proceed) => {
        if (verb !== "create" || type !== karpenterTypes.NodeClaim || !isOut) return proceed();
        isOut = false;
        await pause();
        throw new KubeError("unavailable", "not now");
      }),
  });
  let answer = () => {};
  const pause = () =>
    new Promise<void>((resolve) => {
      answer = resolve;
    });

  expect(await provision(three("one"))).toEqual([]);
  expect(failures).toEqual([]);
  answer();
  await pass(0);
  expect(failures).toMatchObject([{ kind: "reconcile-failed", controller: "provisioner" }]);
  await pass(30);
  expect(await claims()).toHaveLength(1);
});
