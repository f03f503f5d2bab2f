import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { InterruptionQueue } from "../../../src/providers/sim/interruption-queue.ts";
import { StoredObjects, storages } from "../stored-objects.ts";
import { obligationsOf } from "./obligations.ts";

const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const now = Date.parse("2026-01-01T12:00:00Z");
const { nodePoolHash, nodePoolHashVersion } = annotations;

const ready = (type: string, status = "True") => ({ type, status, lastTransitionTime: "2026-01-01T11:00:00Z" });

function pool(spec: object = {}): KubeObject {
  const metadata = { name: "p", annotations: { [nodePoolHash]: "new", [nodePoolHashVersion]: "v3" } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata, spec, status: { conditions: [ready("Ready")] } };
}

function claim(name: string, { hash = "new", drifted = "False" } = {}): KubeObject {
  const own = { [nodePoolHash]: hash, [nodePoolHashVersion]: "v3" };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, labels: { [labels.nodePool]: "p" }, annotations: own },
    spec: { nodeClassRef },
    status: {
      providerID: `kwok://${name}`,
      conditions: [ready("Launched"), ready("Registered"), ready("Initialized"), ready("Drifted", drifted)],
    },
  };
}

function node(name: string, isReady: "True" | "False"): KubeObject {
  const metadata = { name, labels: { [labels.nodePool]: "p" } };
  const status = { conditions: [ready("Ready", isReady)] };
  return { apiVersion: "v1", kind: "Node", metadata, spec: { providerID: `kwok://${name}` }, status };
}

function owed(objects: readonly KubeObject[], interruptionQueue = new InterruptionQueue()): readonly string[] {
  const stored = new StoredObjects();
  const places: Readonly<Record<string, string>> = {
    NodePool: storages.pools,
    NodeClaim: storages.claims,
    Node: storages.nodes,
    Event: storages.events,
  };
  for (const object of objects)
    void stored.append({
      op: "put",
      storage: places[object.kind] ?? "",
      key: object.metadata.name ?? "",
      object,
    } as never);
  return obligationsOf({
    objects: stored,
    cloud: { records: () => [], recordOf: () => undefined, interruptionQueue },
    nodeClasses: [karpenterTypes.KWOKNodeClass],
    repairPolicies: [{ conditionType: "Ready", conditionStatus: "False", tolerationMs: 600_000 }],
    gates: { ...defaultGates, StaticCapacity: true, NodeRepair: true },
    now,
  }).map(({ what }) => what);
}

describe("05:CP-T4 what is owed to nodes that should go", () => {
  it("03:M-7 a claim of an old template is marked", () => {
    expect(owed([pool(), claim("a", { hash: "old" })])).toEqual(["NodeClaim a is of an old template, but not drifted"]);
    expect(owed([pool(), claim("a", { hash: "old", drifted: "True" }), claim("b")])).toEqual([]);
  });

  it("03:SP-3 03:SP-4 a static pool has as many nodes as it should", () => {
    expect(owed([pool({ replicas: 2 }), claim("a")])).toEqual(["static pool p has 1 of 2 nodes"]);
    expect(owed([pool({ replicas: 1 }), claim("a"), claim("b")])).toEqual(["static pool p has 2 of 1 nodes"]);
    expect(owed([pool({ replicas: 2, limits: { nodes: "1" } }), claim("a")])).toEqual([]);
  });

  it("03:SP-3 a static pool is short of nodes while the cloud has none", () => {
    const outOfStock = (agoMs: number) =>
      ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "e" },
        reason: "InsufficientCapacityError",
        involvedObject: { name: "p-x" },
        lastTimestamp: new Date(now - agoMs).toISOString(),
      }) as KubeObject;
    expect(owed([pool({ replicas: 2 }), claim("a"), outOfStock(60_000)])).toEqual([]);
    expect(owed([pool({ replicas: 2 }), claim("a"), outOfStock(80_000)])).toEqual(["static pool p has 1 of 2 nodes"]);
    expect(owed([pool({ replicas: 1 }), claim("a"), claim("b"), outOfStock(60_000)])).toHaveLength(1);
  });

  it("03:R-4 03:R-5 an unhealthy node goes, unless too many are", () => {
    const all = [pool(), ...["a", "b"].flatMap((name) => [claim(name), node(name, "False")])];
    expect(owed(all.slice(0, 3))).toEqual(["Node a is unhealthy for too long, but stays"]);
    expect(owed(all)).toEqual([]);
  });

  it("03:I-2 a message is handled", () => {
    const queue = new InterruptionQueue();
    queue.send({ kind: "spot_interrupted", providerId: "kwok://a", sentAt: now });
    expect(owed([], queue)).toEqual(["message-1 (spot_interrupted) about kwok://a is not handled"]);
  });
});
