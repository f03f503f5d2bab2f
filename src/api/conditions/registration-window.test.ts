import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import type { Condition, ConditionStatus } from "./condition.ts";
import {
  afterRegistration,
  afterRegistrationFailure,
  isOwnedByPool,
  isRegistrationHealthStale,
  type PoolWithHealthStatus,
  registrationHealthStatus,
  windowFromCondition,
  withRegistrationResult,
} from "./registration-window.ts";

const time = "2026-01-01T00:00:00Z";
const healthy = (status: ConditionStatus): Condition => ({
  type: "NodeRegistrationHealthy",
  status,
  lastTransitionTime: time,
  observedGeneration: 3,
});
const launched = {
  metadata: {},
  status: { conditions: [{ type: "Launched", status: "True", lastTransitionTime: time } as const] },
};
const unlaunched = {
  metadata: {},
  status: {
    conditions: [
      {
        type: "Launched",
        status: "Unknown",
        reason: "Unauthorized",
        message: "denied",
        lastTransitionTime: time,
      } as const,
    ],
  },
};

describe("registration window", () => {
  it.each([
    [[], "unknown"],
    [[true], "healthy"],
    [[false], "healthy"],
    [[false, false], "unhealthy"],
    [[true, false, true, false], "unhealthy"],
    [[true, true, true, false], "healthy"],
  ] as const)("01 §2.2 %j is %s", (window, health) => {
    expect(registrationHealthStatus(window)).toBe(health);
  });

  it("01 §2.2 keeps the last four results", () => {
    expect([false, false, true, true, true].reduce(withRegistrationResult, [] as readonly boolean[])).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it("01 §2.2 is unhealthy exactly when two of the last four failed", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), (results) => {
        const window = results.reduce(withRegistrationResult, [] as readonly boolean[]);
        const failures = results.slice(-4).filter((one) => !one).length;
        expect(registrationHealthStatus(window)).toBe(failures / 4 >= 0.5 ? "unhealthy" : "healthy");
      }),
      { numRuns: runs(2_000) },
    );
  });

  it.each([
    ["True", [true]],
    ["False", [false, false]],
    ["Unknown", []],
  ] as const)("01 §2.2 after a restart a stored %s stands for %j", (status, window) => {
    expect(windowFromCondition(healthy(status))).toEqual(window);
  });

  it("01 §2.2 without a stored condition a restart leaves the window empty", () => {
    expect(windowFromCondition(undefined)).toEqual([]);
  });

  it("01 §2.2 a registration makes the pool healthy unless the window still is not", () => {
    expect(afterRegistration([])).toEqual({
      window: [true],
      finding: { status: "True", reason: "NodeRegistrationHealthy", message: "" },
    });
    expect(afterRegistration([false, false])).toEqual({ window: [false, false, true], finding: undefined });
  });

  it("01 §2.2 a failure speaks only once the window is unhealthy", () => {
    expect(afterRegistrationFailure([], launched)).toEqual({ window: [false], finding: undefined });
    expect(afterRegistrationFailure([false], launched).finding).toMatchObject({
      status: "False",
      reason: "RegistrationFailed",
    });
    expect(afterRegistrationFailure([false], unlaunched).finding).toEqual({
      status: "False",
      reason: "Unauthorized",
      message: "denied",
    });
  });

  const pool: PoolWithHealthStatus = {
    metadata: { generation: 3 },
    status: { conditions: [healthy("True")], nodeClassObservedGeneration: 7 },
  };
  it.each([
    ["nothing changed", pool, 7, false],
    ["it was never evaluated", { ...pool, status: { nodeClassObservedGeneration: 7 } }, 7, true],
    ["the pool changed", { ...pool, metadata: { generation: 4 } }, 7, true],
    ["the node class changed", pool, 8, true],
  ] as const)("01 §2.2 when %s", (_what, one, generation, isStale) => {
    expect(isRegistrationHealthStale(one, { metadata: { generation } })).toBe(isStale);
  });

  it("01 §2.2 a claim counts only for the pool that owns it", () => {
    const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "a", uid: "1" };
    const claim = { metadata: { ownerReferences: [owner] } };
    expect(isOwnedByPool({ metadata: { uid: "1" } }, claim)).toBe(true);
    expect(isOwnedByPool({ metadata: { uid: "2" } }, claim)).toBe(false);
    expect(isOwnedByPool({ metadata: {} }, claim)).toBe(false);
    expect(isOwnedByPool({ metadata: { uid: "1" } }, { metadata: {} })).toBe(false);
  });
});
