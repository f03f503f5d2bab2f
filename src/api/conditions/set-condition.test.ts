import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { capacityBufferConditions } from "./capacity-buffer.ts";
import type { Condition, Conditioned, ConditionSet } from "./condition.ts";
import { ec2NodeClassConditions } from "./ec2-node-class.ts";
import { kwokDefaultCondition, kwokNodeClassConditions } from "./kwok-node-class.ts";
import { nodeClaimConditions } from "./node-claim.ts";
import { nodeOverlayConditions } from "./node-overlay.ts";
import { nodePoolConditions } from "./node-pool.ts";
import {
  clearCondition,
  getCondition,
  initializeConditions,
  isStatusConditionTrue,
  refreshCondition,
  setCondition,
  setConditionTrue,
  withConditions,
} from "./set-condition.ts";

const set = nodePoolConditions;
const created = "2026-01-01T00:00:00Z";
const startMs = Date.parse(created);
const at = (seconds: number) => startMs + seconds * 1000;
const stamp = (seconds: number) => new Date(at(seconds)).toISOString().replace(".000Z", "Z");

function pool(metadata: Partial<Conditioned["metadata"]> = {}, conditions: readonly Condition[] = []): Conditioned {
  return { metadata: { generation: 1, creationTimestamp: created, ...metadata }, status: { conditions } };
}

/** One write after another, as a controller would do them. */
function applied(object: Conditioned, ...writes: ((object: Conditioned) => readonly Condition[])[]): Conditioned {
  return writes.reduce((current, write) => withConditions(current, write(current)), object);
}

const valid = (nowMs: number) => (object: Conditioned) =>
  setConditionTrue(object, { set, type: "ValidationSucceeded", nowMs });
const classReady = (nowMs: number) => (object: Conditioned) =>
  setConditionTrue(object, { set, type: "NodeClassReady", nowMs });

describe("condition engine", () => {
  it("01 §2.1 first touch makes root and dependents Unknown since the object's creation", () => {
    const conditions = initializeConditions(pool(), { set, nowMs: at(60) });
    expect(conditions.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime])).toEqual([
      ["ValidationSucceeded", "Unknown", created],
      ["NodeClassReady", "Unknown", created],
      ["Ready", "Unknown", created],
    ]);
    expect(conditions[0]?.reason).toBe("AwaitingReconciliation");
    expect(conditions[2]).toMatchObject({
      reason: "ReconcilingDependents",
      message: "ValidationSucceeded=Unknown, NodeClassReady=Unknown",
    });
  });

  it("01 §2.1 an object without creation time is new now", () => {
    const conditions = initializeConditions({ metadata: {} }, { set, nowMs: at(5) });
    expect(conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([stamp(5), stamp(5), stamp(5)]);
    expect(conditions[0]?.observedGeneration).toBe(0);
  });

  it("01 §2.1 initialising again changes nothing and hands back the same list", () => {
    const object = withConditions(pool(), initializeConditions(pool(), { set, nowMs: at(0) }));
    expect(initializeConditions(object, { set, nowMs: at(99) })).toBe(object.status?.conditions);
  });

  it("01 §2.1 a kind without dependents waits with its root alone", () => {
    const [root, ...rest] = initializeConditions(pool(), { set: kwokNodeClassConditions, nowMs: at(0) });
    expect(rest).toEqual([]);
    expect(root).toMatchObject({ type: "Ready", status: "Unknown", reason: "AwaitingReconciliation" });
  });

  it("01 §2.1 True without a reason takes the type as reason and an empty message", () => {
    const object = applied(pool(), valid(at(10)));
    expect(getCondition(object, "ValidationSucceeded")).toEqual({
      type: "ValidationSucceeded",
      status: "True",
      reason: "ValidationSucceeded",
      message: "",
      lastTransitionTime: stamp(10),
      observedGeneration: 1,
    });
  });

  it("01 §2.1 the transition time moves only when the status does; the generation always", () => {
    const first = applied(pool(), (object) =>
      setCondition(object, { set, type: "NodeClassReady", status: "False", reason: "A", message: "a", nowMs: at(1) }),
    );
    const second = applied({ ...first, metadata: { ...first.metadata, generation: 2 } }, (object) =>
      setCondition(object, { set, type: "NodeClassReady", status: "False", reason: "B", message: "b", nowMs: at(9) }),
    );
    expect(getCondition(second, "NodeClassReady")).toMatchObject({
      reason: "B",
      message: "b",
      lastTransitionTime: stamp(1),
      observedGeneration: 2,
    });
    const third = applied(second, classReady(at(20)));
    expect(getCondition(third, "NodeClassReady")?.lastTransitionTime).toBe(stamp(20));
  });

  it("01 §2.1 writing what is already there hands back the same list", () => {
    const object = applied(pool(), valid(at(1)), classReady(at(2)));
    expect(valid(at(50))(object)).toBe(object.status?.conditions);
    expect(withConditions(object, valid(at(50))(object))).toBe(object);
  });

  it("01 §2.1 transition times have whole seconds", () => {
    const object = applied(pool(), valid(at(1) + 999));
    expect(getCondition(object, "ValidationSucceeded")?.lastTransitionTime).toBe(stamp(1));
  });

  it("01 §2.1 Ready is True once all dependents are", () => {
    const object = applied(pool(), valid(at(1)), classReady(at(2)));
    expect(getCondition(object, "Ready")).toEqual({
      type: "Ready",
      status: "True",
      reason: "Ready",
      message: "",
      lastTransitionTime: stamp(2),
      observedGeneration: 1,
    });
    expect(isStatusConditionTrue(object, "Ready", "ValidationSucceeded")).toBe(true);
    expect(isStatusConditionTrue(object, "Ready", "NodeRegistrationHealthy")).toBe(false);
  });

  it("01 §2.1 one False dependent makes Ready False, offenders listed latest first", () => {
    const object = applied(
      pool(),
      (one) =>
        setCondition(one, {
          set,
          type: "ValidationSucceeded",
          status: "False",
          reason: "Bad",
          message: "no",
          nowMs: at(3),
        }),
      (one) =>
        setCondition(one, { set, type: "NodeClassReady", status: "Unknown", reason: "Why", message: "", nowMs: at(3) }),
    );
    expect(getCondition(object, "Ready")).toMatchObject({
      status: "False",
      reason: "UnhealthyDependents",
      message: "ValidationSucceeded=False, NodeClassReady=Unknown",
    });
    const later = applied(object, (one) =>
      setCondition(one, { set, type: "NodeClassReady", status: "False", reason: "Bad", message: "", nowMs: at(8) }),
    );
    expect(getCondition(later, "Ready")?.message).toBe("NodeClassReady=False, ValidationSucceeded=False");
  });

  it("01 §9.12 a True dependent of an older generation makes Ready Unknown, not False", () => {
    const ready = applied(pool(), valid(at(1)), classReady(at(2)));
    const edited = { ...ready, metadata: { ...ready.metadata, generation: 2 } };
    expect(getCondition(applied(edited, valid(at(3))), "Ready")).toMatchObject({
      status: "Unknown",
      reason: "ReconcilingDependents",
      message: "NodeClassReady=True",
      observedGeneration: 2,
    });
    expect(isStatusConditionTrue(applied(edited, valid(at(3)), classReady(at(4))), "Ready")).toBe(true);
  });

  it("01 §2.1 a stale False does not make Ready False either", () => {
    const bad = applied(pool(), (one) =>
      setCondition(one, { set, type: "NodeClassReady", status: "False", reason: "Bad", message: "", nowMs: at(1) }),
    );
    const edited = applied({ ...bad, metadata: { ...bad.metadata, generation: 2 } }, valid(at(2)));
    expect(getCondition(edited, "Ready")).toMatchObject({ status: "Unknown", message: "NodeClassReady=False" });
  });

  it("01 §2.1 while the object is deleted every write lifts the other generations", () => {
    const ready = applied(pool(), valid(at(1)), classReady(at(2)));
    const deleting = { ...ready, metadata: { ...ready.metadata, generation: 2, deletionTimestamp: stamp(3) } };
    const written = applied(deleting, valid(at(4)));
    expect(written.status?.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2]);
    expect(isStatusConditionTrue(written, "Ready")).toBe(true);
  });

  it("01 §2.1 stored by transition time, root last", () => {
    const object = applied(pool(), classReady(at(5)), valid(at(9)), (one) =>
      setConditionTrue(one, { set, type: "NodeRegistrationHealthy", nowMs: at(7) }),
    );
    expect(object.status?.conditions?.map(({ type }) => type)).toEqual([
      "NodeClassReady",
      "NodeRegistrationHealthy",
      "ValidationSucceeded",
      "Ready",
    ]);
  });

  it("01 §2.1 an independent condition appears now, says nothing about Ready, and can be cleared", () => {
    const ready = applied(pool(), valid(at(1)), classReady(at(2)));
    const type = "NodeRegistrationHealthy";
    const unhealthy = applied(ready, (one) =>
      setCondition(one, { set, type, status: "False", reason: "RegistrationFailed", message: "", nowMs: at(9) }),
    );
    expect(getCondition(unhealthy, type)?.lastTransitionTime).toBe(stamp(9));
    expect(isStatusConditionTrue(unhealthy, "Ready")).toBe(true);
    expect(clearCondition(unhealthy, { conditionSet: set, type })).toEqual(ready.status?.conditions);
    expect(clearCondition(ready, { conditionSet: set, type })).toBe(ready.status?.conditions);
  });

  it("01 §2.1 root and dependents cannot be cleared", () => {
    const loose: ConditionSet = set;
    expect(() => clearCondition(pool(), { conditionSet: loose, type: "NodeClassReady" })).toThrow("NodeClassReady");
    expect(() => clearCondition(pool(), { conditionSet: loose, type: "Ready" })).toThrow("Ready");
  });

  it("01 §2.3 refreshing re-stamps the generation and nothing else", () => {
    const ready = applied(pool(), valid(at(1)), classReady(at(2)));
    const edited = { ...ready, metadata: { ...ready.metadata, generation: 3 } };
    const refreshed = applied(edited, (one) => refreshCondition(one, { set, type: "NodeClassReady", nowMs: at(50) }));
    expect(getCondition(refreshed, "NodeClassReady")).toEqual({
      ...getCondition(ready, "NodeClassReady"),
      observedGeneration: 3,
    });
    expect(refreshCondition(edited, { set, type: "NodeRegistrationHealthy", nowMs: at(50) })).toBe(
      edited.status?.conditions,
    );
  });

  it("01 §0.4 old claims without reason and message are read as empty", () => {
    const old: Condition = { type: "Drifted", status: "True", lastTransitionTime: created, observedGeneration: 1 };
    const claim = withConditions(
      pool(),
      initializeConditions(pool({}, [old]), { set: nodeClaimConditions, nowMs: at(0) }),
    );
    const again = setCondition(claim, {
      set: nodeClaimConditions,
      type: "Drifted",
      status: "True",
      reason: "",
      message: "",
      nowMs: at(9),
    });
    expect(again).toBe(claim.status?.conditions);
  });

  it("01 §2.4 a CapacityBuffer has no root", () => {
    const conditions = setConditionTrue(pool(), {
      set: capacityBufferConditions,
      type: "ReadyForProvisioning",
      reason: "Resolved",
      nowMs: at(1),
    });
    expect(conditions).toEqual([
      {
        type: "ReadyForProvisioning",
        status: "True",
        reason: "Resolved",
        message: "",
        lastTransitionTime: stamp(1),
        observedGeneration: 1,
      },
    ]);
  });

  it("01 §1.7 a KWOKNodeClass is ready as the schema made it", () => {
    const object = pool({}, [kwokDefaultCondition]);
    expect(isStatusConditionTrue(object, "Ready")).toBe(true);
    expect(initializeConditions(object, { set: kwokNodeClassConditions, nowMs: at(0) })).toBe(
      object.status?.conditions,
    );
  });
});

describe("every kind's conditions", () => {
  const sets: Readonly<Record<string, ConditionSet>> = {
    NodePool: nodePoolConditions,
    NodeClaim: nodeClaimConditions,
    NodeOverlay: nodeOverlayConditions,
    EC2NodeClass: ec2NodeClassConditions({ reservedCapacity: true }),
    "EC2NodeClass without reservations": ec2NodeClassConditions({ reservedCapacity: false }),
  };
  const dependents = Object.entries(sets).flatMap(([kind, one]) =>
    one.dependents.map((type) => [kind, type, one] as const),
  );
  const independents = Object.entries({ ...sets, CapacityBuffer: capacityBufferConditions }).flatMap(([kind, one]) =>
    (one as ConditionSet).independents.map((type) => [kind, type, one as ConditionSet] as const),
  );

  it.each(dependents)("01 §2 %s is Ready only with %s", (_kind, type, one) => {
    const ready = one.dependents.reduce(
      (object, each) => applied(object, (now) => setConditionTrue(now, { set: one, type: each, nowMs: at(1) })),
      pool(),
    );
    expect(isStatusConditionTrue(ready, "Ready")).toBe(true);
    const unknown = applied(ready, (now) =>
      setCondition(now, { set: one, type, status: "Unknown", reason: "Why", message: "", nowMs: at(2) }),
    );
    expect(getCondition(unknown, "Ready")).toMatchObject({ status: "Unknown", message: `${type}=Unknown` });
    const failed = applied(ready, (now) =>
      setCondition(now, { set: one, type, status: "False", reason: "No", message: "", nowMs: at(2) }),
    );
    expect(getCondition(failed, "Ready")).toMatchObject({ status: "False", message: `${type}=False` });
  });

  it.each(independents)("01 §2 %s carries %s beside Ready", (_kind, type, one) => {
    const before = initializeConditions(pool(), { set: one, nowMs: at(0) });
    const object = applied(pool(), (now) =>
      setCondition(now, { set: one, type, status: "False", reason: "No", message: "", nowMs: at(2) }),
    );
    expect(getCondition(object, "Ready")).toEqual(before.find((condition) => condition.type === "Ready"));
    expect(clearCondition(object, { conditionSet: one, type })).toEqual(before);
  });

  it("01 §2.4 reservations are a dependent of an EC2NodeClass only with their gate", () => {
    expect(ec2NodeClassConditions({ reservedCapacity: true }).dependents).toContain("CapacityReservationsReady");
    expect(ec2NodeClassConditions({ reservedCapacity: false }).dependents).not.toContain("CapacityReservationsReady");
  });

  it("01 §2.1 whatever is written, Ready says what its dependents say", () => {
    const statuses = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
    const writes = fc.array(
      fc.record({ type: fc.constantFrom(...nodeClaimConditions.dependents), status: statuses, isEdited: fc.boolean() }),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(writes, (list) => {
        let object = pool();
        let generation = 1;
        list.forEach(({ type, status, isEdited }, index) => {
          generation += Number(isEdited);
          object = { ...object, metadata: { ...object.metadata, generation } };
          object = applied(object, (now) =>
            setCondition(now, { set: nodeClaimConditions, type, status, reason: "R", message: "", nowMs: at(index) }),
          );
        });
        const judged = nodeClaimConditions.dependents.map((type) => getCondition(object, type));
        const isStale = (one: Condition | undefined) => one?.observedGeneration !== generation;
        const expected = judged.every((one) => one?.status === "True" && !isStale(one))
          ? "True"
          : judged.some((one) => one?.status === "False" && !isStale(one))
            ? "False"
            : "Unknown";
        const last = object.status?.conditions?.at(-1);
        if (list.length > 0) expect(last).toMatchObject({ type: "Ready", status: expected });
      }),
      { numRuns: runs(5_000) },
    );
  });
});
