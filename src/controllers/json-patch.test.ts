import { expect, it } from "vitest";
import type { KubeObject } from "../api/object.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { builtInTypes } from "../kube/resources.ts";
import { jsonPatchObject, replaceList, setFields } from "./json-patch.ts";

it("fields of a map are set one by one, and others are left alone", () => {
  expect(setFields("/metadata/labels", { kept: "1", old: "2" }, { kept: "1", old: "3", "a/b~c": "4" })).toEqual([
    { op: "add", path: "/metadata/labels/old", value: "3" },
    { op: "add", path: "/metadata/labels/a~1b~0c", value: "4" },
  ]);
  expect(setFields("/metadata/labels", { kept: "1" }, { kept: "1" })).toEqual([]);
  expect(setFields("/metadata/labels", undefined, undefined)).toEqual([]);
});

it("a map that is missing is added if it still is", () => {
  expect(setFields("/metadata/labels", undefined, { a: "1" })).toEqual([
    { op: "test", path: "/metadata/labels", value: null },
    { op: "add", path: "/metadata/labels", value: { a: "1" } },
  ]);
});

it("a list is replaced if it is still as it was", () => {
  expect(replaceList("/spec/taints", ["a"], ["a"])).toEqual([]);
  expect(replaceList("/spec/taints", undefined, [])).toEqual([]);
  expect(replaceList("/spec/taints", undefined, ["a"])).toEqual([
    { op: "test", path: "/spec/taints", value: null },
    { op: "add", path: "/spec/taints", value: ["a"] },
  ]);
  expect(replaceList("/spec/taints", ["a"], [])).toEqual([
    { op: "test", path: "/spec/taints", value: ["a"] },
    { op: "add", path: "/spec/taints", value: [] },
  ]);
});

/** A server that refuses the first patches, and whose object changes with each. */
function refusingServer(refusals: number, uid = "1") {
  const calls: string[] = [];
  const objectAt = (version: number): KubeObject => ({
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name: "a", uid: version === 0 ? "1" : uid, resourceVersion: String(version) },
  });
  const client = {
    patch: async (...[, , patch]: Parameters<KubeClient["patch"]>) => {
      calls.push(JSON.stringify(patch.body));
      if (calls.length <= refusals) throw new KubeError("invalid", "testing value failed");
    },
    get: async () => objectAt(calls.length),
  } as unknown as KubeClient;
  const write = () =>
    jsonPatchObject(client, builtInTypes.Node, objectAt(0), {
      patchOf: ({ metadata }) => [{ op: "add", path: "/seen", value: metadata.resourceVersion }],
    });
  return { calls, write };
}
const patchOf = (seen: string) =>
  JSON.stringify([
    { op: "test", path: "/metadata/uid", value: "1" },
    { op: "add", path: "/seen", value: seen },
  ]);

it("a patch that is refused is made anew from the object as it is now, twice", async () => {
  const twice = refusingServer(2);
  await twice.write();
  expect(twice.calls).toEqual([patchOf("0"), patchOf("1"), patchOf("2")]);
  const always = refusingServer(9);
  await expect(always.write()).rejects.toThrow("testing value failed");
  expect(always.calls).toHaveLength(3);
});

it("another object of the same name is not patched", async () => {
  const { calls, write } = refusingServer(1, "2");
  await expect(write()).rejects.toMatchObject({ code: "not-found" });
  expect(calls).toEqual([patchOf("0")]);
});
