import { describe, expect, it } from "vitest";
import { kinds } from "../api/kinds/registry.ts";
import { apiVersionOf, builtIn, custom, resourceTypeOf } from "./resources.ts";

describe("resource types", () => {
  it("05 §5 know a kind by what its objects say", () => {
    expect(resourceTypeOf({ apiVersion: "v1", kind: "Pod" })).toBe(builtIn.Pod);
    expect(resourceTypeOf({ apiVersion: "karpenter.sh/v1", kind: "NodePool" })).toBe(custom.NodePool);
    expect(resourceTypeOf({ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool" })).toBeUndefined();
    expect(resourceTypeOf({ apiVersion: "apps/v1", kind: "Pod" })).toBeUndefined();
    expect(builtIn.CSINode).toEqual({
      group: "storage.k8s.io",
      version: "v1",
      kind: "CSINode",
      plural: "csinodes",
      namespaced: false,
    });
    expect(apiVersionOf(builtIn.Lease)).toBe("coordination.k8s.io/v1");
  });

  it("01 §1.1 include every kind of ours", () => {
    expect(Object.keys(custom)).toEqual(kinds.map(({ kind }) => kind));
    expect(custom.CapacityBuffer.namespaced).toBe(true);
  });
});
