import { expect, it } from "vitest";
import { EvictionQueue } from "./eviction-queue.ts";
import type { PodKubeObject } from "./pods-of-node.ts";

const pod = (name: string, uid = name): PodKubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", uid },
  spec: {},
});
const key = "shop/web/web";

function queue() {
  const pods = new EvictionQueue();
  const told: string[] = [];
  const stop = pods.subscribe((one) => told.push(one));
  const add = (deadlineMs?: number) => pods.add([pod("web")], { node: "n", deadlineMs });
  return { pods, told, stop, add };
}

it("03:T-40 a pod is queued once, and announced once", () => {
  const { pods, told, add } = queue();
  add();
  add();
  expect(told).toEqual([key]);
  expect(pods.size).toBe(1);
  expect(pods.get(key)).toEqual({ namespace: "shop", name: "web", uid: "web", node: "n", refusals: 0 });
});

it("03:T-40 a deadline moves forward and is never removed", () => {
  const { pods, told, add } = queue();
  const deadlines: (number | undefined)[] = [];
  for (const deadline of [undefined, 300, 400, 200, undefined, 200]) {
    add(deadline);
    deadlines.push(pods.get(key)?.deadlineMs);
  }
  expect(deadlines).toEqual([undefined, 300, 300, 200, 200, 200]);
  expect(told).toHaveLength(3); // new, then nearer, then nearer still
});

it("03:T-40 a pod of the same name with another uid is another pod", () => {
  const { pods, told } = queue();
  pods.add([pod("web", "1"), pod("web", "2")], { node: "n" });
  expect(told).toEqual(["shop/web/1", "shop/web/2"]);
  pods.remove("shop/web/1");
  expect([pods.get("shop/web/1"), pods.get("shop/web/2")?.uid]).toEqual([undefined, "2"]);
});

it("03:T-40 refusals are counted until the pod is gone, also when its deadline moves forward", () => {
  const { pods, add } = queue();
  add();
  expect([pods.countRefusal(key), pods.countRefusal(key)]).toEqual([1, 2]);
  add(300);
  expect(pods.countRefusal(key)).toBe(3);
  pods.remove(key);
  expect([pods.countRefusal(key), pods.size]).toEqual([1, 0]);
  add();
  expect(pods.get(key)?.refusals).toBe(0);
});

it("a late subscriber gets all queued pods", () => {
  const { pods, told, stop, add } = queue();
  stop();
  add();
  expect(told).toEqual([]);
  pods.subscribe((one) => told.push(one));
  expect(told).toEqual([key]);
});
