import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { planStatefulSet, type StatefulSetMember, type StatefulSetTarget } from "./stateful-set-plan.ts";

const target: StatefulSetTarget = {
  replicas: 3,
  start: 0,
  isOrdered: true,
  isRolling: true,
  partition: 0,
  updateRevision: "new",
};

function member(ordinal: number, more: Partial<StatefulSetMember> = {}): StatefulSetMember {
  return { ordinal, isTerminating: false, isFinished: false, isAvailable: true, revision: "new", ...more };
}

function plan(change: Partial<StatefulSetTarget>, members: readonly StatefulSetMember[]) {
  const { create, remove } = planStatefulSet({ ...target, ...change }, members);
  return { create, remove: remove.map(({ ordinal }) => ordinal) };
}

const old = { revision: "old" };

describe("what to do to a stateful set", () => {
  it.each([
    ["begins with the first", {}, [], { create: [0], remove: [] }],
    ["waits for the one before", {}, [member(0, { isAvailable: false })], { create: [], remove: [] }],
    ["fills a gap before anything else", {}, [member(0), member(2, old)], { create: [1], remove: [] }],
    [
      "makes a finished pod again",
      {},
      [member(0), member(1, { isFinished: true, isAvailable: false })],
      { create: [], remove: [1] },
    ],
    ["waits for a pod that goes", {}, [member(0), member(1, { isTerminating: true })], { create: [], remove: [] }],
    ["shrinks from the highest", { replicas: 1 }, [member(0), member(1), member(2)], { create: [], remove: [2] }],
    [
      "shrinks past the one that is broken",
      { replicas: 1 },
      [member(0), member(1), member(2, { isAvailable: false })],
      { create: [], remove: [2] },
    ],
    [
      "does not shrink beside a broken one",
      { replicas: 1 },
      [member(0, { isAvailable: false }), member(1)],
      { create: [], remove: [] },
    ],
    [
      "replaces the highest that is outdated",
      {},
      [member(0, old), member(1, old), member(2)],
      { create: [], remove: [1] },
    ],
    [
      "waits for the replaced one",
      {},
      [member(0, old), member(1, old), member(2, { isAvailable: false })],
      { create: [], remove: [] },
    ],
    [
      "stops at the partition",
      { partition: 2 },
      [member(0, old), member(1, old), member(2)],
      { create: [], remove: [] },
    ],
    [
      "leaves outdated ones to others",
      { isRolling: false },
      [member(0, old), member(1, old), member(2, old)],
      { create: [], remove: [] },
    ],
    [
      "in parallel makes all",
      { isOrdered: false },
      [member(1, { isAvailable: false })],
      { create: [0, 2], remove: [] },
    ],
    [
      "in parallel shrinks at once",
      { isOrdered: false, replicas: 0 },
      [member(0), member(1)],
      { create: [], remove: [1, 0] },
    ],
    [
      "starts at the first ordinal",
      { start: 5, replicas: 2 },
      [member(0), member(5), member(6)],
      { create: [], remove: [0] },
    ],
  ] as const)("05:CP-L3 %s", (_, change, members, expected) => {
    expect(plan(change, members)).toEqual(expected);
  });

  it("05:CP-L3 in order it does one thing at a time, and what it does is always one of its own", () => {
    const anyMember = fc.record({
      isTerminating: fc.boolean(),
      isFinished: fc.boolean(),
      isAvailable: fc.boolean(),
      revision: fc.constantFrom("new", "old"),
    });
    fc.assert(
      fc.property(
        fc.array(fc.option(anyMember), { maxLength: 6 }),
        fc.record({
          replicas: fc.nat({ max: 6 }),
          isOrdered: fc.boolean(),
          isRolling: fc.boolean(),
          partition: fc.nat({ max: 3 }),
        }),
        (seats, change) => {
          const members = seats.flatMap((one, ordinal) => (one === null ? [] : [{ ordinal, ...one }]));
          const { create, remove } = planStatefulSet({ ...target, ...change }, members);
          if (change.isOrdered) expect(create.length + remove.length).toBeLessThanOrEqual(1);
          for (const ordinal of create) {
            expect(ordinal).toBeLessThan(change.replicas);
            expect(members.some((one) => one.ordinal === ordinal)).toBe(false);
          }
          expect(new Set(remove).size).toBe(remove.length);
          expect(remove.filter(({ isTerminating }) => isTerminating)).toEqual([]);
        },
      ),
      { numRuns: runs(10_000) },
    );
  });
});
