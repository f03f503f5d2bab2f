import { describe, expect, it } from "vitest";
import { decideDeletion, type OwnerState, pendingPropagationOf } from "./deletion-decision.ts";

function object(metadata: object = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", ...metadata } };
}

function owners(...states: readonly OwnerState[]) {
  return states.map((state, at) => ({
    state,
    reference: { apiVersion: "v1", kind: "Pod", name: `o${at}`, uid: `u${at}` },
  }));
}

describe("what becomes of an object when its owners go", () => {
  it.each([
    ["stays with an owner", ["solid"], false, { kind: "stay" }],
    ["stays where nothing is known", ["unknown"], false, { kind: "stay" }],
    ["goes with its last owner", ["absent"], false, { kind: "go", propagation: "Background" }],
    ["goes before an owner that waits", ["waiting"], false, { kind: "go", propagation: "Background" }],
    ["waits for its own dependents then", ["waiting", "absent"], true, { kind: "go", propagation: "Foreground" }],
    ["does not wait where nobody waits for it", ["absent"], true, { kind: "go", propagation: "Background" }],
  ] as const)("05:CP-L7 %s", (_, states, hasDependents, decision) => {
    expect(decideDeletion(object(), { owners: owners(...states), hasDependents })).toEqual(decision);
  });

  it("05:CP-L7 forgets owners that are gone while another is there, or may be", () => {
    for (const other of ["solid", "unknown"] as const) {
      const decision = decideDeletion(object(), { owners: owners("absent", other, "waiting"), hasDependents: false });
      expect(decision.kind === "forget" && decision.references.map(({ name }) => name)).toEqual(["o0", "o2"]);
    }
  });

  it("05:CP-L7 goes the way it was told before", () => {
    const decision = (finalizer: string) =>
      decideDeletion(object({ finalizers: [finalizer] }), { owners: owners("absent"), hasDependents: false });
    expect(decision("orphan")).toEqual({ kind: "go", propagation: "Orphan" });
    expect(decision("foregroundDeletion")).toEqual({ kind: "go", propagation: "Foreground" });
  });

  it("05:CP-L7 is held only while it goes", () => {
    expect(pendingPropagationOf(object({ finalizers: ["orphan"] }))).toBeUndefined();
    expect(pendingPropagationOf(object({ deletionTimestamp: "x", finalizers: ["orphan"] }))).toBe("orphan");
    expect(pendingPropagationOf(object({ deletionTimestamp: "x", finalizers: ["a", "foregroundDeletion"] }))).toBe(
      "foreground",
    );
    expect(pendingPropagationOf(object({ deletionTimestamp: "x" }))).toBeUndefined();
  });
});
