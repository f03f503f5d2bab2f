import { expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { collectEvictionsMs, LargestFirst } from "./largest-first.ts";

const pod = (cpu: string, memory = "1Gi"): Pod => ({
  metadata: {},
  spec: { containers: [{ name: "main", resources: { requests: { cpu, memory } } }] },
});
const pods: Readonly<Record<string, Pod>> = { small: pod("100m"), large: pod("4"), wide: pod("100m", "8Gi") };

function collecting(more: Readonly<Record<string, Pod>> = {}) {
  const clock = new VirtualClock({ startAt: 0 });
  const handedOn: string[] = [];
  const podOf = (key: string): Pod | undefined => pods[key] ?? more[key];
  const evictions = new LargestFirst({ clock, podOf, handOn: (key) => handedOn.push(key) });
  return { clock, handedOn, evictions };
}

const podWith = (rules: object): Pod => ({ ...pod("100m"), spec: { ...pod("100m").spec, ...rules } });

it("03:T-46 pods that are to go within half a second are evicted the largest first, by cpu, then memory", async () => {
  const { clock, handedOn, evictions } = collecting();
  for (const key of ["gone", "small", "wide"]) evictions.add(key);
  await clock.advance(collectEvictionsMs - 1);
  evictions.add("large");
  expect(handedOn).toEqual([]);
  await clock.advance(1);
  expect(handedOn).toEqual(["large", "wide", "small", "gone"]);
});

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const app = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" };
const zonal = { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }] };
const spread = { ...app, maxSkew: 1 };

it.each([
  { nodeSelector: { zone: "a" } },
  { affinity: { nodeAffinity: { [required]: zonal } } },
  { affinity: { podAffinity: { [required]: [app] } } },
  { affinity: { podAntiAffinity: { [required]: [app] } } },
  { topologySpreadConstraints: [{ ...spread, whenUnsatisfiable: "DoNotSchedule" }] },
])("03:T-46 of pods with as many cpus, those that may not run everywhere go first: %j", async (rules) => {
  const { clock, handedOn, evictions } = collecting({ tied: podWith(rules) });
  for (const key of ["wide", "tied", "large"]) evictions.add(key);
  await clock.advance(collectEvictionsMs);
  expect(handedOn).toEqual(["large", "tied", "wide"]);
});

it("03:T-46 what a pod only prefers does not count", async () => {
  const rules = { topologySpreadConstraints: [{ ...spread, whenUnsatisfiable: "ScheduleAnyway" }] };
  const { clock, handedOn, evictions } = collecting({ prefers: podWith(rules) });
  for (const key of ["prefers", "wide"]) evictions.add(key);
  await clock.advance(collectEvictionsMs);
  expect(handedOn).toEqual(["wide", "prefers"]);
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
