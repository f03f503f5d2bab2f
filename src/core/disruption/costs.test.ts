import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import { deletionCost, lifetimeRemaining, totalEvictionCost } from "./costs.ts";

interface Draft {
  readonly cost?: string;
  readonly priority?: number;
  readonly owner?: string;
  readonly phase?: string;
}

function pod({ cost, priority, owner, phase = "Running" }: Draft = {}): Pod {
  return {
    metadata: {
      name: "p",
      ...(cost !== undefined && { annotations: { [annotations.podDeletionCost]: cost } }),
      ...(owner !== undefined && {
        ownerReferences: [{ apiVersion: "apps/v1", kind: owner, name: "o", uid: "o" }],
      }),
    },
    spec: { ...(priority !== undefined && { priority }) },
    status: { phase },
  };
}

describe("eviction cost", () => {
  it.each([
    ["a plain pod", pod(), 1],
    ["a deletion cost of 2^27", pod({ cost: String(2 ** 27) }), 2],
    ["the least deletion cost", pod({ cost: "-2147483647" }), -10],
    ["the greatest deletion cost", pod({ cost: "2147483647" }), 10],
    ["a priority of 2^25", pod({ priority: 2 ** 25 }), 2],
    ["a negative priority", pod({ priority: -(2 ** 25) }), 0],
    ["system-critical priority", pod({ priority: 2_000_000_000 }), 10],
    ["the least priority", pod({ priority: -(2 ** 31) }), -10],
    ["both", pod({ cost: String(2 ** 28), priority: -(2 ** 25) }), 2],
    ["a cost that is no number", pod({ cost: "cheap" }), 1],
    ["an empty cost", pod({ cost: "" }), 1],
    ["a cost with spaces", pod({ cost: " 134217728" }), 1],
  ])("03:D-5 of %s", (_, one, cost) => {
    expect(totalEvictionCost([one])).toBe(cost);
  });

  it("03:D-5 a deletion cost that is no number is told apart from none", () => {
    expect(deletionCost(pod({ cost: "cheap" }))).toEqual({ kind: "invalid", value: "cheap" });
    expect(deletionCost(pod())).toEqual({ kind: "none" });
    expect(deletionCost(pod({ cost: "7" }))).toEqual({ kind: "cost", cost: 7 });
  });

  it("03:D-9b adds up over all pods, daemons and negative ones too", () => {
    expect(totalEvictionCost([])).toBe(0);
    expect(totalEvictionCost([pod(), pod({ owner: "DaemonSet" }), pod({ cost: "-2147483647" })])).toBe(-8);
  });
});

describe("the part of a life that is left", () => {
  const created = Date.parse("2026-01-01T00:00:00Z");
  const claim = (expireAfter?: string) => ({
    metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { ...(expireAfter !== undefined && { expireAfter }) },
  });

  it.each([
    ["just made", "10h", 0, 1],
    ["halfway", "10h", 5, 0.5],
    ["at its end", "10h", 10, 0],
    ["past its end", "10h", 20, 0],
    ["from the future", "10h", -5, 1],
    ["that never expires", "Never", 5_000, 1],
    ["that says nothing", undefined, 5_000, 1],
    ["that expires at once", "0s", 0, 0],
  ])("03:D-9b of a node %s", (_, expireAfter, hours, left) => {
    expect(lifetimeRemaining(claim(expireAfter), created + hours * 3_600_000)).toBe(left);
  });
});
