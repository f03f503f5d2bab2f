import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import { podFilters } from "../../../../src/control-plane/controllers/scheduler/filters.ts";
import { podProfile } from "../../../../src/control-plane/controllers/scheduler/pod-profile.ts";
import { preempt } from "../../../../src/control-plane/controllers/scheduler/preemption.ts";
import { schedule } from "../../../../src/control-plane/controllers/scheduler/schedule.ts";
import { SchedulerCache } from "../../../../src/control-plane/controllers/scheduler/scheduler-cache.ts";
import { Random } from "../../../../src/util/random.ts";
import { runs } from "../../../runs.ts";
import { livePod, modelWorld } from "./arbitrary.ts";
import { type ModelWorld, takes } from "./schedule-model.ts";

function cacheOf({ nodes, placed, namespaces }: ModelWorld): SchedulerCache {
  const cache = new SchedulerCache();
  for (const [name, labels] of Object.entries(namespaces)) cache.namespaceLabels.set(name, labels);
  for (const { pod, node } of placed) cache.addPod(podProfile(pod, cache.reader), node);
  for (const node of nodes) cache.putNode(node);
  return cache;
}

function feasible(pod: ApiPod, world: ModelWorld): readonly string[] {
  return world.nodes.filter((node) => takes(pod, node, world)).map(({ metadata }) => metadata.name ?? "");
}

describe("05:CP-L9 schedule", () => {
  it("05:CP-L9 finds the nodes the slow model finds", () => {
    fc.assert(
      fc.property(modelWorld, livePod("incoming"), (world, pod) => {
        const cache = cacheOf(world);
        const filters = podFilters(podProfile(pod, cache.reader), cache);
        const found = cache.nodes.filter((node) => filters.test?.(node) === undefined).map(({ name }) => name);
        expect(found).toEqual(feasible(pod, world));
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("05:CP-L9 picks one of them, whatever the dice, and the same for the same dice", () => {
    fc.assert(
      fc.property(modelWorld, livePod("incoming"), fc.integer(), (world, pod, seed) => {
        const cache = cacheOf(world);
        const profile = podProfile(pod, cache.reader);
        const placement = schedule(profile, cache, { random: new Random(seed) });
        expect(schedule(profile, cache, { random: new Random(seed) })).toEqual(placement);
        const possible = feasible(pod, world);
        if (placement.kind === "node") expect(possible).toContain(placement.node);
        else {
          expect(possible).toEqual([]);
          expect([...placement.refusals.keys()].sort()).toEqual(world.nodes.map(({ metadata }) => metadata.name));
        }
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("05:CP-L9 preempts only less important pods, without whom the pod fits, and all of whom are in the way", () => {
    let preempted = 0;
    fc.assert(
      fc.property(modelWorld, livePod("incoming"), (world, drawn) => {
        const pod: ApiPod = { ...drawn, spec: { ...drawn.spec, priority: 50 } };
        const cache = cacheOf(world);
        const profile = podProfile(pod, cache.reader);
        const placement = schedule(profile, cache);
        if (placement.kind === "node") return;
        const outcome = preempt(profile, { snapshot: cache, refusals: placement.refusals, budgets: [] });
        if (outcome.kind === "none") return;
        preempted++;
        const gone = new Set(outcome.victims.map(({ pod: victim }) => victim.metadata.name));
        expect(outcome.victims.every(({ priority }) => priority < 50)).toBe(true);
        const without = (spared?: string): ModelWorld => ({
          ...world,
          placed: world.placed.filter(({ pod: { metadata } }) => !gone.has(metadata.name) || metadata.name === spared),
        });
        const node = world.nodes.find(({ metadata }) => metadata.name === outcome.node);
        if (node === undefined) throw new Error("no such node");
        expect(takes(pod, node, without())).toBe(true);
        for (const name of gone) expect(takes(pod, node, without(name))).toBe(false);
      }),
      { numRuns: runs(20_000) },
    );
    expect(preempted).toBeGreaterThan(0);
  });

  it("05:CP-L9 undoes assumptions without a trace", () => {
    fc.assert(
      fc.property(modelWorld, livePod("assumed"), livePod("incoming"), (world, assumed, pod) => {
        const cache = cacheOf(world);
        const fresh = cacheOf(world);
        cache.assumePod(podProfile(assumed, cache.reader), "n0");
        cache.removePod(`${assumed.metadata.namespace}/assumed`);
        const profile = podProfile(pod, cache.reader);
        expect(schedule(profile, cache)).toEqual(schedule(profile, fresh));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("05:CP-L9 decides about a thousand pods on 200 nodes in a second of work", () => {
    const cache = new SchedulerCache();
    const allocatable = { cpu: "16", memory: "64Gi", pods: "110" };
    for (let at = 0; at < 200; at++) {
      const metadata = { name: `node-${at}`, labels: { zone: `z${at % 3}` } };
      cache.putNode({ apiVersion: "v1", kind: "Node", metadata, status: { allocatable } });
    }
    const random = new Random("ties");
    const before = process.cpuUsage();
    for (let at = 0; at < 1_000; at++) {
      const labels = { app: `app-${at % 20}` };
      const labelSelector = { matchLabels: labels };
      const spread = { topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector };
      const pod: ApiPod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `pod-${at}`, namespace: "default", labels },
        spec: {
          containers: [{ name: "app", resources: { requests: { cpu: "250m", memory: "512Mi" } } }],
          topologySpreadConstraints: at % 2 === 0 ? [spread] : [],
        },
      };
      const profile = podProfile(pod, cache.reader);
      const placement = schedule(profile, cache, { random });
      if (placement.kind === "node") cache.assumePod(profile, placement.node);
    }
    const { user, system } = process.cpuUsage(before);
    expect(cache.nodes.reduce((sum, { pods }) => sum + pods.size, 0)).toBe(1_000);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
