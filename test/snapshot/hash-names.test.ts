import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { hashNames } from "../../src/cli/snapshot/hash-names.ts";
import { NameHasher } from "../../src/cli/snapshot/name-hasher.ts";
import { runs } from "../runs.ts";
import { cluster } from "./arbitrary.ts";
import { fakeCluster } from "./fake-cluster.ts";
import { hashedReport } from "./hashed-report.ts";
import { planned, snapshotOf } from "./run.ts";

const options = { salt: "salt", keepLabels: new Set<string>() };

function hashed<T = readonly KubeObject[]>(...objects: readonly object[]): T {
  return hashNames(objects as readonly KubeObject[], new NameHasher(options)) as unknown as T;
}

describe("a cluster under other names", () => {
  it("is decided about in the same way", { timeout: 600_000 }, async () => {
    let placed = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(cluster, fc.nat(1000), async (objects, seed) => {
        const live = fakeCluster(objects);
        const args = ["-f", "it.gz", "--seed", String(seed)];
        const plain = await planned(args, { files: { "it.gz": await snapshotOf(live) } });
        const other = await planned(args, { files: { "it.gz": await snapshotOf(live, "--hash-names") } });
        const nameHasher = new NameHasher(options);
        hashNames(objects, nameHasher);
        expect(hashedReport(other)).toEqual(hashedReport(plain, nameHasher));
        refused += plain.refusals.length;
        placed += plain.totals.pods - plain.refusals.length;
      }),
      { numRuns: runs(2000) },
    );
    expect(placed).toBeGreaterThan(refused / 20); // both happen
    expect(refused).toBeGreaterThan(0);
  });

  it("shows none of its names", { timeout: 600_000 }, async () => {
    const secrets = ["acme", "payments", "gamma", "ip-10", "Beta", "alpha", "zz9", "zeta", "node-10", "quartz"];
    await fc.assert(
      fc.asyncProperty(cluster, async (objects) => {
        const { bytes } = await snapshotOf(fakeCluster(objects), "--hash-names");
        // A key that pods are spread over stays: ties between its domains are drawn by its text.
        const text = gunzipSync(bytes).toString().replaceAll("acme.io/rack", "").replaceAll("acme.io/team", "");
        expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("keeps what catalogues and the engine know by name", () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "kube-system", labels: { app: "web" } },
      spec: {
        priorityClassName: "system-node-critical",
        nodeSelector: {
          "topology.kubernetes.io/zone": "eu-west-1a",
          "node.kubernetes.io/instance-type": "m5.large",
          "karpenter.sh/nodepool": "general",
          "failure-domain.beta.kubernetes.io/zone": "eu-west-1a",
        },
        tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }],
        containers: [
          { name: "main", image: "registry.test/secret", command: ["run"], env: [{ name: "A", value: "b" }] },
        ],
      },
    };
    const [written] = hashed<[{ metadata: KubeObject["metadata"]; spec: Record<string, unknown> }]>(pod);
    expect(written).toMatchObject({
      metadata: { namespace: "kube-system" },
      spec: {
        priorityClassName: "system-node-critical",
        nodeSelector: {
          "topology.kubernetes.io/zone": "eu-west-1a",
          "node.kubernetes.io/instance-type": "m5.large",
          "karpenter.sh/nodepool": expect.stringMatching(/^x\d+-[0-9a-f]{10}$/),
          "failure-domain.beta.kubernetes.io/zone": "eu-west-1a",
        },
        tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }],
      },
    });
    expect(JSON.stringify(written)).not.toMatch(/registry|run|env|web|general/);
    expect(Object.values(written.metadata.labels ?? {})).toEqual([written.metadata.name]); // one name, one token
  });

  it("keeps numbers where they are compared, and hides them elsewhere", () => {
    const pod = (affinity: object) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", labels: { customer: "4711" } },
      spec: { affinity, containers: [{ name: "main" }] },
    });
    const term = (key: string, operator: string, ...values: readonly string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
        },
      },
    });
    const text = JSON.stringify(hashed(pod(term("generation", "Gt", "3")), pod(term("generation", "In", "5"))));
    expect(text).toContain('"values":["3"]');
    expect(text).toContain('"values":["5"]');
    expect(text).not.toContain("4711");
    expect(text).not.toContain("generation");
  });

  it("02:V-4 leaves what no label can be unlike any label", () => {
    const [written] = hashed<[{ spec: { nodeSelector: Record<string, string> } }]>({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a" },
      spec: { nodeSelector: { "bad key": "x", good: "bad value" }, containers: [{ name: "main" }] },
    });
    const { nodeSelector } = written.spec;
    expect(Object.keys(nodeSelector).filter((key) => key.endsWith("!"))).toHaveLength(1);
    expect(Object.values(nodeSelector).filter((value) => value.endsWith("!"))).toHaveLength(1);
  });

  it("02:V-5 puts the names of claims together from what stands for their parts", () => {
    const [set, made, pod, own, other] = hashed(
      {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        metadata: { name: "db", namespace: "shop" },
        spec: {
          template: { spec: { containers: [{ name: "main" }] } },
          volumeClaimTemplates: [{ metadata: { name: "data" } }],
        },
      },
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data-db-12", namespace: "shop" },
        spec: {},
      },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "job", namespace: "shop" },
        spec: { containers: [{ name: "main" }], volumes: [{ name: "tmp", ephemeral: {} }] },
      },
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "job-tmp", namespace: "shop" }, spec: {} },
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "job-tmp", namespace: "else" }, spec: {} },
    ) as [
      { metadata: { name: string }; spec: { volumeClaimTemplates: { metadata: { name: string } }[] } },
      KubeObject,
      { metadata: { name: string }; spec: { volumes: { name: string }[] } },
      KubeObject,
      KubeObject,
    ];
    expect(made.metadata.name).toBe(`${set.spec.volumeClaimTemplates[0]?.metadata.name}-${set.metadata.name}-12`);
    expect(own.metadata.name).toBe(`${pod.metadata.name}-${pod.spec.volumes[0]?.name}`);
    expect(other.metadata.name).not.toBe(own.metadata.name);
  });

  it("gives a name the same hash with the same salt, and another with another", () => {
    const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } }) as KubeObject;
    const hashOf = (salt: string, ...names: readonly string[]) =>
      hashNames(names.map(node), new NameHasher({ ...options, salt }))[0]?.metadata.name?.split("-")[1];
    expect(hashOf("a", "n1")).toBe(hashOf("a", "n1", "n0", "n2"));
    expect(hashOf("a", "n1")).not.toBe(hashOf("b", "n1"));
  });

  it("does not tell who pays and where the images are", () => {
    const [written] = hashed({
      apiVersion: "karpenter.k8s.aws/v1",
      kind: "EC2NodeClass",
      metadata: { name: "default" },
      spec: {
        role: "AcmeNodes",
        userData: "password",
        tags: { owner: "acme" },
        amiFamily: "AL2023",
        amiSelectorTerms: [{ name: "acme-image" }],
        subnetSelectorTerms: [{ tags: { owner: "acme" } }],
        securityGroupSelectorTerms: [{ name: "acme" }],
        kubelet: { maxPods: 20 },
        blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "100Gi", kmsKeyID: "acme-key" } }],
      },
    });
    expect(JSON.stringify(written)).not.toMatch(/acme|password/i);
    expect(written?.spec).toMatchObject({ amiFamily: "AL2023", kubelet: { maxPods: 20 } });
  });

  it("can be drawn again: a token is made for a name only once all names are collected", () => {
    expect(() => new NameHasher(options).token("nobody")).toThrow("not collected");
  });
});
