import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { taints } from "../../src/api/labels.ts";
import { pod } from "../builders/pod.ts";
import { built, claim, emptyState, machine, node, nominationMs, written } from "./objects.ts";

const small = pod().cpu("1").memory("1Gi");
const web = built(small.named("web").onNode("n"));

describe("cluster state: machines and what they carry (02 §2.1)", () => {
  it("02:S-7 pods that sit nowhere take no room", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(built(small.named("web")));
    expect(cluster.nodeByName("n")?.usage.podRequests).toEqual({});
    expect(cluster.snapshot().boundPods).toEqual([]);
  });

  it("02:S-7 a pod takes room once, however often it is told of", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    for (const name of ["web", "other", "web"]) cluster.podChanged(built(small.named(name).onNode("n")));
    const found = cluster.nodeByName("n");
    expect(written(found?.usage.podRequests ?? {})).toEqual({ cpu: "2", memory: "2Gi", pods: "2" });
    expect(written(found?.existing.available ?? {})).toEqual({ cpu: "2", memory: "6Gi", pods: "8" });
    expect(found?.pods.map(({ metadata }) => metadata.name)).toEqual(["other", "web"]);
  });

  it("02:S-7 03:S-4 a pod of a node nobody told of counts when the node is there", () => {
    const { cluster } = emptyState();
    cluster.podChanged(web);
    expect(cluster.nodes()).toEqual([]);
    cluster.nodeChanged(node("n"));
    expect(cluster.nodeByName("n")?.pods).toEqual([web]);
  });

  it("02:S-7 a pod that is over gives its room back, and is still bound", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(web);
    cluster.podChanged({ ...web, status: { phase: "Succeeded" } });
    expect(cluster.nodeByName("n")?.usage.podRequests).toEqual({});
    expect(cluster.snapshot().boundPods).toHaveLength(1);
  });

  it("02:S-7 a pod that is over takes no room to begin with", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(built(small.onNode("n").phase("Failed")));
    expect(cluster.nodeByName("n")?.pods).toEqual([]);
  });

  it("02:S-15 a pod that its scheduler is about to bind takes room on the node it is nominated to, and one of ours does not", () => {
    const { cluster } = emptyState();
    for (const name of ["n", "m"]) cluster.nodeChanged(node(name));
    const waiting = (nominatedNodeName?: string, manager = "kube-scheduler"): Pod => {
      const { metadata, ...rest } = built(small.named("web"));
      const fieldsV1 = { "f:status": { "f:nominatedNodeName": {} } };
      const managedFields = [{ manager, subresource: "status", fieldsV1 }];
      const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }];
      return { ...rest, metadata: { ...metadata, managedFields }, status: { conditions, nominatedNodeName } };
    };
    const state = () => ({
      used: ["n", "m"].map((name) => written(cluster.nodeByName(name)?.usage.podRequests ?? {})["pods"]),
      pending: cluster.snapshot().pendingPods.length,
      bound: cluster.snapshot().boundPods.map(({ spec }) => spec.nodeName),
    });
    cluster.podChanged(waiting("n"));
    expect(state()).toEqual({ used: ["1", undefined], pending: 0, bound: ["n"] });
    cluster.podChanged(waiting("m"));
    expect(state()).toEqual({ used: [undefined, "1"], pending: 0, bound: ["m"] });
    cluster.podChanged(waiting());
    expect(state()).toEqual({ used: [undefined, undefined], pending: 1, bound: [] });
    cluster.podChanged(waiting("n", "karpenter-nomination"));
    expect(state()).toEqual({ used: [undefined, undefined], pending: 1, bound: [] });
    cluster.podChanged(built(small.named("web").onNode("n")));
    expect(state()).toEqual({ used: ["1", undefined], pending: 0, bound: ["n"] });
  });

  it("02:S-9 a deleted pod gives its room back", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(web);
    cluster.podGone(web);
    expect(cluster.nodeByName("n")?.usage.podRequests).toEqual({});
    expect(cluster.snapshot().boundPods).toEqual([]);
  });

  it("02:S-9 02:S-45 with a pod go its times, when it is gone and not before", () => {
    const { cluster, clock } = emptyState();
    cluster.podChanged(web);
    cluster.podTimes.ack(web, clock.now());
    cluster.podChanged({ ...web, status: { phase: "Succeeded" } });
    expect(cluster.podTimes.get("default/web").ack).toBe(clock.now());
    cluster.podGone(web);
    expect(cluster.podTimes.get("default/web")).toEqual({});
  });

  it("02:S-8 a name that is used again elsewhere moves, though nobody told that the first is gone", () => {
    const { cluster } = emptyState();
    for (const name of ["n", "m"]) cluster.nodeChanged(node(name));
    cluster.podChanged(web);
    cluster.snapshot();
    cluster.podChanged(built(small.named("web").onNode("m")));
    expect(cluster.nodeByName("n")?.pods).toEqual([]);
    expect(cluster.nodeByName("m")?.pods).toHaveLength(1);
  });

  it("02:S-7 counts stay right through a hundred comings and goings", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n", { capacity: { cpu: "200" } }));
    for (let at = 0; at < 100; at++) {
      cluster.podChanged(built(small.named(`p${at}`).onNode("n")));
      if (at % 3 === 0) cluster.podGone({ metadata: { name: `p${at}`, namespace: "default" } });
      expect(written(cluster.nodeByName("n")?.usage.podRequests ?? {})["pods"] ?? "0").toBe(
        String(at + 1 - (Math.floor(at / 3) + 1)),
      );
    }
  });

  it("02 §2.1 daemons are counted apart as well, requests and limits", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(web);
    cluster.podChanged(
      built(pod().cpu("2").limit("cpu", "3").named("agent").ownedBy("DaemonSet", "agent").onNode("n")),
    );
    const { podRequests, podLimits, daemonRequests, daemonLimits, allocatable } =
      cluster.nodeByName("n")?.usage ?? ({} as never);
    expect([podRequests, podLimits, daemonRequests, daemonLimits, allocatable].map(written)).toEqual([
      { cpu: "3", memory: "1Gi", pods: "2" },
      { cpu: "3", pods: "2" },
      { cpu: "2", pods: "1" },
      { cpu: "3", pods: "1" },
      { cpu: "4", memory: "8Gi", pods: "10" },
    ]);
  });

  it("02:S-3 a Node that is gone leaves its claim, and with both gone nothing is left", () => {
    const { cluster } = emptyState();
    const { id, ...one } = machine("n");
    cluster.claimChanged(one.claim);
    cluster.nodeChanged(one.node);
    cluster.nodeGone(one.node);
    expect(cluster.nodeByProviderId(id)).toMatchObject({ node: undefined, name: "claim-n", isInitialized: false });
    cluster.claimGone(one.claim);
    expect(cluster.nodes()).toEqual([]);
  });

  it("02:S-3 a claim that is gone leaves its Node, which is then unmanaged", () => {
    const { cluster } = emptyState();
    const { id, ...one } = machine("n");
    cluster.claimChanged(one.claim);
    cluster.nodeChanged(one.node);
    cluster.claimGone(one.claim);
    expect(cluster.nodeByProviderId(id)).toMatchObject({
      claim: undefined,
      isManaged: false,
      name: "n",
      isRegistered: true,
    });
  });

  it("02:S-3 a claim and a Node of one name do not get in each other's way", () => {
    const { cluster } = emptyState();
    const twins = { claim: claim("same", { id: "a" }), node: node("same", { id: "a" }) };
    cluster.claimChanged(twins.claim);
    cluster.nodeChanged(twins.node);
    cluster.nodeGone(twins.node);
    cluster.claimGone(twins.claim);
    expect(cluster.nodes()).toEqual([]);
  });

  it("02:S-1 claims of other providers are none of ours, and their Nodes nobody's", () => {
    const { cluster } = emptyState();
    cluster.markInitialListComplete();
    cluster.claimChanged(claim("theirs", { id: "a", isForeign: true }));
    cluster.claimChanged(claim("theirs-too", { isForeign: true }));
    cluster.nodeChanged(node("n", { id: "a" }));
    expect(cluster.nodeByProviderId("a")).toMatchObject({ isManaged: false });
    expect(cluster.isSynced).toBe(true);
  });

  it("02:S-2 a claim whose machine changes leaves the old one behind", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("c", { id: "a" }));
    cluster.claimChanged(claim("c", { id: "b" }));
    expect(cluster.nodes().map(({ providerId }) => providerId)).toEqual(["b"]);
    expect(cluster.nodeByClaimName("c")?.providerId).toBe("b");
  });

  it("02:S-4 a Node of nobody goes by its name until it has an id", () => {
    const { cluster } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.podChanged(web);
    expect(cluster.nodeByProviderId("n")?.pods).toEqual([web]);
    cluster.nodeChanged(node("n", { id: "a" }));
    expect(cluster.nodes().map(({ providerId }) => providerId)).toEqual(["a"]);
    expect(cluster.nodeByProviderId("a")?.pods).toEqual([web]);
  });

  it("02:S-4 02:S-5 03:S-1 a Node of a pool is left alone until it can be told which machine it is", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("c", { id: "a" }));
    for (const unclear of [node("n", { pool: "default" }), node("n", { id: "a", pool: "default", isBare: true })]) {
      cluster.nodeChanged(unclear);
      expect(cluster.nodeByProviderId("a")?.node).toBeUndefined();
      expect(cluster.nodeByName("n")).toBeUndefined();
      expect(cluster.snapshot().nodesByName.has("n")).toBe(true);
    }
    cluster.nodeChanged(node("n", { id: "a", pool: "default" }));
    expect(cluster.nodeByProviderId("a")?.node?.metadata.name).toBe("n");
  });

  it("02:S-2 a machine that comes back under another name is the newer Node's", () => {
    const { cluster } = emptyState();
    const [old, young] = [node("z", { id: "a" }), node("b", { id: "a", created: "2026-01-01T00:00:00Z" })];
    cluster.nodeChanged(young);
    cluster.nodeChanged(old);
    expect(cluster.nodes()).toHaveLength(1);
    expect(cluster.nodeByName("b")?.providerId).toBe("a");
    expect(cluster.nodeByName("z")).toBeUndefined();
    cluster.nodeGone(young);
    expect(cluster.nodeByName("z")?.providerId).toBe("a");
  });

  it("02 §12.2-22 news of a claim forgets nothing of what its node carries", () => {
    const { cluster } = emptyState();
    const { id, ...one } = machine("n");
    cluster.nodeChanged(one.node);
    cluster.podChanged(web);
    cluster.claimChanged(one.claim);
    cluster.markForDeletion(id);
    cluster.nominate(id);
    cluster.claimChanged(claim("claim-n", { id, pool: "other" }));
    expect(cluster.nodeByProviderId(id)?.pods).toEqual([web]);
    expect([cluster.isMarkedForDeletion(id), cluster.isNominated(id)]).toEqual([true, true]);
  });

  it("02:S-30 a nomination lasts its time, and another makes it longer", async () => {
    const { cluster, clock } = emptyState();
    cluster.nodeChanged(node("n"));
    cluster.nominate("n");
    await clock.advance(nominationMs - 1_000);
    expect(cluster.isNominated("n")).toBe(true);
    cluster.nominate("n");
    await clock.advance(nominationMs - 1);
    expect(cluster.isNominated("n")).toBe(true);
    await clock.advance(1);
    expect(cluster.isNominated("n")).toBe(false);
  });

  it("02:S-30 what is not there is neither nominated nor marked", () => {
    const { cluster } = emptyState();
    cluster.nominate("n");
    cluster.markForDeletion("n");
    cluster.nodeChanged(node("n"));
    expect([cluster.isNominated("n"), cluster.isMarkedForDeletion("n")]).toEqual([false, false]);
  });

  it.each([
    ["a Node of nobody that is deleted", [], [node("n", { id: "a", isDeleting: true })], true],
    ["a claim that is deleted", [claim("c", { id: "a", isDeleting: true })], [], true],
    ["a claim whose instance ends", [claim("c", { id: "a", isTerminating: true })], [], true],
    ["a Node whose claim stays", [claim("c", { id: "a" })], [node("n", { id: "a", isDeleting: true })], false],
  ])("02:S-27 02:S-28 leaving: %s", (_, claims, nodes, isLeaving) => {
    const { cluster } = emptyState();
    for (const one of claims) cluster.claimChanged(one);
    for (const one of nodes) cluster.nodeChanged(one);
    expect(cluster.nodeByProviderId("a")?.isBeingDeleted).toBe(isLeaving);
    expect(cluster.isMarkedForDeletion("a")).toBe(false);
    cluster.markForDeletion("a");
    expect(cluster.nodeByProviderId("a")?.isBeingDeleted).toBe(true);
    cluster.unmarkForDeletion("a");
    expect(cluster.nodeByProviderId("a")?.isBeingDeleted).toBe(isLeaving);
  });

  it("02:S-22 the claim speaks for its machine until that is registered", () => {
    const { cluster } = emptyState();
    cluster.claimChanged(claim("c", { id: "a" }));
    cluster.nodeChanged(node("n", { id: "a", pool: "default" }));
    expect(cluster.nodeByProviderId("a")).toMatchObject({
      name: "c",
      isRegistered: false,
      existing: { hostname: "c" },
    });
    cluster.nodeChanged(node("n", { id: "a", pool: "default", stage: "registered" }));
    expect(cluster.nodeByProviderId("a")).toMatchObject({ name: "n", isRegistered: true, isInitialized: false });
    cluster.nodeChanged(node("n", { id: "a", pool: "default", stage: "initialized" }));
    expect(cluster.nodeByProviderId("a")).toMatchObject({ name: "n", isRegistered: true, isInitialized: true });
  });

  it("02:B-8 counts of virtual pods replace each other", () => {
    const { cluster } = emptyState();
    expect(cluster.bufferPodCount("a")).toBe(0);
    const counts = new Map([
      ["a", 2],
      ["b", 1],
    ]);
    cluster.setBufferPodCounts(counts);
    counts.set("a", 9);
    expect([cluster.bufferPodCount("a"), cluster.bufferPodCount("b"), cluster.bufferPodCount("c")]).toEqual([2, 1, 0]);
    cluster.setBufferPodCounts(new Map([["b", 3]]));
    expect([cluster.bufferPodCount("a"), cluster.bufferPodCount("b")]).toEqual([0, 3]);
    cluster.setBufferPodCounts(new Map());
    expect(cluster.bufferPodCount("b")).toBe(0);
  });
});

describe("cluster state: taints and sizes (02 §2.3)", () => {
  const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const readiness = { key: "readiness.k8s.io/network", effect: "NoExecute" };
  const startup = { key: "example.com/booting", effect: "NoSchedule" };
  const own = { key: "example.com/mine", effect: "NoSchedule" };

  const seen = (stage: "registered" | "initialized" | undefined, { isManaged }: { isManaged: boolean }) => {
    const { cluster } = emptyState();
    if (isManaged) cluster.claimChanged(claim("c", { id: "a", startupTaints: [startup], taints: [own] }));
    const all = [notReady, readiness, startup, own, taints.unregistered];
    cluster.nodeChanged(node("n", { id: "a", stage, taints: all }));
    return cluster.nodeByProviderId("a")?.existing.taints;
  };

  it("02:S-24 a young node of ours is forgiven what its boot removes", () => {
    expect(seen("registered", { isManaged: true })).toEqual([own]);
  });

  it("02:S-24 before it is registered its claim says which taints it will have", () => {
    expect(seen(undefined, { isManaged: true })).toEqual([own]);
  });

  it("02:S-24 once initialized every taint counts, also one that comes back", () => {
    expect(seen("initialized", { isManaged: true })).toHaveLength(5);
  });

  it.each([[undefined], ["initialized" as const]])("02:S-24 nodes of others are forgiven nothing (%s)", (stage) => {
    expect(seen(stage, { isManaged: false })).toHaveLength(5);
  });

  it("02:S-25 every machine is one node, whoever tells of its size", () => {
    const { cluster } = emptyState();
    const capacity = () => written(cluster.nodeByProviderId("a")?.existing.capacity ?? {});
    cluster.claimChanged(claim("c", { id: "a", capacity: { cpu: "8", memory: "1Gi" } }));
    expect(capacity()).toEqual({ cpu: "8", memory: "1Gi", nodes: "1" });
    cluster.nodeChanged(
      node("n", { id: "a", pool: "default", stage: "registered", capacity: { cpu: "7", memory: "0" } }),
    );
    expect(capacity()).toEqual({ cpu: "7", memory: "1Gi", nodes: "1" });
    cluster.nodeChanged(
      node("n", { id: "a", pool: "default", stage: "initialized", capacity: { cpu: "7", memory: "0" } }),
    );
    expect(capacity()).toEqual({ cpu: "7", memory: "0", nodes: "1" });
  });
});
