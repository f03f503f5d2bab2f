import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { type FakeFile, fakeIo } from "../conversion/fake-io.ts";
import { eventually } from "./eventually.ts";
import { applyCrds, connect, deleteAll } from "./kube.ts";
import { describeOnCluster } from "./shared.ts";

const namespace = "snapshot";
const pods = `/api/v1/namespaces/${namespace}/pods`;

const pool = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "snapshot-pool" },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [
          { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
        ],
      },
    },
  },
};

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "main",
            image: "registry.test/secret-image",
            env: [{ name: "TOKEN", value: "secret-value" }],
            resources: { requests: { cpu: "1", memory: "1Gi" } },
          },
        ],
      },
    },
  },
};

describeOnCluster("snapshot of a real API server", (cluster) => {
  const kube = connect(cluster);
  const dir = mkdtempSync(join(tmpdir(), "karpenter-snapshot-"));

  beforeAll(async () => {
    await applyCrds(
      cluster,
      karpenterKindsOf("kwok").map((kind) => customResourceDefinition(kind, "kwok")),
    );
    await kube.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    await kube.request("POST", "/apis/karpenter.sh/v1/nodepools", pool);
    await kube.request("POST", `/apis/apps/v1/namespaces/${namespace}/deployments`, deployment);
    await eventually("the scheduler has given up on three pods", async () => {
      const { items } = (await kube.request("GET", pods)).body as { items: readonly PodObject[] };
      return items.filter(isUnschedulable).length === 3 || undefined;
    });
  });
  afterAll(async () => {
    await kube.request("DELETE", `/apis/apps/v1/namespaces/${namespace}/deployments/web`);
    await deleteAll(cluster, pods);
    await kube.request("DELETE", "/apis/karpenter.sh/v1/nodepools/snapshot-pool");
    await kube.request("DELETE", `/api/v1/namespaces/${namespace}`);
    kube.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const live = ["--kubeconfig", cluster.kubeconfigPath];

  async function snapshot(...args: readonly string[]): Promise<FakeFile> {
    const io = fakeIo();
    const code = await main(["snapshot", "-o", "it.gz", "-n", namespace, ...live, ...args], io);
    expect([code, io.err().replace(/^note: .*\n/, "")]).toEqual([0, ""]);
    return { bytes: await io.readFile("it.gz", 2 ** 30) };
  }

  async function plan(args: readonly string[], files: Readonly<Record<string, FakeFile>> = {}): Promise<PlanReport> {
    const io = fakeIo({ files });
    // The cluster is shared: pods of others may have no place.
    expect([0, 3], io.err()).toContain(await main(["plan", "-o", "json", ...args], io));
    return JSON.parse(io.out()) as PlanReport;
  }

  it("holds what was made and nothing that is nobody's business", async () => {
    const text = gunzipSync((await snapshot()).bytes).toString();
    const [header = "", list = ""] = text.split("\n");
    expect(JSON.parse(header)).toMatchObject({ kind: "Snapshot", version: 1 });
    const { items } = JSON.parse(list) as { items: readonly KubeObject[] };
    const ours = items.filter(({ metadata }) => metadata.namespace === namespace || metadata.name === "snapshot-pool");
    const kinds = ours.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["Deployment", "NodePool", "Pod", "Pod", "Pod", "ReplicaSet"]);
    expect(text).not.toMatch(/secret-image|secret-value|managedFields|last-applied/);
  });

  it("plans the same from the snapshot, from a hashed one, and from the cluster", async () => {
    const plain = await plan(["-f", "it.gz"], { "it.gz": await snapshot() });
    expect(plain.totals).toMatchObject({ pods: 3, unschedulable: 0 });
    expect(plain.newNodes.flatMap((node) => node.pods).every((pod) => pod.startsWith("snapshot/web-"))).toBe(true);

    const hashed = await plan(["-f", "it.gz"], { "it.gz": await snapshot("--hash-names") });
    const shapes = ({ newNodes }: PlanReport) =>
      newNodes.map(({ pods: on, instanceTypes, price, zones }) => ({ pods: on.length, instanceTypes, price, zones }));
    expect(shapes(hashed)).toEqual(shapes(plain));
    expect(JSON.stringify(hashed)).not.toContain("web");

    const direct = await plan(live);
    expect(direct.newNodes.flatMap((node) => node.pods)).toEqual(
      expect.arrayContaining([...plain.newNodes.flatMap((node) => node.pods)]),
    );
  });

  it("reports every kind that may not be listed, and ends with 1", async () => {
    const config = JSON.parse(readFileSync(cluster.kubeconfigPath, "utf8"));
    config.users[0].user.as = "nobody";
    const path = join(dir, "nobody");
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    const io = fakeIo();
    expect(await main(["snapshot", "--kubeconfig", path], io)).toBe(1);
    expect(io.err()).toMatch(/error: not allowed to list Pod, which is missing from the snapshot: pods is forbidden: /);
    expect(io.err()).toMatch(/error: not allowed to list NodePool, /);
  });
});

interface PodObject {
  readonly status?: { readonly conditions?: readonly { readonly reason?: string }[] };
}

function isUnschedulable({ status }: PodObject): boolean {
  return status?.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
}
