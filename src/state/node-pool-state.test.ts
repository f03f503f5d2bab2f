import { describe, expect, it } from "vitest";
import { NodePoolState } from "./node-pool-state.ts";

function poolOf({ active = 0, deleting = 0, pending = 0 }): NodePoolState {
  const nodes = new NodePoolState();
  for (let at = 0; at < active; at++) nodes.markActive("p", `active-${at}`);
  for (let at = 0; at < deleting; at++) nodes.observe("p", `deleting-${at}`, { isBeingDeleted: true });
  for (let at = 0; at < pending; at++) nodes.markPendingDisruption("p", `pending-${at}`);
  return nodes;
}

describe("places in pools (02 §2.6)", () => {
  it("02:S-36 grants what is wanted while there is room", () => {
    expect(poolOf({}).reserveNodeCount("p", { limit: 10, wanted: 4 })).toBe(4);
  });

  it("02:S-36 grants what is left when more is wanted, then nothing", () => {
    const nodes = poolOf({});
    expect([7, 7, 7].map((wanted) => nodes.reserveNodeCount("p", { limit: 10, wanted }))).toEqual([7, 3, 0]);
    expect(nodes.counts("p").reserved).toBe(10);
  });

  it("02:S-36 grants nothing, never less, when there are too many already", () => {
    const nodes = poolOf({ active: 5 });
    expect(nodes.reserveNodeCount("p", { limit: 3, wanted: 2 })).toBe(0);
    expect(nodes.counts("p").reserved).toBe(0);
  });

  it.each([
    ["active", { active: 3 }],
    ["deleting", { deleting: 3 }],
    ["pending disruption", { pending: 3 }],
    ["all of them", { active: 1, deleting: 1, pending: 1 }],
  ])("02:S-36 counts claims that are %s", (_, claims) => {
    expect(poolOf(claims).reserveNodeCount("p", { limit: 5, wanted: 5 })).toBe(2);
  });

  it("02:S-36 what is released can be had again", () => {
    const nodes = poolOf({});
    nodes.reserveNodeCount("p", { limit: 5, wanted: 5 });
    nodes.releaseNodeCount("p", 2);
    expect(nodes.reserveNodeCount("p", { limit: 5, wanted: 5 })).toBe(2);
  });

  it("02:S-36 releasing more than was promised leaves nothing promised, not less", () => {
    const nodes = poolOf({});
    nodes.reserveNodeCount("p", { limit: 5, wanted: 2 });
    nodes.releaseNodeCount("p", 9);
    nodes.releaseNodeCount("nowhere", 1);
    expect(nodes.counts("p").reserved).toBe(0);
    expect(nodes.reserveNodeCount("p", { limit: 5, wanted: 9 })).toBe(5);
  });

  it("02:S-36 a claim is in one place at a time", () => {
    const nodes = poolOf({ active: 1 });
    nodes.markPendingDisruption("p", "active-0");
    expect(nodes.counts("p")).toMatchObject({ active: 0, deleting: 0, pendingDisruption: 1 });
    nodes.observe("p", "active-0", { isBeingDeleted: true });
    expect(nodes.counts("p")).toMatchObject({ active: 0, deleting: 1, pendingDisruption: 0 });
    nodes.markActive("p", "active-0");
    expect(nodes.counts("p")).toMatchObject({ active: 1, deleting: 0, pendingDisruption: 0 });
  });

  it("02:S-36 the last claim that goes leaves nothing but what was promised", () => {
    const nodes = poolOf({ active: 1, deleting: 1 });
    nodes.reserveNodeCount("p", { limit: 5, wanted: 1 });
    for (const claim of ["active-0", "deleting-0"]) nodes.forget("p", claim);
    expect(nodes.counts("p")).toEqual({ active: 0, deleting: 0, pendingDisruption: 0, reserved: 1 });
    nodes.releaseNodeCount("p", 1);
    expect(nodes.counts("p").reserved).toBe(0);
  });

  it("02:S-36 names of active claims come in order", () => {
    const nodes = new NodePoolState();
    for (const name of ["b", "c", "a"]) nodes.markActive("p", name);
    expect(nodes.activeNames("p")).toEqual(["a", "b", "c"]);
  });
});
