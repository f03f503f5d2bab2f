import { describe, expect, it } from "vitest";
import { claim, emptyState, machine, node, written } from "./objects.ts";

const size = { cpu: "4", memory: "8Gi", pods: "10" };
const one = { cpu: "4", memory: "8Gi", pods: "10", nodes: "1" };
const two = { cpu: "8", memory: "16Gi", pods: "20", nodes: "2" };

function withMachines(...names: readonly string[]) {
  const { cluster } = emptyState();
  const machines = names.map((name) => machine(name));
  for (const each of machines) {
    cluster.claimChanged(each.claim);
    cluster.nodeChanged(each.node);
  }
  const total = (pool = "default") => written(cluster.poolTotals(pool));
  return { cluster, machines, total };
}

describe("cluster state: what pools have together (02 §2.5)", () => {
  it("02:S-35 claims and their nodes count once, by pool, and nodes of nobody not at all", () => {
    const { cluster, total } = withMachines("n", "m");
    cluster.nodeChanged(node("nobodys", { id: "x" }));
    cluster.claimChanged(claim("c", { id: "y", pool: "other" }));
    cluster.claimChanged(claim("unlaunched", { pool: "other" }));
    expect([total(), total("other"), total("none")]).toEqual([two, one, {}]);
  });

  it("02:S-35 a look in between changes no sum", () => {
    const { cluster, total, machines } = withMachines("n", "m");
    for (const each of machines) {
      expect(total()).toEqual(two);
      cluster.nodeChanged({ ...each.node });
      cluster.claimChanged({ ...each.claim });
      cluster.snapshot();
    }
    expect(total()).toEqual(two);
  });

  it("02:S-35 a node that changes pools moves", () => {
    const { cluster, total } = withMachines("n", "m");
    total();
    cluster.nodeChanged(node("n", { id: "sim://n", pool: "other", stage: "initialized" }));
    expect([total(), total("other")]).toEqual([one, one]);
  });

  it("02:S-35 a claim whose machine changes counts once", () => {
    const { cluster, total } = withMachines();
    cluster.claimChanged(claim("c", { id: "a" }));
    expect(total()).toEqual(one);
    cluster.claimChanged(claim("c", { id: "b" }));
    expect(total()).toEqual(one);
  });

  it("02:S-35 one half gone changes nothing, both gone leaves nothing", () => {
    const { cluster, machines, total } = withMachines("n");
    total();
    for (const { node: gone } of machines) cluster.nodeGone(gone);
    expect(total()).toEqual(one);
    for (const { claim: gone } of machines) cluster.claimGone(gone);
    expect(total()).toEqual({});
  });

  it("02:S-35 the claim gone, the node still counts for its pool", () => {
    const { cluster, machines, total } = withMachines("n");
    total();
    for (const { claim: gone } of machines) cluster.claimGone(gone);
    expect(total()).toEqual(one);
  });

  it("02:S-28 02:S-35 what is on its way out does not count", () => {
    const { cluster, total } = withMachines("n", "m");
    total();
    cluster.claimChanged(claim("claim-n", { id: "sim://n", isDeleting: true }));
    expect(total()).toEqual(one);
  });

  it("02:S-35 03:S-5 marking takes it out once, unmarking brings it back", () => {
    const { cluster, total } = withMachines("n", "m");
    total();
    cluster.markForDeletion("sim://n", "sim://n");
    expect(total()).toEqual(one);
    cluster.markForDeletion("sim://n");
    expect(total()).toEqual(one);
    cluster.unmarkForDeletion("sim://n");
    expect(total()).toEqual(two);
  });

  it("02:S-35 marked, then deleted, then gone: subtracted once", () => {
    const { cluster, machines, total } = withMachines("n", "m");
    total();
    cluster.markForDeletion("sim://n");
    cluster.claimChanged(claim("claim-n", { id: "sim://n", isDeleting: true }));
    expect(total()).toEqual(one);
    cluster.nodeGone(machines[0]?.node ?? node("n"));
    expect(total()).toEqual(one);
    cluster.claimGone(claim("claim-n"));
    expect(total()).toEqual(one);
  });

  it("02:S-35 a resource nobody has any more is not listed as zero", () => {
    const { cluster, total } = withMachines("n");
    cluster.claimChanged(claim("c", { id: "a", capacity: { ...size, "example.com/gpu": "1" } }));
    expect(total()).toEqual({ ...two, "example.com/gpu": "1" });
    cluster.claimGone(claim("c"));
    expect(total()).toEqual(one);
  });
});

describe("cluster state: claims of pools (02 §2.6)", () => {
  const counts = (active: number, deleting = 0, pendingDisruption = 0) => ({
    active,
    deleting,
    pendingDisruption,
    reserved: 0,
  });

  it("02:S-36 a launched claim is active, and so is one that is not launched yet", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("a", { id: "a" }));
    cluster.claimChanged(claim("b"));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(2));
    expect(cluster.nodePoolState.activeNames("default")).toEqual(["a", "b"]);
  });

  it("02:S-36 a claim of no pool counts nowhere", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("a", { id: "a", pool: null }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(0));
  });

  it("02:S-36 pools do not mix", () => {
    const { cluster } = emptyState();
    for (const [name, pool] of [
      ["a", "p"],
      ["b", "p"],
      ["c", "q"],
    ] as const)
      cluster.claimChanged(claim(name, { id: name, pool }));
    expect([cluster.nodePoolState.counts("p"), cluster.nodePoolState.counts("q")]).toEqual([counts(2), counts(1)]);
  });

  it("02:S-36 news without news changes nothing, nor does another machine", () => {
    const { cluster } = emptyState();
    for (const id of ["a", "a", "b"]) cluster.claimChanged(claim("c", { id }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1));
  });

  it("02:S-36 a claim that changes pools is no longer the first one's", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("c", { id: "a", pool: "p" }));
    cluster.claimChanged(claim("c", { id: "a", pool: "q" }));
    expect([cluster.nodePoolState.counts("p"), cluster.nodePoolState.counts("q")]).toEqual([counts(0), counts(1)]);
  });

  it("02:S-36 a claim that is deleted is deleting, launched or not", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("a", { id: "a", isDeleting: true }));
    cluster.claimChanged(claim("b", { isDeleting: true }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(0, 2));
  });

  it("02:S-36 marking moves claims to deleting, unmarking back, several at once", () => {
    const { cluster } = emptyState();
    for (const name of ["a", "b", "c"]) cluster.claimChanged(claim(name, { id: name }));
    cluster.markForDeletion("a", "b");
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1, 2));
    cluster.claimChanged(claim("a", { id: "a" }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1, 2));
    cluster.unmarkForDeletion("a", "b");
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(3));
  });

  it("02:S-36 a claim that somebody deleted while it was marked is deleting, also when it is unmarked", () => {
    const { cluster } = emptyState();
    for (const name of ["a", "b"]) cluster.claimChanged(claim(name, { id: name }));
    cluster.markForDeletion("a", "b");
    cluster.claimChanged(claim("a", { id: "a", isDeleting: true }));
    cluster.unmarkForDeletion("a", "b");
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1, 1));
  });

  it("02:S-36 a claim that waits to be disrupted stays so until it is deleted", () => {
    const { cluster } = emptyState();
    for (const name of ["a", "b"]) cluster.claimChanged(claim(name, { id: name }));
    cluster.nodePoolState.markPendingDisruption("default", "a");
    cluster.claimChanged(claim("a", { id: "a" }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1, 0, 1));
    cluster.claimChanged(claim("a", { id: "a", isDeleting: true }));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(1, 1));
  });

  it("02:S-36 a claim that is gone counts nowhere", () => {
    const { cluster } = emptyState();
    for (const name of ["a", "b"]) cluster.claimChanged(claim(name, { id: name }));
    cluster.markForDeletion("b");
    cluster.claimGone(claim("a"));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(0, 1));
    cluster.claimGone(claim("b"));
    expect(cluster.nodePoolState.counts("default")).toEqual(counts(0));
  });
});
