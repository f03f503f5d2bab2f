import { describe, expect, it } from "vitest";
import type { SelectorOwner } from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import { node } from "../builders/node.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { podsPerZone, sizesOfNewNodes } from "../builders/readers.ts";
import { small, solved, web } from "./solved.ts";

const service = (selector: Readonly<Record<string, string>>): SelectorOwner => ({
  kind: "Service",
  metadata: { name: "s", namespace: "default" },
  spec: { selector },
});
const replicaSet = (name: string, app: string): SelectorOwner => ({
  kind: "ReplicaSet",
  metadata: { name, namespace: "default" },
  spec: { selector: { matchLabels: { app } } },
});
const constraint = (topologyKey: string, more: object = {}) => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: "DoNotSchedule",
  ...more,
});
const zone = constraint(labels.zone);
const host = constraint(labels.hostname);

/** A cluster with these defaults, in which a Service selects the app. */
function withDefaults(...defaultConstraints: readonly ReturnType<typeof constraint>[]) {
  return problem()
    .policy({ defaultConstraints })
    .selectorOwners(service({ app: "web" }));
}

describe("default topology constraints", () => {
  it("02:X-51 over zones", () => {
    expect(podsPerZone(solved(withDefaults(zone).pods(3, web)))).toEqual({ a: 1, b: 1, c: 1 });
  });

  it("02:X-51 over hosts", () => {
    expect(sizesOfNewNodes(solved(withDefaults(host).pods(3, web)))).toEqual([1, 1, 1]);
  });

  it("02:X-51 not for pods with a constraint of their own", () => {
    const own = web.spread("zone", { maxSkew: 5, selects: { app: "none" } });
    expect(sizesOfNewNodes(solved(withDefaults(host).pods(3, own)))).toEqual([3]);
  });

  it("02:X-51 with minDomains", () => {
    const few = constraint(labels.zone, { minDomains: 5 });
    expect(podsPerZone(solved(withDefaults(few).pods(5, web)))).toEqual({ a: 1, b: 1, c: 1 });
  });

  it("02:X-51 hard ones leave pods waiting, soft ones give way", () => {
    const sold = small.soldOutIn("b").soldOutIn("c");
    expect(solved(withDefaults(zone).types(sold).pods(3, web)).refusals).toHaveLength(2);
    const soft = constraint(labels.zone, { whenUnsatisfiable: "ScheduleAnyway" });
    expect(solved(withDefaults(soft).types(sold).pods(3, web)).refusals).toEqual([]);
  });

  it("02:X-52 are none unless they are configured", () => {
    expect(
      sizesOfNewNodes(
        solved(
          problem()
            .selectorOwners(service({ app: "web" }))
            .pods(3, web),
        ),
      ),
    ).toEqual([3]);
  });

  it("02:X-51 not for pods nobody owns or serves", () => {
    expect(sizesOfNewNodes(solved(withDefaults(host).pods(3, pod().label("app", "lone").cpu("1"))))).toEqual([3]);
  });

  it("02:X-51 count the pods that run", () => {
    const there = node("n1").zone("a").cpu("1").running(web);
    expect(podsPerZone(solved(withDefaults(zone).nodes(there).pods(2, web)))).toEqual({ b: 1, c: 1 });
  });

  it("02:X-51 by workload: each is spread by itself", () => {
    const owners = problem()
      .policy({ defaultConstraints: [host] })
      .selectorOwners(replicaSet("one", "one"), replicaSet("two", "two"));
    const of = (name: string) => pod().label("app", name).cpu("1").ownedBy("ReplicaSet", name);
    expect(sizesOfNewNodes(solved(owners.pods(2, of("one")).pods(2, of("two"))))).toEqual([2, 2]);
  });

  it("02:X-51 by revision: the old one does not count", () => {
    const owners = problem()
      .policy({ defaultConstraints: [zone] })
      .selectorOwners(replicaSet("old", "old"), replicaSet("new", "new"));
    const of = (name: string) => pod().label("app", name).cpu("1").ownedBy("ReplicaSet", name);
    const there = ["a", "b"].map((where) => node(`n-${where}`).zone(where).cpu("1").running(of("old")));
    expect(podsPerZone(solved(owners.nodes(...there).pods(3, of("new"))))).toEqual({ a: 1, b: 1, c: 1 });
  });

  it("02:T-4 02 §12.2-21 are never written into the pods", () => {
    const decision = solved(withDefaults(zone).pods(2, web));
    for (const { pods } of decision.newNodes)
      for (const { spec } of pods) expect(spec).not.toHaveProperty("topologySpreadConstraints");
  });
});
