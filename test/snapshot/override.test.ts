import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { fakeCluster, stored } from "./fake-cluster.ts";
import { planned, run, snapshotOf } from "./run.ts";

const pool = (cpu: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {cpu: "${cpu}"}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
`;
const deployment = (replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, resources: {requests: {cpu: "1"}}}]}
`;
const owned = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }],
});
const spec = { containers: [{ name: "app", resources: { requests: { cpu: "1" } } }] };

/** A Deployment with its ReplicaSet and two pods that wait, and a pod of another workload. */
const objects = stored([
  ...parseAllDocuments(`${pool("100")}---\n${deployment(2)}`).map((one) => one.toJS() as KubeObject),
  {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web-5d8f", namespace: "shop", ...owned("Deployment", "web") },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec },
    },
  },
  ...["web-5d8f-a", "web-5d8f-b"].map((name) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", ...owned("ReplicaSet", "web-5d8f") },
    spec,
  })),
  { apiVersion: "v1", kind: "Pod", metadata: { name: "other", namespace: "shop" }, spec },
]);

const podsOf = ({ newNodes }: { readonly newNodes: readonly { readonly pods: readonly string[] }[] }) =>
  newNodes.flatMap(({ pods }) => pods).sort();

describe("manifests over a live cluster", () => {
  const connect = fakeCluster(objects);
  const live = (...files: readonly string[]) =>
    planned([...files.flatMap((_, index) => ["-f", `${index}.yaml`]), "--context", "x"], {
      connect,
      files: Object.fromEntries(files.map((text, index) => [`${index}.yaml`, text])),
    });

  it("plans the pods that wait, and does not make them again from their workload", async () => {
    expect(podsOf(await live())).toEqual(["shop/other", "shop/web-5d8f-a", "shop/web-5d8f-b"]);
  });

  it("replaces an object by the one of the same name", async () => {
    expect((await live(pool("1"))).totals.unschedulable).toBeGreaterThan(0);
  });

  it("replaces a workload with all it has made", async () => {
    expect(podsOf(await live(deployment(3)))).toEqual(["shop/other", "shop/web-0", "shop/web-1", "shop/web-2"]);
  });

  it("adds what has another name", async () => {
    const more = deployment(1).replace("web, namespace: shop", "more, namespace: shop");
    expect(podsOf(await live(more))).toContain("shop/more-0");
    const elsewhere = deployment(1).replace("namespace: shop", "namespace: mall");
    expect(podsOf(await live(elsewhere))).toEqual(["mall/web-0", "shop/other", "shop/web-5d8f-a", "shop/web-5d8f-b"]);
  });

  it("does the same over a snapshot", async () => {
    const files = { "it.gz": await snapshotOf(connect), "web.yaml": deployment(3) };
    const report = await planned(["-f", "web.yaml", "-f", "it.gz"], { files });
    expect(podsOf(report)).toEqual(["shop/other", "shop/web-0", "shop/web-1", "shop/web-2"]);
  });

  it("02:Q-1 pods of manifests are new: those that wait get a place before them", async () => {
    const more = deployment(3).replace("web, namespace: shop", "more, namespace: shop");
    const waiting = ["shop/other", "shop/web-5d8f-a", "shop/web-5d8f-b"];
    expect(podsOf(await live(pool("4"), more))).toEqual(waiting);
    const files = {
      "it.gz": await snapshotOf(connect),
      "got.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: objects.slice(1) }),
      "pool.yaml": pool("4"),
      "more.yaml": more,
    };
    for (const cluster of ["it.gz", "got.json"]) {
      const args = [cluster, "pool.yaml", "more.yaml"].flatMap((name) => ["-f", name]);
      expect(podsOf(await planned(args, { files }))).toEqual(waiting);
    }
  });

  it("still refuses two manifests of one name", async () => {
    const files = { "a.yaml": `${deployment(1)}---\n${pool("1")}`, "b.yaml": pool("2") };
    expect((await run(["plan", "-f", "a.yaml", "-f", "b.yaml"], { files })).err).toContain(
      "NodePool default is defined twice",
    );
  });
});

describe("plan from a cluster that cannot be read", () => {
  it.each([
    ["Pod", 1, "error"],
    ["NodePool", 1, "error"],
    ["CSINode", 0, "warning"],
  ])("%s forbidden: ends with %i", async (kind, code, severity) => {
    const ran = await run(["plan", "--context", "x"], { connect: fakeCluster(objects, { forbidden: [kind] }) });
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(`cluster:1:1: ${severity}: not allowed to list ${kind}: `);
  });

  it("ends with 1 where there is none", async () => {
    const ran = await run(["plan", "--kubeconfig", "/nowhere/config"]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("cluster:1:1: error: there is no kubeconfig at /nowhere/config");
  });

  it("ends with 2 without files and cluster", async () => {
    const ran = await run(["plan"]);
    expect([ran.code, ran.err]).toEqual([
      2,
      "error: no input: give files with -f, or a cluster with --kubeconfig or --context\n",
    ]);
  });
});

describe("autoscalers of a live cluster", () => {
  const autoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop", uid: "hpa" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 5,
      metrics: [{ type: "Resource" }],
    },
  };
  const connect = fakeCluster([...objects, ...stored([autoscaler])]);

  it("--replicas max adds pods to those that run, of a snapshot and of the cluster", async () => {
    const live = await planned(["--context", "x", "--replicas", "max"], { connect });
    expect(podsOf(live)).toEqual([
      "shop/other",
      "shop/web-2",
      "shop/web-3",
      "shop/web-4",
      "shop/web-5d8f-a",
      "shop/web-5d8f-b",
    ]);
    const snapshot = await snapshotOf(connect);
    const kept = await planned(["-f", "it.gz", "--replicas", "max"], { files: { "it.gz": snapshot } });
    expect(podsOf(kept)).toEqual(podsOf(live));
  });
});
