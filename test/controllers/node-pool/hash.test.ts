import { describe, expect, it } from "vitest";
import { nodePoolHashVersion } from "../../../src/api/hash/hash-drift.ts";
import { nodePoolHash } from "../../../src/api/hash/node-pool-hash.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import { annotations } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { poolHashController } from "../../../src/controllers/node-pool/hash.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { claim, foreignClass, kwokClass, pool } from "../pool-objects.ts";

const oldStamp = { [annotations.nodePoolHash]: "123", [annotations.nodePoolHashVersion]: "ts-v1" };

function hashing(): Promise<ControllerWorld> {
  return controllerWorld({ controllers: (dependencies) => [poolHashController(dependencies)] });
}

async function stampOf(world: ControllerWorld, name: string, type = karpenterTypes.NodePool) {
  const found = (await world.get(type, name))?.metadata.annotations ?? {};
  return { hash: found[annotations.nodePoolHash], version: found[annotations.nodePoolHashVersion] };
}

async function patchSpec(world: ControllerWorld, spec: object): Promise<void> {
  await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body: { spec } });
  await world.clock.advance(0);
}

describe("nodepool.hash", () => {
  it("03:P-2 leaves pools of a foreign node class alone", async () => {
    const world = await hashing();
    await world.create(pool("foreign", { template: { nodeClassRef: foreignClass } }));
    expect(await stampOf(world, "foreign")).toEqual({ hash: undefined, version: undefined });
    await world.stop();
  });

  it("03:P-2 stamps a pool, anew when its template changes and not when its behaviour does", async () => {
    const world = await hashing();
    const made = await world.create<NodePool>(kwokClass(), pool());
    const first = await stampOf(world, "default");
    expect(first).toEqual({ hash: nodePoolHash(made.spec.template), version: nodePoolHashVersion });

    await patchSpec(world, { weight: 7, limits: { cpu: "100" }, disruption: { consolidateAfter: "1h" } });
    expect(await stampOf(world, "default")).toEqual(first);

    await patchSpec(world, { template: { metadata: { labels: { team: "a" } } } });
    const second = await stampOf(world, "default");
    expect(second.hash).not.toBe(first.hash);
    await world.stop();
  });

  it("03:P-2 a stamp of another version is replaced, on the pool and on all its claims", async () => {
    const world = await hashing();
    await world.create(
      claim("a", { annotations: oldStamp }),
      claim("b", { annotations: oldStamp }),
      claim("unstamped"),
      claim("elsewhere", { pool: "other", annotations: oldStamp }),
      claim("foreign", { annotations: oldStamp, nodeClassRef: foreignClass }),
      pool("default", { metadata: { annotations: oldStamp } }),
    );
    const now = await stampOf(world, "default");
    expect(now.version).toBe(nodePoolHashVersion);
    expect(now.hash).not.toBe("123");
    for (const name of ["a", "b", "unstamped"])
      expect(await stampOf(world, name, karpenterTypes.NodeClaim)).toEqual(now);
    for (const name of ["elsewhere", "foreign"]) {
      expect(await stampOf(world, name, karpenterTypes.NodeClaim)).toEqual({ hash: "123", version: "ts-v1" });
    }
    await world.stop();
  });

  it("03:P-2 claims of our version keep their hash, so that drift stays visible", async () => {
    const world = await hashing();
    const ours = { ...oldStamp, [annotations.nodePoolHashVersion]: nodePoolHashVersion };
    await world.create(claim("a", { annotations: ours }), pool("default", { metadata: { annotations: oldStamp } }));
    expect(await stampOf(world, "a", karpenterTypes.NodeClaim)).toEqual({ hash: "123", version: nodePoolHashVersion });
    await world.stop();
  });

  it("03:P-2 a drifted claim gets the version alone, and so stays drifted", async () => {
    const world = await hashing();
    const drifted = await world.create<KubeObject>(claim("a", { annotations: oldStamp }));
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const condition = { type: "Drifted", status: "True", reason: "NodePoolDrifted", message: "", lastTransitionTime };
    await world.status(drifted, { conditions: [condition] });
    await world.create(pool("default", { metadata: { annotations: oldStamp } }));
    expect(await stampOf(world, "a", karpenterTypes.NodeClaim)).toEqual({ hash: "123", version: nodePoolHashVersion });
    expect((await stampOf(world, "default")).hash).not.toBe("123");
    await world.stop();
  });
});
