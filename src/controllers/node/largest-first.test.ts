import { expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { collectEvictionsMs, LargestFirst } from "./largest-first.ts";

const pod = (cpu: string, memory = "1Gi"): Pod => ({
  metadata: {},
  spec: { containers: [{ name: "main", resources: { requests: { cpu, memory } } }] },
});
const pods: Readonly<Record<string, Pod>> = { small: pod("100m"), large: pod("4"), wide: pod("100m", "8Gi") };

function collecting() {
  const clock = new VirtualClock({ startAt: 0 });
  const handedOn: string[] = [];
  const evictions = new LargestFirst({ clock, podOf: (key) => pods[key], handOn: (key) => handedOn.push(key) });
  return { clock, handedOn, evictions };
}

it("03:T-46 pods that are to go within half a second are evicted the largest first, by cpu, then memory", async () => {
  const { clock, handedOn, evictions } = collecting();
  for (const key of ["gone", "small", "wide"]) evictions.add(key);
  await clock.advance(collectEvictionsMs - 1);
  evictions.add("large");
  expect(handedOn).toEqual([]);
  await clock.advance(1);
  expect(handedOn).toEqual(["large", "wide", "small", "gone"]);
});

it("03:T-46 those that come later are the next to go", async () => {
  const { clock, handedOn, evictions } = collecting();
  evictions.add("small");
  await clock.advance(collectEvictionsMs);
  evictions.add("large");
  await clock.advance(collectEvictionsMs);
  expect(handedOn).toEqual(["small", "large"]);
});

it("03:T-46 nothing is handed on after the end", async () => {
  const { clock, handedOn, evictions } = collecting();
  evictions.add("small");
  evictions.stop();
  await clock.advance(2 * collectEvictionsMs);
  expect(handedOn).toEqual([]);
});
