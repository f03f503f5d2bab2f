import { describe, expect, it } from "vitest";
import { templateOperations } from "./template-operations.ts";

const on = (key: string) => ({ key, operator: "Exists" });
/** Admission added the first toleration. */
const pod = { spec: { tolerations: [on("added"), on("a"), on("b"), on("c")], containers: [{ name: "app" }] } };
const template = { spec: { tolerations: [on("a"), on("b"), on("c")], containers: [{ name: "app", image: "x" }] } };
const of = (...operations: Parameters<typeof templateOperations>[0]) =>
  templateOperations(operations, { pod, template });

describe("operations on a pod as operations on its template", () => {
  it("find the same entry, wherever it is in the template", () => {
    expect(of({ op: "remove", path: "/spec/tolerations/2" })).toEqual([{ op: "remove", path: "/spec/tolerations/1" }]);
    const image = { op: "replace", path: "/spec/containers/0/image", value: "y" } as const;
    expect(of(image)).toEqual([image]);
  });

  it("are applied one after the other: the second finds what the first has left", () => {
    const first = { op: "remove", path: "/spec/tolerations/1" } as const;
    const operations = of(first, first);
    expect(operations).toEqual([
      { op: "remove", path: "/spec/tolerations/0" },
      { op: "remove", path: "/spec/tolerations/0" },
    ]);
    expect(of(first, first, first, first)).toBeUndefined(); // only the one that was added is left
  });

  it("are none where something is not in the template", () => {
    expect(of({ op: "remove", path: "/spec/tolerations/0" })).toBeUndefined();
    expect(of({ op: "remove", path: "/spec/nodeSelector" })).toBeUndefined();
  });
});
