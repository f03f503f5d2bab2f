import { describe, expect, it } from "vitest";
import type { Pod } from "../api/kubernetes/pod.ts";
import { BufferPods } from "./buffer-pods.ts";

const pods = (...names: readonly string[]): readonly Pod[] =>
  names.map((name) => ({ metadata: { name, namespace: "default" }, spec: { containers: [] } }));

describe("02:B-4 the pods of buffers", () => {
  it("02:B-4 equal pods stay the same objects, others replace them", () => {
    const bufferPods = new BufferPods();
    bufferPods.set("default/a", pods("a-0", "a-1"));
    const [first, second] = bufferPods.all();
    bufferPods.set("default/a", pods("a-0", "a-1"));
    expect(bufferPods.all()[0]).toBe(first);
    expect(bufferPods.all()[1]).toBe(second);
    bufferPods.set("default/a", pods("a-0"));
    expect(bufferPods.all()).toEqual(pods("a-0"));
    bufferPods.set("default/a", []);
    expect(bufferPods.of("default/a")).toEqual([]);
  });
});
