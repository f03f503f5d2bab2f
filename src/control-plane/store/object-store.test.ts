import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import type { KubeObject } from "../../api/object.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { StoreChange } from "./change-log.ts";
import { ObjectStore } from "./object-store.ts";

const draft = (node: string): ObjectDraft => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {},
  spec: { nodeName: node },
});
const byNode = { name: "node", valueOf: ({ spec }: KubeObject) => (spec as { nodeName: string }).nodeName };

describe("ObjectStore (05 §3)", () => {
  it("counts one resourceVersion for all kinds and freezes what it stores", () => {
    const store = new ObjectStore();
    const pod = store.put("pods", "a/p", draft("n"));
    const node = store.put("nodes", "n", draft("n"));
    expect([pod, node].map(({ metadata }) => metadata.resourceVersion)).toEqual(["1", "2"]);
    expect(Object.isFrozen(pod.spec)).toBe(true);
    expect(store.remove("pods", "a/p")?.metadata.resourceVersion).toBe("3");
    expect(store.remove("pods", "a/p")).toBeUndefined();
    expect(store.revision).toBe(3);
  });

  it("reports changes with the previous object", () => {
    const store = new ObjectStore();
    const changes: StoreChange[] = [];
    const stop = store.subscribe("pods", (change) => changes.push(change));
    const first = store.put("pods", "p", draft("n"));
    const second = store.put("pods", "p", draft("m"));
    store.put("nodes", "n", draft(""));
    store.remove("pods", "p");
    stop();
    store.put("pods", "p", draft("n"));
    expect(changes.map(({ type, revision }) => `${type} ${revision}`)).toEqual(["ADDED 1", "MODIFIED 2", "DELETED 4"]);
    expect(changes.map(({ previous }) => previous)).toEqual([undefined, first, second]);
    expect(store.collection("pods").log.since(0)?.slice(0, 3)).toEqual(changes);
  });

  it("keeps order, ranges and the index as a sorted map would", () => {
    const key = fc
      .tuple(fc.constantFrom("a", "a-b", "b"), fc.constantFrom("x", "y", "z"))
      .map((parts) => parts.join("/"));
    const step = fc.record({ key, node: fc.constantFrom("", "n1", "n2"), op: fc.constantFrom("put", "put", "remove") });
    const property = fc.property(
      fc.array(step),
      fc.constantFrom("", "a/", "a-b/", "b/", "c/"),
      key,
      (steps, prefix, from) => {
        const store = new ObjectStore({ indexes: { pods: byNode } });
        const model = new Map<string, string>();
        for (const { key: at, node, op } of steps) {
          if (op === "put") {
            store.put("pods", at, draft(node));
            model.set(at, node);
          } else {
            store.remove("pods", at);
            model.delete(at);
          }
        }
        const pods = store.collection("pods");
        const sorted = [...model.keys()].sort();
        expect(pods.size).toBe(model.size);
        expect(pods.range({ prefix, from }).map(([at]) => at)).toEqual(
          sorted.filter((at) => at.startsWith(prefix) && at >= from),
        );
        for (const node of ["", "n1", "n2"]) {
          expect(pods.indexed("node", node)?.map(([at]) => at)).toEqual(sorted.filter((at) => model.get(at) === node));
        }
        expect(pods.range().every(([at, object]) => pods.get(at) === object)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: runs(10_000) });
  });

  it("keeps at least a window of changes, and knows which are no longer kept", () => {
    const store = new ObjectStore({ windowSize: 8 });
    for (let i = 0; i < 100; i++) store.put("pods", `p${i}`, draft(""));
    const { log } = store.collection("pods");
    expect(log.since(100)).toEqual([]);
    expect(log.since(92)?.map(({ revision }) => revision)).toEqual([93, 94, 95, 96, 97, 98, 99, 100]);
    expect(log.since(10)).toBeUndefined();
  });

  it("05:CP-S3 keeps changes of all kinds within a bound of bytes, the oldest go first", () => {
    const store = new ObjectStore({ historyMemory: 1_000_000 });
    const large = () => ({ ...draft(""), text: "x".repeat(9_000) });
    for (let i = 0; i < 1_000; i++) store.put(i % 2 === 0 ? "pods" : "nodes", `p${i % 10}`, large());
    for (const storage of ["pods", "nodes"]) {
      const { log } = store.collection(storage);
      expect(log.since(500)).toBeUndefined();
      const kept = log.since(950) ?? [];
      expect(kept.map(({ revision }) => revision)).toEqual(kept.map((_, i) => (kept[0]?.revision ?? 0) + i * 2));
      expect(kept.length).toBeGreaterThanOrEqual(24);
    }
  });

  it("05:CP-S3 forgets changes that are older than an hour, as a real server does earlier", async () => {
    const clock = new VirtualClock();
    const store = new ObjectStore({ clock });
    store.put("nodes", "rare", draft(""));
    for (let minute = 0; minute <= 180; minute++) {
      await clock.advance(60_000);
      store.put("pods", `p${minute}`, draft(""));
    }
    expect(store.collection("nodes").log.since(0)).toBeUndefined();
    expect(store.collection("nodes").log.since(1)).toEqual([]); // whoever has seen the last one has missed nothing
    expect(store.collection("pods").log.since(store.revision - 61)).toBeUndefined();
    expect(store.collection("pods").log.since(store.revision - 30)).toHaveLength(30);
  });

  it("05:CP-S3 one change larger than the bound is kept until the next", () => {
    const store = new ObjectStore({ historyMemory: 1_000 });
    for (let i = 0; i < 3; i++) store.put("pods", "p", { ...draft(""), text: "x".repeat(9_000) });
    expect(
      store
        .collection("pods")
        .log.since(2)
        ?.map(({ revision }) => revision),
    ).toEqual([3]);
    expect(store.collection("pods").log.since(1)).toBeUndefined();
  });
});
