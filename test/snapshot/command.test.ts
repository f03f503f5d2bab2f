import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { main } from "../../src/cli/main.ts";
import type { SnapshotHeader } from "../../src/cli/snapshot/snapshot-header.ts";
import { KubeError } from "../../src/kube/kube-error.ts";
import { type FakeFile, fakeIo } from "../conversion/fake-io.ts";
import { fakeCluster, stored } from "./fake-cluster.ts";
import { run } from "./run.ts";

const objects = stored([
  {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "general" },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", labels: { "topology.kubernetes.io/region": "eu-west-1" } },
    status: { images: [{ names: ["secret-image"] }] },
  } as KubeObject,
  ...["a", "b"].flatMap((namespace) => [
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace, annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
      spec: {
        containers: [{ name: "main", image: "secret-image", env: [{ name: "TOKEN", value: "secret" }] }],
        volumes: [{ name: "token", secret: { secretName: "secret" } }],
      },
    } as KubeObject,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "secret", namespace } },
  ]),
]);

interface Contents {
  readonly header: SnapshotHeader;
  readonly items: readonly KubeObject[];
  readonly text: string;
}

function contents({ bytes }: FakeFile): Contents {
  const text = gunzipSync(bytes).toString();
  const [header = "", list = ""] = text.split("\n");
  return { header: JSON.parse(header) as SnapshotHeader, items: JSON.parse(list).items as readonly KubeObject[], text };
}

describe("karpenter snapshot", () => {
  it("writes a header and a List of what the engine reads, compressed", async () => {
    const ran = await run(["snapshot"], { connect: fakeCluster(objects) });
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).toBe("karpenter-snapshot.json.gz: 4 objects, 1 KiB\n");
    const { header, items, text } = contents(await ran.file("karpenter-snapshot.json.gz"));
    expect(header).toEqual({
      kind: "Snapshot",
      version: 1,
      time: "2026-01-15T12:00:00Z",
      provider: "aws",
      region: "eu-west-1",
    });
    expect(items.map(({ kind }) => kind)).toEqual(["NodePool", "Node", "Pod", "Pod"]);
    expect(text).not.toMatch(/secret|TOKEN|managedFields|last-applied/);
    expect(items[2]).toMatchObject({
      metadata: { name: "web", namespace: "a" },
      spec: { containers: [{ name: "main" }] },
    });
  });

  it("says in the header that names are not the real ones", async () => {
    const ran = await run(["snapshot", "--hash-names", "-o", "x.gz"], { connect: fakeCluster(objects) });
    const { header, text } = contents(await ran.file("x.gz"));
    expect(header).toMatchObject({ hashed: true, provider: "aws", region: "eu-west-1" });
    expect(text).not.toMatch(/general|web/);
  });

  it("reads only the namespaces that are named, and all of what has none", async () => {
    const ran = await run(["snapshot", "-n", "b", "-n", "c"], { connect: fakeCluster(objects) });
    const { items } = contents(await ran.file("karpenter-snapshot.json.gz"));
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}`)).toEqual([
      "NodePool ",
      "Node ",
      "Pod b",
    ]);
  });

  it("notes kinds the cluster does not have, and ends with 0", async () => {
    const connect = fakeCluster(objects, { absent: ["NodeOverlay", "CapacityBuffer"] });
    const { err, code } = await run(["snapshot"], { connect });
    expect(err).toBe("note: the cluster does not serve NodeOverlay, CapacityBuffer\n");
    expect(code).toBe(0);
  });

  it("reads the older version where the cluster has no newer", async () => {
    const asked: string[] = [];
    const [pool] = objects as [KubeObject];
    const connect = fakeCluster([{ ...pool, apiVersion: "karpenter.sh/v1beta1" }], {
      onList: ({ kind, version }) => asked.push(`${kind} ${version}`),
      fails: (_, { kind, version }) => (kind === "NodePool" && version === "v1" ? "not-found" : undefined),
    });
    const ran = await run(["snapshot"], { connect });
    expect(contents(await ran.file("karpenter-snapshot.json.gz")).items).toMatchObject([
      { apiVersion: "karpenter.sh/v1beta1" },
    ]);
    expect(asked).toContain("NodePool v1beta1");
    expect(asked).not.toContain("NodeClaim v1beta1");
  });

  it("writes what it may read, tells what it may not, and ends with 1", async () => {
    const ran = await run(["snapshot"], { connect: fakeCluster(objects, { forbidden: ["CSINode"] }) });
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(
      /^error: not allowed to list CSINode, which is missing from the snapshot: csinodes is forbidden; grant /,
    );
    expect(contents(await ran.file("karpenter-snapshot.json.gz")).items).toHaveLength(4);
  });

  it("begins a list again that took too long, and asks a busy server again", async () => {
    const many = stored(
      Array.from({ length: 5 }, (_, index) => ({ apiVersion: "v1", kind: "Node", metadata: { name: `n${index}` } })),
    );
    const codes = new Map([
      [3, "expired"],
      [5, "too-many-requests"],
    ] as const);
    const connect = fakeCluster(many, { pageSize: 2, fails: (request) => codes.get(request as 3) });
    const open = await connect({});
    let slept = 0;
    const sleep = async (): Promise<void> => {
      slept += 1;
    };
    const patient = async () => ({
      ...open,
      clock: { ...open.clock, now: () => 0, sleep, setTimer: open.clock.setTimer },
    });
    const ran = await run(["snapshot"], { connect: patient });
    const { items } = contents(await ran.file("karpenter-snapshot.json.gz"));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["n0", "n1", "n2", "n3", "n4"]);
    expect(slept).toBe(1);
  });

  it("writes nothing where the cluster cannot be read, and ends with 1", async () => {
    const unreachable = await run(["snapshot"], {
      connect: fakeCluster(objects, { fails: () => "unauthorized" }),
    });
    expect([unreachable.code, unreachable.out]).toEqual([1, ""]);
    expect(unreachable.err).toBe(
      "error: cannot read the cluster: it is unauthorized; check the connection with kubectl cluster-info\n",
    );
    const nowhere = await run(["snapshot"], {
      connect: async () => {
        throw new KubeError("unavailable", "connect ECONNREFUSED");
      },
    });
    expect([nowhere.code, nowhere.err]).toEqual([
      1,
      "error: cannot read the cluster: connect ECONNREFUSED; check the connection with kubectl cluster-info\n",
    ]);
  });

  it("says which kubeconfig is missing", async () => {
    const io = fakeIo();
    expect(await main(["snapshot", "--kubeconfig", "/nowhere/config"], io)).toBe(1);
    expect(io.err()).toBe("error: there is no kubeconfig at /nowhere/config; name another file with --kubeconfig\n");
  });

  it("shows on a terminal how far it is, and leaves no trace of it", async () => {
    const { err } = await run(["snapshot"], { connect: fakeCluster(objects), isTty: true });
    expect(err).toContain("\r\u001b[Kreading Pod: 2");
    expect(err.endsWith("\r\u001b[K")).toBe(true);
  });

  it.each([
    ["standard output as a file name", ["-o", "-"], "/dev/stdout"],
    ["a salt without hashing", ["--salt", "x"], "--hash-names"],
    ["a label to keep without hashing", ["--keep-label", "x"], "--hash-names"],
    ["an option nobody knows", ["--nonsense"], "--nonsense"],
  ])("ends with 2 for %s", async (_, args, expected) => {
    const { code, err } = await run(["snapshot", ...args], { connect: fakeCluster(objects) });
    expect(code).toBe(2);
    expect(err).toMatch(/^error: /);
    expect(err).toContain(expected);
  });
});

describe("reading snapshots", () => {
  const header = { kind: "Snapshot", version: 1, time: "2026-01-01T00:00:00Z", region: "us-east-1" };
  const list = { apiVersion: "v1", kind: "List", items: objects.slice(0, 1) };
  const lines = (...values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const packed = (text: string): FakeFile => ({ bytes: gzipSync(text) });
  const planOf = (file: string | FakeFile) => run(["plan", "-f", "it"], { files: { it: file } });

  /** An archive may have many parts: three hundred of a MiB each. */
  const mebibyte = gzipSync(Buffer.alloc(1024 * 1024));
  const bomb: FakeFile = { bytes: Buffer.concat(Array.from({ length: 300 }, () => mebibyte)) };

  it("reads it unpacked, too", async () => {
    expect((await planOf(packed(lines(header, list)))).out).toBe("No pending pods.\n");
    expect((await planOf(lines(header, list))).out).toBe("No pending pods.\n");
  });

  it("reads manifests that are compressed", async () => {
    const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a}]}\n";
    expect((await planOf(packed(pod))).out).toContain("1 pod");
  });

  it("converts what is in it", async () => {
    const io = fakeIo({ files: { it: packed(lines(header, list)) } });
    expect(await main(["convert", "-f", "it"], io)).toBe(0);
    expect(io.out()).toContain("kind: NodePool");
  });

  it.each([
    [
      "of a newer version",
      packed(lines({ ...header, version: 2 }, list)),
      "snapshot version 2 is not supported (expected 1)",
    ],
    ["that ends after its header", packed(lines(header)), "it has no list of objects"],
    ["whose list is none", packed(lines(header, { items: [1] })), "it has no list of objects"],
    ["with a trap in it", packed(lines(header).concat('{"items":[{"__proto__":{}}]}\n')), "it has no list of objects"],
    ["that is cut short", { bytes: packed(lines(header, list)).bytes.subarray(0, 60) }, "truncated or damaged"],
    ["that is a bomb", bomb, "unpacks to more than 256 MiB"],
    ["that is a manifest too long", packed(" ".repeat(33 * 1024 * 1024)), "exceeds the limit of 32 MiB"],
  ])("refuses one %s", async (_, file, expected) => {
    const { code, err } = await planOf(file);
    expect(code).toBe(1);
    expect(err).toMatch(/^it:1:1: error: /);
    expect(err).toContain(expected);
  });

  it("names the object in what it says of it", async () => {
    const sick = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b" }, spec: { containers: [] } };
    const { code, err } = await planOf(packed(lines(header, { ...list, items: [sick] })));
    expect(code).toBe(1);
    expect(err).toContain("it#Pod/b/a:1:1: error: spec.containers: ");
  });

  it("01 §3.2.1 plans at the time of the snapshot", async () => {
    const leaving = { metadata: { name: "n", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const held = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", annotations: { "karpenter.sh/do-not-disrupt": "1h" } },
      spec: { nodeName: "n", containers: [{ name: "a" }] },
      status: { phase: "Running", startTime: "2025-12-31T23:30:00Z" },
    };
    const items = [{ apiVersion: "v1", kind: "Node", ...leaving }, held];
    const file = packed(lines(header, { ...list, items }));
    expect((await planOf(file)).out).toContain("No pending pods.");
    const later = await run(["plan", "-f", "it", "--now", "2026-01-02T00:00:00Z"], { files: { it: file } });
    expect(later.out).toContain("1 pod");
  });

  it("plans in the region of the snapshot", async () => {
    const pending = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "a" }] } };
    const inRegion = (region: string) =>
      packed(lines({ ...header, provider: "aws", region }, { ...list, items: [...list.items, pending] }));
    const zones = async (region: string, ...args: readonly string[]) => {
      const ran = await run(["plan", "-f", "it", "-o", "json", ...args], { files: { it: inRegion(region) } });
      const [node] = JSON.parse(ran.out).newNodes as readonly { zones: readonly string[] }[];
      return node?.zones[0];
    };
    expect(await zones("us-east-1")).toBe("us-east-1a");
    expect(await zones("us-west-2")).toBe("us-west-2a");
    expect(await zones("us-west-2", "--region", "us-east-1")).toBe("us-east-1a");
    expect(await zones("eu-west-1")).toBe("eu-west-1a");
    expect(await run(["plan", "-f", "it"], { files: { it: inRegion("mars-1") } })).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^error: the cluster is in region mars-1: no instance types are known .*; choose another with --region\n$/,
      ),
    });
  });
});
