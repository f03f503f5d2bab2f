import { describe, expect, it } from "vitest";
import type { ClusterState } from "../../src/state/cluster-state.ts";
import { pod } from "../builders/pod.ts";
import { built, claim, emptyState, node, nodePool } from "./objects.ts";

const web = built(pod().named("web").onNode("n"));

/** A cluster with a bit of everything, in which a minute passes before something happens. */
async function whether(happens: (cluster: ClusterState) => void): Promise<boolean> {
  const { cluster, clock } = emptyState();
  cluster.claimChanged(claim("c", { id: "a" }));
  cluster.claimChanged(claim("waiting"));
  cluster.nodeChanged(node("n", { id: "a", pool: "default", stage: "registered" }));
  cluster.podChanged(web);
  cluster.podChanged(built(pod().named("homeless")));
  cluster.poolChanged(nodePool("p", 1));
  const before = cluster.consolidationEpoch();
  await clock.advance(60_000);
  happens(cluster);
  return cluster.consolidationEpoch() !== before;
}

describe("cluster state: when to look at consolidation again (02 §2.7)", () => {
  it.each<[string, (cluster: ClusterState) => void]>([
    ["somebody says so", (cluster) => cluster.markUnconsolidated()],
    ["a machine appears", (cluster) => cluster.claimChanged(claim("d", { id: "b" }))],
    ["a node of nobody appears", (cluster) => cluster.nodeChanged(node("m"))],
    [
      "a node is initialized",
      (cluster) => cluster.nodeChanged(node("n", { id: "a", pool: "default", stage: "initialized" })),
    ],
    [
      "the taints of a node change",
      (cluster) => {
        const { spec, ...rest } = node("n", { id: "a", pool: "default", stage: "registered" });
        cluster.nodeChanged({ ...rest, spec: { ...spec, taints: [{ key: "closed", effect: "NoSchedule" }] } });
      },
    ],
    ["one is marked", (cluster) => cluster.markForDeletion("a")],
    ["a claim is deleted", (cluster) => cluster.claimChanged(claim("c", { id: "a", isDeleting: true }))],
    ["a claim is gone", (cluster) => cluster.claimGone(claim("c"))],
    ["a claim without a machine is gone", (cluster) => cluster.claimGone(claim("waiting"))],
    ["a node is gone", (cluster) => cluster.nodeGone(node("n"))],
    ["a pod is bound", (cluster) => cluster.podChanged(built(pod().named("homeless").onNode("n")))],
    ["a pod is bound where no node is known", (cluster) => cluster.podChanged(built(pod().named("far").onNode("x")))],
    ["a pod is gone", (cluster) => cluster.podGone(web)],
    ["a pool is edited", (cluster) => cluster.poolChanged(nodePool("p", 2))],
    ["a pool appears", (cluster) => cluster.poolChanged(nodePool("q"))],
  ])("02:S-40 when %s", async (_, happens) => {
    expect(await whether(happens)).toBe(true);
  });

  it.each<[string, (cluster: ClusterState) => void]>([
    ["nothing happens", () => {}],
    ["a claim is told of again", (cluster) => cluster.claimChanged(claim("c", { id: "a" }))],
    [
      "a node is told of again",
      (cluster) => cluster.nodeChanged(node("n", { id: "a", pool: "default", stage: "registered" })),
    ],
    ["a bound pod fares otherwise", (cluster) => cluster.podChanged({ ...web, status: { phase: "Running" } })],
    ["a pod without a place changes", (cluster) => cluster.podChanged(built(pod().named("homeless").cpu("1")))],
    ["a pool's status changes", (cluster) => cluster.poolChanged(nodePool("p", 1))],
    ["an unmarked one is unmarked", (cluster) => cluster.unmarkForDeletion("a")],
    ["a node is nominated", (cluster) => cluster.nominate("a")],
  ])("02:S-40 not when %s", async (_, happens) => {
    expect(await whether(happens)).toBe(false);
  });

  it("02:S-41 after five minutes it is time again, whatever happened", async () => {
    const { cluster, clock } = emptyState();
    const start = cluster.consolidationEpoch();
    await clock.advance(5 * 60_000 - 1);
    expect(cluster.consolidationEpoch()).toBe(start);
    await clock.advance(1);
    const later = cluster.consolidationEpoch();
    expect(later).not.toBe(start);
    expect(cluster.consolidationEpoch()).toBe(later);
  });

  it("02:S-40 two changes in the same moment are two", () => {
    const { cluster } = emptyState();
    cluster.poolChanged(nodePool("p", 1));
    const before = cluster.consolidationEpoch();
    cluster.poolChanged(nodePool("p", 2));
    expect(cluster.consolidationEpoch()).not.toBe(before);
  });
});
