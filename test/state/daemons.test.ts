import { describe, expect, it } from "vitest";
import { pod } from "../builders/pod.ts";
import { built, daemonSet, emptyState } from "./objects.ts";

const agent = (name: string, created: string) =>
  built(pod().named(name).created(created).ownedBy("DaemonSet", "agent").onNode("n"));
const first = agent("first", "2026-01-01T00:00:00Z");
const second = agent("second", "2026-01-01T00:00:01Z");

function withAgent() {
  const { cluster } = emptyState();
  cluster.daemonSetChanged(daemonSet("agent"));
  const names = () => cluster.snapshot().daemons.map(({ metadata }) => metadata.name);
  return { cluster, names };
}

describe("cluster state: daemons (02:S-10)", () => {
  it("02:S-10 one without pods is known by its template", () => {
    const { cluster } = withAgent();
    expect(cluster.snapshot().daemons.map(({ spec }) => spec.containers?.[0]?.name)).toEqual(["template"]);
  });

  it("02:A-7 limits of the template stand in for missing requests; a live pod counts as it is", () => {
    const { cluster } = emptyState();
    const { metadata } = daemonSet("agent");
    const containers = [{ name: "template", resources: { limits: { cpu: "1" } } }];
    cluster.daemonSetChanged({ metadata, spec: { template: { spec: { containers } } } });
    const requests = () => cluster.snapshot().daemons.map(({ spec }) => spec.containers?.[0]?.resources?.requests);
    expect(requests()).toEqual([{ cpu: "1" }]);
    cluster.podChanged({ ...first, spec: { ...first.spec, containers } });
    expect(requests()).toEqual([undefined]);
  });

  it("02:S-10 the newest pod stands for it, whatever the order they are told in", () => {
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const { cluster, names } = withAgent();
      for (const one of order) {
        cluster.podChanged(one);
        names();
      }
      expect(names()).toEqual(["second"]);
    }
  });

  it("02:S-10 of two made in the same second the first by name, and the older when the newest is gone", () => {
    const { cluster, names } = withAgent();
    const twin = agent("a-twin", "2026-01-01T00:00:01Z");
    for (const one of [first, second, twin]) cluster.podChanged(one);
    expect(names()).toEqual(["a-twin"]);
    cluster.podGone(twin);
    expect(names()).toEqual(["second"]);
    cluster.podGone(second);
    expect(names()).toEqual(["first"]);
    cluster.podGone(first);
    expect(cluster.snapshot().daemons[0]?.spec.containers?.[0]?.name).toBe("template");
  });

  it("02:S-10 news of the newest is told, news of others changes nothing", () => {
    const { cluster } = withAgent();
    for (const one of [first, second]) cluster.podChanged(one);
    const before = cluster.snapshot().daemons;
    cluster.podChanged({ ...first });
    expect(cluster.snapshot().daemons).toBe(before);
    const grown = { ...second, spec: { ...second.spec, priority: 7 } };
    cluster.podChanged(grown);
    expect(cluster.snapshot().daemons[0]?.spec.priority).toBe(7);
  });

  it("02:S-10 pods that come before their DaemonSet count when it is there, and it can go", () => {
    const { cluster } = emptyState();
    cluster.podChanged(first);
    expect(cluster.snapshot().daemons).toEqual([]);
    cluster.daemonSetChanged(daemonSet("agent"));
    expect(cluster.snapshot().daemons.map(({ metadata }) => metadata.name)).toEqual(["first"]);
    cluster.daemonSetGone(daemonSet("agent"));
    expect(cluster.snapshot().daemons).toEqual([]);
  });

  it("02:S-10 pods of others, and one that was let go, do not stand for it", () => {
    const { cluster, names } = withAgent();
    cluster.podChanged(built(pod().named("web").ownedBy("ReplicaSet", "agent").onNode("n")));
    cluster.podChanged(first);
    expect(names()).toEqual(["first"]);
    cluster.podChanged({ ...first, metadata: { ...first.metadata, ownerReferences: [] } });
    expect(names()).toEqual(["agent"]);
  });
});
