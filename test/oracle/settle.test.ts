import { describe, expect, it } from "vitest";
import { print, settle } from "./settle.ts";

const zone = "topology.kubernetes.io/zone";

function answer(...zones: readonly string[]) {
  return { newNodes: zones.map((name, index) => ({ pods: [`web-${index}`], requirements: { [zone]: name } })) };
}

describe("settling what many answers agree on", () => {
  it("keeps everything when all agree, with prices rounded", () => {
    const one = { ...answer("a"), totals: { pricePerHour: 0.1 + 0.2 } };
    expect(settle([one, one])).toEqual({ ...answer("a"), totals: { pricePerHour: 0.3 }, free: [] });
  });

  it("writes variables where it is left to chance which zone, but not which nodes share one", () => {
    const settled = settle([answer("a", "b", "a"), answer("c", "a", "c")]);
    expect(settled).toEqual({ ...answer("$1", "$2", "$1"), free: [`newNodes.requirements.${zone}`] });
  });

  it("leaves a zone out when that is left to chance too", () => {
    const settled = settle([answer("a", "b"), answer("a", "a")]);
    const nodes = ["web-0", "web-1"].map((pod, index) => ({
      pods: [pod],
      requirements: index === 0 ? { [zone]: "a" } : {},
    }));
    expect(settled).toEqual({ newNodes: nodes, free: [`newNodes.requirements.${zone}`] });
  });

  it("leaves a list out whose length differs, and names methods in the path", () => {
    const pass = (...events: readonly string[]) => ({ ...answer(), methods: [{ method: "drift", events }] });
    expect(settle([pass("x"), pass("x", "y")])).toEqual({
      newNodes: [],
      methods: [{ method: "drift" }],
      free: ["methods.drift.events"],
    });
  });

  it("prints what is short on one line", () => {
    const long = "x".repeat(120);
    expect(print({ pods: ["a", "b"], why: { a: long } })).toBe(
      `{\n  "pods": ["a", "b"],\n  "why": {\n    "a": "${long}"\n  }\n}`,
    );
  });
});
