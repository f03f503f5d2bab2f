import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import {
  maxSurge,
  maxUnavailable,
  newReplicaSetSize,
  oldReplicaSetSizes,
  proportionalSizes,
  type ReplicaSetSize,
  type RolloutSpec,
} from "./rollout-sizes.ts";

function set(name: string, replicas: number, available = replicas): ReplicaSetSize {
  return { name, replicas, available, createdAt: Number(name.replace(/\D/g, "")) || 0 };
}

function rolling(replicas: number, surge: number | string, unavailable: number | string): RolloutSpec {
  return { replicas, strategy: "RollingUpdate", rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } };
}

const count = fc.oneof(
  fc.nat({ max: 6 }),
  fc.nat({ max: 100 }).map((percent) => `${percent}%`),
);
const anySpec = fc.record({ replicas: fc.nat({ max: 30 }), surge: count, unavailable: count });
const anySets = fc.array(fc.record({ replicas: fc.nat({ max: 12 }), missing: fc.nat({ max: 12 }) }), { maxLength: 4 });

describe("rolling out", () => {
  it.each([
    ["grows by the surge", rolling(10, 3, 2), set("new", 0), [set("old", 10)], 3],
    ["takes the room the old ones left", rolling(10, 3, 2), set("new", 3, 0), [set("old", 8)], 5],
    ["stops at what is wanted", rolling(10, 3, 2), set("new", 9), [], 10],
    ["has no room", rolling(10, 0, 2), set("new", 0), [set("old", 10)], 0],
    ["shrinks at once", rolling(4, 3, 2), set("new", 9), [], 4],
  ] as const)("05:CP-L1 the new set %s", (_, spec, newReplicaSet, old, expected) => {
    expect(newReplicaSetSize(spec, newReplicaSet, old)).toBe(expected);
  });

  it("05:CP-L1 recreate gives the new set all at once", () => {
    expect(newReplicaSetSize({ replicas: 5, strategy: "Recreate" }, set("new", 0), [])).toBe(5);
  });

  it.each([
    ["as many as may be missing", rolling(10, 0, 2), set("new", 0), [set("old1", 10)], { old1: 8 }],
    ["nothing while the new ones are not available", rolling(10, 3, 0), set("new", 3, 0), [set("old1", 10)], {}],
    [
      "those that are broken first, whatever their set",
      rolling(10, 3, 0),
      set("new", 3, 0),
      [set("old1", 5, 5), set("old2", 5, 3)],
      {},
    ],
    ["broken ones beyond need", rolling(10, 0, 3), set("new", 0), [set("old1", 6), set("old2", 4, 1)], { old2: 1 }],
    ["the oldest set first", rolling(10, 0, 4), set("new", 0), [set("old2", 5), set("old1", 5)], { old1: 1 }],
  ] as const)("05:CP-L1 retires %s", (_, spec, newReplicaSet, old, expected) => {
    expect(Object.fromEntries(oldReplicaSetSizes(spec, newReplicaSet, old))).toEqual(expected);
  });

  it("05:CP-L1 keeps its limits in every step and ends with the new set alone", () => {
    fc.assert(
      fc.property(
        anySpec,
        anySets,
        fc.infiniteStream(fc.nat({ max: 5 })),
        ({ replicas, surge, unavailable }, sets, draws) => {
          const spec = rolling(replicas, surge, unavailable);
          const limit = replicas + maxSurge(spec);
          let old = sets.map(({ replicas: size }, at) => set(`old${at}`, size));
          // A start within the limits: what Kubernetes would have left there.
          while (old.reduce((sum, one) => sum + one.replicas, 0) > replicas) old = old.slice(1);
          let newReplicaSet = set("new", 0);
          for (let step = 0; step < 1_000; step++) {
            const before = { fresh: newReplicaSet.available, old: old.reduce((sum, one) => sum + one.available, 0) };
            const wanted = newReplicaSetSize(spec, newReplicaSet, old);
            if (wanted !== newReplicaSet.replicas)
              newReplicaSet = {
                ...newReplicaSet,
                replicas: wanted,
                available: Math.min(newReplicaSet.available, wanted),
              };
            else {
              const sizes = oldReplicaSetSizes(spec, newReplicaSet, old);
              old = old.map((one) => {
                const size = sizes.get(one.name) ?? one.replicas;
                return { ...one, replicas: size, available: Math.min(one.available, size) };
              });
            }
            const total = newReplicaSet.replicas + old.reduce((sum, one) => sum + one.replicas, 0);
            expect(total).toBeLessThanOrEqual(Math.max(limit, replicas));
            const available = newReplicaSet.available + old.reduce((sum, one) => sum + one.available, 0);
            const least = Math.min(before.fresh + before.old, replicas - maxUnavailable(spec));
            expect(available).toBeGreaterThanOrEqual(least);
            const [draw = 0] = [...draws.take(1)];
            const healed = Math.min(newReplicaSet.replicas, newReplicaSet.available + draw);
            const isStill = healed === newReplicaSet.available && newReplicaSet.available === newReplicaSet.replicas;
            newReplicaSet = { ...newReplicaSet, available: healed };
            if (isStill && newReplicaSet.replicas === replicas && old.every((one) => one.replicas === 0)) return;
          }
          expect.fail("the rollout did not end");
        },
      ),
      { numRuns: runs(5_000) },
    );
  });

  it("05:CP-L1 scaling in the middle: every set its share, the whole exactly what is allowed", () => {
    fc.assert(
      fc.property(anySpec, anySets, fc.nat({ max: 30 }), ({ replicas, surge, unavailable }, sets, before) => {
        const spec = rolling(replicas, surge, unavailable);
        const active = sets
          .map(({ replicas: size }, at) => ({ ...set(`set${at}`, size + 1), maxReplicas: before + 1 }))
          .slice(0, 3);
        const sizes = proportionalSizes(spec, active);
        const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
        for (const size of sizes.values()) expect(size).toBeGreaterThanOrEqual(0);
        if (active.length === 0) return;
        const allowed = replicas === 0 ? 0 : replicas + maxSurge(spec);
        expect(total).toBeGreaterThanOrEqual(allowed);
        const isCut = [...sizes.values()].includes(0); // no set has fewer than none
        if (!isCut) expect(total).toBe(allowed);
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("05:CP-L1 scaling during a rollout, as in the Kubernetes documentation", () => {
    const sets = [
      { ...set("old1", 8), maxReplicas: 13 },
      { ...set("new2", 5), maxReplicas: 13 },
    ];
    expect(Object.fromEntries(proportionalSizes(rolling(15, 3, 2), sets))).toEqual({ old1: 11, new2: 7 });
    expect(Object.fromEntries(proportionalSizes(rolling(5, 3, 2), sets))).toEqual({ old1: 5, new2: 3 });
  });
});
