import { describe, expect, it } from "vitest";
import { karpenterKinds } from "../api/kinds/karpenter-kinds.ts";
import { apiVersionOf, builtInTypes, karpenterTypes, resourceTypeOf } from "./resources.ts";

describe("resource types", () => {
  it("05 §5 are found by apiVersion and kind", () => {
    expect(resourceTypeOf({ apiVersion: "v1", kind: "Pod" })).toBe(builtInTypes.Pod);
    expect(resourceTypeOf({ apiVersion: "karpenter.sh/v1", kind: "NodePool" })).toBe(karpenterTypes.NodePool);
    expect(resourceTypeOf({ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool" })).toBeUndefined();
    expect(resourceTypeOf({ apiVersion: "apps/v1", kind: "Pod" })).toBeUndefined();
    expect(builtInTypes.CSINode).toEqual({
      group: "storage.k8s.io",
      version: "v1",
      kind: "CSINode",
      plural: "csinodes",
      namespaced: false,
    });
    expect(apiVersionOf(builtInTypes.Lease)).toBe("coordination.k8s.io/v1");
  });

  it("01 §1.1 include every kind of Karpenter", () => {
    expect(Object.keys(karpenterTypes)).toEqual(karpenterKinds.map(({ kind }) => kind));
    expect(karpenterTypes.CapacityBuffer.namespaced).toBe(true);
  });
});
