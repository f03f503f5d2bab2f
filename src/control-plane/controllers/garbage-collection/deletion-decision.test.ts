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

describe("what to do with an object when its owners are deleted", () => {
  it.each([
    ["keeps it while an owner exists", ["solid"], false, { kind: "keep" }],
    ["keeps it if the owner's kind is unknown", ["unknown"], false, { kind: "keep" }],
    ["deletes it with its last owner", ["absent"], false, { kind: "delete", propagation: "Background" }],
    ["deletes it before an owner that waits", ["waiting"], false, { kind: "delete", propagation: "Background" }],
    ["then waits for its own dependents", ["waiting", "absent"], true, { kind: "delete", propagation: "Foreground" }],
    ["does not wait if no owner waits for it", ["absent"], true, { kind: "delete", propagation: "Background" }],
  ] as const)("05:CP-L7 %s", (_, states, hasDependents, decision) => {
    expect(decideDeletion(object(), { owners: owners(...states), hasDependents })).toEqual(decision);
  });

  it("05:CP-L7 removes references to missing owners while another exists, or may exist", () => {
    for (const other of ["solid", "unknown"] as const) {
      const decision = decideDeletion(object(), { owners: owners("absent", other, "waiting"), hasDependents: false });
      expect(decision.kind === "remove-owner-references" && decision.references.map(({ name }) => name)).toEqual([
        "o0",
        "o2",
      ]);
    }
  });

  it("05:CP-L7 keeps the propagation its finalizers ask for", () => {
    const decision = (finalizer: string) =>
      decideDeletion(object({ finalizers: [finalizer] }), { owners: owners("absent"), hasDependents: false });
    expect(decision("orphan")).toEqual({ kind: "delete", propagation: "Orphan" });
    expect(decision("foregroundDeletion")).toEqual({ kind: "delete", propagation: "Foreground" });
  });

  it("05:CP-L7 has a pending propagation only while it is being deleted", () => {
    expect(pendingPropagationOf(object({ finalizers: ["orphan"] }))).toBeUndefined();
    expect(pendingPropagationOf(object({ deletionTimestamp: "x", finalizers: ["orphan"] }))).toBe("orphan");
    expect(pendingPropagationOf(object({ deletionTimestamp: "x", finalizers: ["a", "foregroundDeletion"] }))).toBe(
      "foreground",
    );
    expect(pendingPropagationOf(object({ deletionTimestamp: "x" }))).toBeUndefined();
  });
});
