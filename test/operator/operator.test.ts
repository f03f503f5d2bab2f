import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { KubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { kwokClass, pool } from "../controllers/pool-objects.ts";
import { interceptCalls } from "../world/intercept-calls.ts";
import { lease, operatorWorld } from "./operator-world.ts";

function pod(name: string): KubeObject {
  const resources = { requests: { cpu: "1", memory: "1Gi" } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { containers: [{ name: "app", image: "app", resources }] },
  } as KubeObject;
}

type Phased = KubeObject & { readonly status?: { readonly phase?: string } };

describe("the operator", () => {
  it("takes a pending pod to a running one, with everything wired", async () => {
    const world = await operatorWorld();
    const operator = world.start("one");
    await world.client.create(karpenterTypes.KWOKNodeClass, kwokClass());
    await world.client.create(karpenterTypes.NodePool, pool());
    await world.client.create(builtInTypes.Pod, pod("web"));
    await world.pass(120);
    expect(operator.hasBegun()).toBe(true);
    const running = await world.client.get<Phased>(builtInTypes.Pod, { name: "web", namespace: "default" });
    expect(running.status?.phase).toBe("Running");
    const { items: claims } = await world.client.list(karpenterTypes.NodeClaim);
    expect(claims).toHaveLength(1);
    expect(world.cloud.records()).toHaveLength(1);
    const said = operator.lines.filter(({ level }) => level === "info").map(({ message }) => message);
    expect(said).toEqual(
      expect.arrayContaining([
        "created nodeclaim",
        "launched nodeclaim",
        "registered nodeclaim",
        "initialized nodeclaim",
      ]),
    );
    expect(operator.lines.filter(({ level }) => level === "error")).toEqual([]);
    await world.during(operator.stop());
    await world.stop();
  });

  it("03 §6.5 of two one leads; the other is ready, and writes nothing", async () => {
    const world = await operatorWorld();
    const [one, two] = [world.start("one"), world.start("two")];
    await world.client.create(karpenterTypes.NodePool, pool());
    await world.pass(30);
    expect(await world.leader()).toBe("one");
    expect([one.hasBegun(), two.hasBegun()]).toEqual([true, false]);
    expect([one.isReady(), two.isReady()]).toEqual([true, true]);
    expect(world.writes.filter(({ by, kind }) => by === "two" && kind !== "Lease")).toEqual([]);
    await world.during(Promise.all([one.stop(), two.stop()]));
    await world.stop();
  });

  it("03 §6.5 gives the lease back when it stops, after its last word, and the next one leads at once", async () => {
    const world = await operatorWorld();
    const one = world.start("one");
    await world.client.create(karpenterTypes.NodePool, pool());
    await world.pass(5);
    const two = world.start("two");
    await world.pass(5);
    const stopped = one.stop();
    await world.pass(5);
    await stopped;
    expect(world.writes.filter(({ by }) => by === "one").at(-1)).toMatchObject({ verb: "update", kind: "Lease" });
    expect(await world.leader()).toBe("two"); // well before the lease would have run out
    expect(two.hasBegun()).toBe(true);
    await world.during(two.stop());
    await world.stop();
  });

  it("03 §6.5 losing the lease ends it: it tells so and does nothing more", async () => {
    const world = await operatorWorld();
    let isCut = false;
    const leaseClient = interceptCalls(world.client, (_, proceed) =>
      isCut ? Promise.reject(new KubeError("unavailable", "no answer")) : proceed(),
    );
    const one = world.start("one", { leaseClient });
    await world.pass(5);
    isCut = true;
    await world.pass(8);
    expect(one.hasLost()).toBe(false); // the last renewal is good for ten seconds
    await world.pass(5);
    expect(one.hasLost()).toBe(true);
    const before = world.writes.length;
    await world.client.create(karpenterTypes.NodePool, pool());
    await world.client.create(builtInTypes.Pod, pod("web"));
    await world.pass(60);
    expect(world.writes).toHaveLength(before);
    expect(one.lines.some(({ message }) => message === "lost the lease")).toBe(true);
    await world.during(one.stop());
    await world.stop();
  });

  it("03 §6.4 begins without a lease where it is told to", async () => {
    const world = await operatorWorld();
    const one = world.start("one", { leaderElection: undefined });
    await world.pass(1);
    expect(one.hasBegun()).toBe(true);
    expect(one.isReady()).toBe(true);
    await expect(world.leader()).rejects.toThrow();
    await world.during(one.stop());
    await world.stop();
  });

  it("03 §6.4 warmed up, it knows the cluster before it leads, and still writes nothing", async () => {
    const world = await operatorWorld();
    const one = world.start("one");
    await world.pass(5);
    const [warm, cold] = [world.start("warm", { leaderElection: { ...lease, isWarmedUp: true } }), world.start("cold")];
    await world.client.create(karpenterTypes.NodePool, pool());
    await world.pass(10);
    expect(warm.dependencies.cluster.pool("default")).toBeDefined();
    expect(cold.dependencies.cluster.pool("default")).toBeUndefined();
    expect(warm.hasBegun()).toBe(false);
    expect(world.writes.filter(({ by, kind }) => by === "warm" && kind !== "Lease")).toEqual([]);
    await world.during(cold.stop());
    await world.during(one.stop(), 10);
    expect(await world.leader()).toBe("warm");
    await world.client.create(karpenterTypes.KWOKNodeClass, kwokClass());
    await world.client.create(builtInTypes.Pod, pod("web"));
    await world.pass(60);
    expect((await world.client.list(karpenterTypes.NodeClaim)).items).toHaveLength(1);
    await world.during(warm.stop());
    await world.stop();
  });

  it("03 §6.5 without our kinds it goes on, and is ready once they are there", async () => {
    const world = await operatorWorld({ hasCrds: false });
    const one = world.start("one");
    await world.pass(30);
    expect(one.isReady()).toBe(false);
    expect(one.lines.filter(({ message }) => message.startsWith("not ready"))).toHaveLength(1);
    await installCrds(world.api, "all");
    await world.pass(60);
    expect(one.isReady()).toBe(true);
    expect(one.hasBegun()).toBe(true);
    await world.during(one.stop());
    await world.stop();
  });

  it("the same seed does the same", async () => {
    const told = async (): Promise<unknown> => {
      const world = await operatorWorld({ seed: "again" });
      const operator = world.start("one");
      await world.client.create(karpenterTypes.KWOKNodeClass, kwokClass());
      await world.client.create(karpenterTypes.NodePool, pool());
      for (const name of ["a", "b", "c"]) await world.client.create(builtInTypes.Pod, pod(name));
      await world.pass(60);
      await world.during(operator.stop());
      await world.stop();
      return world.writes;
    };
    expect(await told()).toEqual(await told());
  });
});
