import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { deepFreeze } from "../../src/util/freeze.ts";
import { runSteps } from "../../src/util/steps.ts";
import { pod } from "../builders/pod.ts";
import { built, claim, daemonSet, emptyState, machine, node, nodePool } from "./objects.ts";

const waiting = (name: string): Pod => ({
  ...built(pod().named(name)),
  status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
});

describe("cluster state: snapshots", () => {
  it("what changes later does not show in it", () => {
    const { cluster } = emptyState();
    const tell = (round: number) => {
      const { id, ...one } = machine(`n${round}`);
      cluster.claimChanged(one.claim);
      cluster.nodeChanged(node("n0", { id: "sim://n0", pool: `pool-${round}`, stage: "initialized" }));
      cluster.nodeChanged(one.node);
      cluster.podChanged(built(pod().named(`bound-${round}`).cpu("1").volume("data").onNode("n0")));
      cluster.podChanged(
        built(
          pod()
            .named("again")
            .cpu(String(round + 1))
            .onNode("n0"),
        ),
      );
      cluster.podChanged(waiting(`waiting-${round}`));
      cluster.daemonSetChanged(daemonSet(`agent-${round}`));
      cluster.namespaceChanged({ metadata: { name: `space-${round}` } });
      cluster.volumeClaimChanged({
        metadata: { name: "data", namespace: "default" },
        spec: { volumeName: `v${round}` },
      });
      cluster.volumeChanged({ metadata: { name: `v${round}` }, spec: { csi: { driver: `d${round}` } } });
      cluster.storageClassChanged({ metadata: { name: `class-${round}` } });
      cluster.csiNodeChanged({
        metadata: { name: "n0" },
        spec: { drivers: [{ name: "d", allocatable: { count: round } }] },
      });
    };
    const undo = () => {
      cluster.markForDeletion("sim://n0", "sim://n1");
      cluster.claimGone(claim("claim-n0"));
      cluster.nodeGone(node("n0"));
      for (const name of ["bound-0", "waiting-0", "again"]) cluster.podGone(built(pod().named(name)));
      cluster.daemonSetGone(daemonSet("agent-0"));
      cluster.namespaceGone({ metadata: { name: "space-0" } });
      cluster.volumeClaimGone({ metadata: { name: "data", namespace: "default" } });
      cluster.volumeGone({ metadata: { name: "v0" } });
      cluster.storageClassGone({ metadata: { name: "class-0" } });
      cluster.csiNodeGone({ metadata: { name: "n0" } });
    };
    tell(0);
    const taken = [0, 1, 2].map((round) => {
      tell(round);
      const snapshot = deepFreeze(cluster.snapshot());
      return { snapshot, copy: structuredClone(plain(snapshot)) };
    });
    undo();
    cluster.snapshot();
    for (const { snapshot, copy } of taken) expect(plain(snapshot)).toEqual(copy);
    expect(plain(cluster.snapshot())).not.toEqual(taken[2]?.copy);
  });

  it("what did not change is shared", () => {
    const { cluster } = emptyState();
    for (const name of ["n", "m"]) cluster.nodeChanged(node(name));
    cluster.podChanged(built(pod().named("a").onNode("n")));
    const first = cluster.snapshot();
    const same = cluster.snapshot();
    for (const part of ["nodes", "boundPods", "pendingPods", "nodesByName", "daemons", "namespaces"] as const) {
      expect(same[part]).toBe(first[part]);
    }
    cluster.podChanged(built(pod().named("b").onNode("n")));
    const later = cluster.snapshot();
    expect(later.nodes[0]).toBe(first.nodes[0]); // m
    expect(later.nodes[1]).not.toBe(first.nodes[1]);
    expect(later.nodesByName).toBe(first.nodesByName);
  });

  it("news of how a pod fares leaves its node as scheduling sees it, and one that grows does not", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    const running = built(pod().named("a").cpu("1").onNode("n"));
    cluster.podChanged(running);
    const before = cluster.nodeByName("n");
    const ready: Pod = { ...running, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
    cluster.podChanged(ready);
    expect(cluster.nodeByName("n")?.existing).toBe(before?.existing);
    expect(cluster.nodeByName("n")?.pods).toEqual([ready]);
    const resources = { requests: { cpu: "3" } };
    cluster.podChanged({ ...ready, status: { ...ready.status, containerStatuses: [{ name: "app", resources }] } });
    expect(cluster.nodeByName("n")?.existing.available["cpu"]?.canonical()).toBe("1");
  });

  it("a heartbeat copies nothing", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    const first = cluster.snapshot();
    cluster.nodeChanged({ ...node("n"), metadata: { ...node("n").metadata, resourceVersion: "2" } });
    expect(cluster.snapshot().nodesByName).toBe(first.nodesByName);
    expect(cluster.nodeByName("n")?.node?.metadata.resourceVersion).toBe("2");
  });

  it("everything is in the order of its name, whatever came first", () => {
    const { cluster } = emptyState();
    for (const name of ["c", "a", "b"]) {
      cluster.nodeChanged(node(name));
      cluster.podChanged(built(pod().named(`on-${name}`).onNode("a")));
      cluster.podChanged(waiting(name));
      cluster.namespaceChanged({ metadata: { name } });
      cluster.daemonSetChanged(daemonSet(name));
    }
    const { nodes, boundPods, pendingPods, namespaces, daemons } = cluster.snapshot();
    expect(nodes.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(boundPods.map(({ metadata }) => metadata.name)).toEqual(["on-a", "on-b", "on-c"]);
    for (const list of [pendingPods, namespaces, daemons]) {
      expect(list.map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c"]);
    }
  });

  it("02:P-1 to 02:P-5 pending are those a scheduler gave up on and we can help", () => {
    const { cluster } = emptyState();
    const asked = waiting("asked");
    cluster.podChanged(asked);
    cluster.podChanged(built(pod().named("unseen")));
    cluster.podChanged({ ...waiting("preempting"), status: { ...asked.status, nominatedNodeName: "n" } });
    cluster.podChanged({
      ...waiting("daemon"),
      metadata: built(pod().named("daemon").ownedBy("DaemonSet", "d")).metadata,
    });
    expect(cluster.snapshot().pendingPods).toEqual([asked]);
    cluster.podChanged({ ...asked, spec: { ...asked.spec, nodeName: "n" } });
    expect(cluster.snapshot().pendingPods).toEqual([]);
    cluster.podChanged(asked);
    cluster.podGone(asked);
    expect(cluster.snapshot().pendingPods).toEqual([]);
  });

  it("03:S-1 pools are known by name until they are gone", () => {
    const { cluster } = emptyState();
    cluster.poolChanged(nodePool("p", 3));
    expect(cluster.pool("p")?.metadata.generation).toBe(3);
    cluster.poolGone(nodePool("p"));
    expect(cluster.pool("p")).toBeUndefined();
  });

  it("shows the same whether it was looked at all the time or once", () => {
    const [warm, lazy] = [emptyState().cluster, emptyState().cluster];
    const tell = (change: (cluster: typeof warm) => void) => [warm, lazy].forEach(change);
    for (let at = 0; at < 600; at++) {
      const one = machine(`n${at}`);
      tell((cluster) => cluster.claimChanged(one.claim));
      tell((cluster) => cluster.nodeChanged(one.node));
      tell((cluster) => cluster.podChanged(built(pod().named(`p${at}`).cpu("1").onNode(`n${at}`))));
    }
    runSteps(warm.refreshStale());
    warm.markInitialListComplete();
    for (let at = 0; at < 600; at += 2) {
      tell((cluster) => cluster.podGone(built(pod().named(`p${at}`))));
      tell((cluster) =>
        cluster.podChanged(
          built(
            pod()
              .named(`q${at}`)
              .cpu("2")
              .onNode(`n${at + 1}`),
          ),
        ),
      );
    }
    expect(plain(warm.snapshot())).toEqual(plain(lazy.snapshot()));
  });
});

/** With amounts as text, and without what is worked out only when asked for. */
function plain(snapshot: object): unknown {
  return JSON.parse(
    JSON.stringify(snapshot, (_, value) => (value instanceof Map || value instanceof Set ? [...value] : value)),
  );
}
