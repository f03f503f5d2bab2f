import { describe, expect, it } from "vitest";
import { claim, emptyState, machine, node } from "./objects.ts";

describe("cluster state: whether it is complete (02 §2.2)", () => {
  it("02:S-11 it is not before everything that existed was told", () => {
    const { cluster } = emptyState();
    const { claim: one, node: two } = machine("n");
    cluster.claimChanged(one);
    cluster.nodeChanged(two);
    expect([cluster.isSynced, cluster.hasSynced]).toEqual([false, false]);
    cluster.markInitialListComplete();
    expect([cluster.isSynced, cluster.hasSynced]).toEqual([true, true]);
  });

  it("02:S-11 an empty cluster is complete", () => {
    const { cluster } = emptyState();
    cluster.markInitialListComplete();
    expect(cluster.isSynced).toBe(true);
  });

  it.each([
    ["nodes of nobody, without an id", [], [node("n")], true],
    ["nodes with an id", [], [node("n", { id: "a" })], true],
    ["launched claims", [claim("c", { id: "a" })], [], true],
    ["claims and nodes", [claim("c", { id: "a" })], [node("n", { id: "a", pool: "p" }), node("m")], true],
    ["a claim that is not launched", [claim("c"), claim("d", { id: "a" })], [], false],
    ["a node of a pool without an id", [], [node("n", { pool: "p" })], false],
    ["a node of a pool whose labels are on their way", [], [node("n", { id: "a", pool: "p", isBare: true })], false],
  ])("02:S-11 at first, with %s", (_, claims, nodes, isSynced) => {
    const { cluster } = emptyState();
    for (const one of claims) cluster.claimChanged(one);
    for (const one of nodes) cluster.nodeChanged(one);
    cluster.markInitialListComplete();
    expect(cluster.isSynced).toBe(isSynced);
  });

  it("02:S-11 a node that gets its id, and one that goes, no longer hold it up", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n", { pool: "p" }));
    cluster.nodeChanged(node("m", { pool: "p" }));
    cluster.markInitialListComplete();
    cluster.nodeChanged(node("n", { id: "a", pool: "p" }));
    expect(cluster.isSynced).toBe(false);
    cluster.nodeGone(node("m"));
    expect(cluster.isSynced).toBe(true);
  });

  it("02:S-11 once complete, nodes that are not clear yet hold nothing up", () => {
    const { cluster } = emptyState();
    cluster.markInitialListComplete();
    cluster.nodeChanged(node("n", { pool: "p" }));
    expect(cluster.isSynced).toBe(true);
  });

  it("02:S-11 02:S-13 03:S-3 a claim we made holds it up until it is launched", () => {
    const { cluster } = emptyState();
    cluster.markInitialListComplete();
    cluster.claimChanged(claim("c"));
    expect([cluster.isSynced, cluster.hasSynced]).toEqual([false, true]);
    expect(cluster.unlaunchedClaims()).toEqual(["c"]);
    cluster.claimChanged(claim("c", { id: "a" }));
    expect(cluster.isSynced).toBe(true);
    expect(cluster.unlaunchedClaims()).toEqual([]);
  });

  it("02:S-3 02:S-11 an unlaunched claim that is gone no longer holds it up", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("b"));
    cluster.claimChanged(claim("a"));
    cluster.markInitialListComplete();
    expect(cluster.unlaunchedClaims()).toEqual(["a", "b"]);
    cluster.claimGone(claim("a"));
    expect(cluster.isSynced).toBe(false);
    cluster.claimGone(claim("b"));
    expect(cluster.isSynced).toBe(true);
  });

  it("02:S-14 only an unlaunched claim can be forgotten", () => {
    const { cluster } = emptyState();
    cluster.markInitialListComplete();
    cluster.claimChanged(claim("c"));
    cluster.claimChanged(claim("d", { id: "a" }));
    for (const name of ["c", "d", "unheard-of"]) cluster.forgetUnlaunched(name);
    expect(cluster.isSynced).toBe(true);
    expect(cluster.nodeByClaimName("d")).toBeDefined();
    expect(cluster.nodePoolState.counts("default").active).toBe(1);
  });

  it("02:S-12 it knows since when it is not complete", async () => {
    const { cluster, clock } = emptyState();
    const start = clock.now();
    await clock.advance(5_000);
    expect(cluster.unsyncedSince).toBe(start);
    cluster.markInitialListComplete();
    expect(cluster.unsyncedSince).toBeUndefined();
    await clock.advance(5_000);
    cluster.claimChanged(claim("c"));
    await clock.advance(5_000);
    cluster.claimChanged(claim("d"));
    expect(cluster.unsyncedSince).toBe(start + 10_000);
  });
});
