import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import type { DiffReport } from "../../src/cli/diff/diff-report.ts";
import { diffCommand } from "../../src/cli/diff-command.ts";
import type { Connect } from "../../src/cli/live-cluster.ts";
import { type FakeWorld, fakeIo } from "../conversion/fake-io.ts";
import { fakeCluster, stored } from "../snapshot/fake-cluster.ts";

async function diff(args: readonly string[], { connect, ...world }: FakeWorld & { readonly connect?: Connect } = {}) {
  const io = fakeIo(world);
  try {
    const command = diffCommand(io, { ...(connect && { connect }) });
    await new Command("karpenter").addCommand(command).parseAsync(["diff", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return { out: io.out(), err: io.err(), code: io.code() ?? 0 };
}

interface Compared {
  readonly report: DiffReport;
  readonly code: number;
}

/** Compares files as JSON; `change` may be empty. */
async function compared(base: string, change: string, ...args: readonly string[]): Promise<Compared> {
  const files = { "base.yaml": base, "change.yaml": change };
  const given = change === "" ? [] : ["-f", "change.yaml"];
  const now = ["--now", "2026-01-15T12:00:00Z"];
  const { out, err, code } = await diff(["--base", "base.yaml", ...given, "-o", "json", ...now, ...args], { files });
  if (out === "") throw new Error(`exit ${code}\n${err}`);
  return { report: JSON.parse(out) as DiffReport, code };
}

function pool(name: string, { labels = "", requirement = "", spec = "" } = {}): string {
  return `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ${name}}
spec:
  ${spec}
  template:
    metadata: {labels: {${labels}}}
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ${requirement}
---`;
}

/** A claim of the pool `default`, its Node and one pod on it. */
function node(name: string, { zone = "test-zone-a", annotations = "{}", cpu = "3" } = {}): string {
  return `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: ${name}
  labels:
    karpenter.sh/nodepool: default
    node.kubernetes.io/instance-type: c-4x-amd64-linux
    topology.kubernetes.io/zone: ${zone}
    karpenter.sh/capacity-type: on-demand
---
{apiVersion: v1, kind: Node, metadata: {name: ${name}}}
---
apiVersion: v1
kind: Pod
metadata: {name: on-${name}, annotations: ${annotations}}
spec: {nodeName: ${name}, containers: [{name: app, resources: {requests: {cpu: "${cpu}"}}}]}
---`;
}

function deployment(name: string, replicas: number, cpu = "1"): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: app, resources: {requests: {cpu: "${cpu}"}}}]}
---`;
}

describe("karpenter diff of files", () => {
  it("shows the nodes that come when a workload is scaled, and the price before and after", async () => {
    const files = {
      "base.yaml": `${pool("default")}${deployment("web", 3)}`,
      "change.yaml": deployment("web", 6),
    };
    const { out, err, code } = await diff(["--base", "base.yaml", "-f", "change.yaml"], { files });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toBe(`CHANGE   KIND        NAME
changed  Deployment  web

Nodes:
- 1 × new c-4x-amd64-linux (on-demand, any of 4 zones) of default, $0.1086/hour: default/web ×3
+ 1 × new c-8x-amd64-linux (on-demand, any of 4 zones) of default, $0.2172/hour: default/web ×6

Pods:
  move: default/web ×3 from new c-4x-amd64-linux (on-demand, any of 4 zones) of default to new c-8x-amd64-linux (on-demand, any of 4 zones) of default
  new: default/web ×3 to new c-8x-amd64-linux (on-demand, any of 4 zones) of default

CLUSTER              BEFORE   AFTER   CHANGE
nodes                     1       1
pods                      3       6       +3
cannot be scheduled       0       0
$/hour               0.1086  0.2172  +0.1086
$/month               79.27  158.54   +79.27
Price: made up: no cloud offers these instance types.

1 node comes, 1 node goes, 3 pods move, $79.27/month more.
`);
  });

  it("prints the same bytes twice", async () => {
    const files = { "base.yaml": `${pool("default")}${deployment("web", 30)}`, "change.yaml": deployment("api", 60) };
    const args = ["--base", "base.yaml", "-f", "change.yaml", "-o", "json"];
    expect((await diff(args, { files })).out).toBe((await diff(args, { files })).out);
  });

  it("cuts long lists of the table, and has all of it as JSON", async () => {
    const many = Array.from({ length: 45 }, (_, index) => deployment(`web${index}x`, 1, "100m")).join("");
    const files = { "base.yaml": pool("default"), "change.yaml": many };
    const { out } = await diff(["--base", "base.yaml", "-f", "change.yaml"], { files });
    expect(out.match(/^ {2}new: /gm)).toHaveLength(40);
    expect(out).toContain("  … and 5 more; -o json has them all\n");
    expect((await compared(pool("default"), many)).report.pods.come).toHaveLength(45);
  });

  it("says that there is no difference; only with --exit-code a difference has a code of its own", async () => {
    const base = `${pool("default")}${deployment("web", 3)}`;
    const same = await compared(base, base, "--exit-code");
    expect(same.code).toBe(0);
    expect(same.report).toMatchObject({ isDifferent: false, nodes: { come: [], go: [], drift: [] }, limits: [] });
    expect(same.report.change.map(({ change }) => change)).toEqual(["unchanged", "unchanged"]);
    expect((await compared(base, deployment("web", 9), "--exit-code")).code).toBe(4);
    expect((await compared(base, deployment("web", 9))).code).toBe(0);
  });

  it("ends with 3 where a pod can no longer be scheduled, and names the limit that changed", async () => {
    const base = `${pool("default")}${deployment("web", 3)}`;
    const { report, code } = await compared(base, pool("default", { spec: 'limits: {cpu: "2"}' }));
    expect(code).toBe(3);
    expect(report.pods.noLongerSchedulable.map(({ pod }) => pod).length).toBeGreaterThan(0);
    expect(report.limits).toEqual([
      { nodePool: "default", resource: "cpu", before: { used: "4" }, after: { limit: "2", used: expect.any(String) } },
    ]);
  });

  it("ends with 3 where a pod of the change has no place, and 0 where one finds it", async () => {
    const base = `${pool("default")}${deployment("huge", 1, "4000")}`;
    expect((await compared(pool("default"), deployment("huge", 1, "4000"))).code).toBe(3);
    const { report, code } = await compared(base, deployment("huge", 1, "2"));
    expect(code).toBe(0);
    expect(report.pods.nowSchedulable.map(({ pod }) => pod)).toEqual(["default/huge-0"]);
    expect((await compared(base, deployment("web", 1))).code).toBe(0); // it could not be scheduled before either
  });
});

describe("nodes that drift by a change", () => {
  const cluster = `${pool("default")}${node("a")}${node("b", { zone: "test-zone-b" })}`;

  it("03:M-7 a changed template drifts all nodes of the pool; they are replaced and their pods move", async () => {
    const { report, code } = await compared(cluster, pool("default", { labels: "team: a" }));
    expect(code).toBe(0);
    expect(report.nodes.drift).toEqual([
      { node: "a", nodeClaim: "a", nodePool: "default", reason: "NodePoolDrifted", isReplaced: true, atATime: 1 },
      { node: "b", nodeClaim: "b", nodePool: "default", reason: "NodePoolDrifted", isReplaced: true, atATime: 1 },
    ]);
    expect(report.nodes.go.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(report.nodes.come.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0);
    expect(report.pods.move.map(({ pod, from }) => [pod, from])).toEqual([
      ["default/on-a", "a"],
      ["default/on-b", "b"],
    ]);
  });

  it("03:M-7 changed requirements drift the nodes that no longer meet them", async () => {
    const requirement = "- {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-b]}";
    const { report } = await compared(cluster, pool("default", { requirement }));
    expect(report.nodes.drift.map(({ node: name, reason }) => [name, reason])).toEqual([["a", "RequirementsDrifted"]]);
  });

  it("01 §6.1 weight, limits and disruption are no part of the template", async () => {
    const spec = 'weight: 10\n  limits: {cpu: "1000"}\n  disruption: {consolidateAfter: 10m}';
    expect((await compared(cluster, pool("default", { spec }))).report.nodes.drift).toEqual([]);
  });

  it("03:D-17 a node with a protected pod drifts and stays, 03:D-21 also under a budget that never opens", async () => {
    const held = `${pool("default")}${node("a", { annotations: '{karpenter.sh/do-not-disrupt: "true"}' })}`;
    const byPod = (await compared(held, pool("default", { labels: "team: a" }))).report;
    expect(byPod.nodes.drift).toMatchObject([{ node: "a", isReplaced: false }]);
    expect(byPod.nodes.drift[0]?.keptBecause).toContain("do-not-disrupt");
    expect(byPod.nodes.go).toEqual([]);
    const spec = 'disruption: {consolidateAfter: 0s, budgets: [{nodes: "0"}]}';
    const byBudget = (await compared(cluster, pool("default", { labels: "team: a", spec }))).report;
    expect(byBudget.nodes.drift.map(({ isReplaced }) => isReplaced)).toEqual([false, false]);
  });

  it.each([
    ["10%", "", "its budgets let 1 of 2 drifted nodes go at a time"],
    ["100%", "", undefined],
    ["0", ", schedule: '@daily', duration: 23h59m", "its budgets let none of 2 drifted nodes go before "],
  ])("03:D-21 a budget of %s says how many go at a time", async (nodes, window, expected) => {
    const spec = `disruption: {consolidateAfter: 0s, budgets: [{nodes: "${nodes}"${window}}]}`;
    const files = { "base.yaml": cluster, "change.yaml": pool("default", { labels: "team: a", spec }) };
    const args = ["--base", "base.yaml", "-f", "change.yaml", "--now", "2026-01-15T12:00:00Z"];
    const { out: text } = await diff(args, { files });
    if (expected === undefined) expect(text).not.toContain("its budgets let");
    else expect(text).toContain(expected);
  });

  it("01 §6.2 a changed EC2NodeClass drifts its nodes; selectors that AWS resolves are a note", async () => {
    const ec2 = (role: string, alias: string) => `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: ${role}
  amiSelectorTerms: [{alias: "${alias}"}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
---`;
    const base = `${cluster}${ec2("one", "al2023@latest")}`
      .replaceAll("group: karpenter.kwok.sh, kind: KWOKNodeClass", "group: karpenter.k8s.aws, kind: EC2NodeClass")
      .replaceAll("c-4x-amd64-linux", "c5.xlarge")
      .replaceAll("test-zone-", "us-east-1");
    const role = (await compared(base, ec2("two", "al2023@latest"), "--region", "us-east-1")).report;
    expect(role.nodes.drift.map(({ node: name, reason }) => [name, reason])).toEqual([
      ["a", "NodeClassDrift"],
      ["b", "NodeClassDrift"],
    ]);
    const image = (await compared(base, ec2("one", "al2023@v20240807"), "--region", "us-east-1")).report;
    expect(image.nodes.drift).toEqual([]);
    expect(image.notes.come).toEqual([
      "EC2NodeClass default: amiSelectorTerms changed; nodes that no longer match drift too, which only AWS can tell",
    ]);
  });
});

describe("--delete", () => {
  it("takes a workload with its pods, and the nodes they needed", async () => {
    const base = `${pool("default")}${deployment("web", 3)}`;
    const { report, code } = await compared(base, "", "--delete", "deploy/web");
    expect(code).toBe(0);
    expect(report.change).toEqual([{ change: "deleted", kind: "Deployment", name: "web" }]);
    expect(report.pods.go).toEqual(["default/web-0", "default/web-1", "default/web-2"]);
    expect(report.nodes.go.map(({ count, instanceType }) => [count, instanceType])).toEqual([[1, "c-4x-amd64-linux"]]);
    expect(report.after.pricePerHour).toBe(0);
  });

  it("takes a NodePool with its nodes: their pods need another pool", async () => {
    const base = `${pool("default")}${node("a")}`;
    const alone = await compared(base, "", "--delete", "nodepool/default");
    expect(alone.code).toBe(3);
    expect(alone.report.nodes.go.map(({ name }) => name)).toEqual(["a"]);
    expect(alone.report.pods.noLongerSchedulable.map(({ pod }) => pod)).toEqual(["default/on-a"]);
    const replaced = await compared(base, pool("other"), "--delete", "nodepools.karpenter.sh/default");
    expect(replaced.code).toBe(0);
    expect(replaced.report.nodes.come.map(({ nodePool }) => nodePool)).toEqual(["other"]);
  });

  it.each(["node/a", "nodeclaim/a"])("takes %s with what belongs to it", async (reference) => {
    const { report } = await compared(`${pool("default")}${node("a")}`, "", "--delete", reference);
    expect(report.nodes.go.map(({ name }) => name)).toEqual(["a"]);
    expect(report.pods.move.map(({ pod }) => pod)).toEqual(["default/on-a"]);
  });

  it("takes a Namespace with everything in it", async () => {
    const inShop = deployment("web", 2).replace("metadata: {name: web}", "metadata: {name: web, namespace: shop}");
    const base = `${pool("default")}\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---${inShop}`;
    expect((await compared(base, "", "--delete", "ns/shop")).report.pods.go).toEqual(["shop/web-0", "shop/web-1"]);
  });

  it("helps with names that are not there", async () => {
    const files = { "base.yaml": `${pool("default")}${deployment("web", 1)}` };
    const ran = await diff(["--base", "base.yaml", "--delete", "deployment/wbe", "--delete", "nodepol/x"], { files });
    expect(ran.code).toBe(1);
    expect(ran.err).toBe(
      "error: --delete deployment/wbe: there is no Deployment wbe; did you mean deployment/web?\n" +
        "error: --delete nodepol/x: there is no object of kind nodepol; did you mean NodePool?\n" +
        "2 errors; nothing was compared\n",
    );
  });
});

describe("karpenter diff with odd input", () => {
  const files = { "base.yaml": pool("default"), "empty.yaml": "", "broken.yaml": "a: [", "bad.yaml": "kind: 3" };

  it.each([
    [["--base", "base.yaml"], 2, "no change"],
    [["--base", "base.yaml", "--delete", "web"], 2, "Expected KIND/NAME"],
    [["--base", "base.yaml", "--delete", "a/b/c/d"], 2, "Expected KIND/NAME"],
    [["--base", "base.yaml", "--context", "x", "-f", "empty.yaml"], 2, "choose one"],
    [["--base", "-", "-f", "-"], 2, "standard input"],
    [["--base", "base.yaml", "-f", "missing.yaml"], 1, "missing.yaml"],
    [["--base", "base.yaml", "-f", "broken.yaml"], 1, "broken.yaml"],
    [["--base", "broken.yaml", "-f", "base.yaml"], 1, "broken.yaml"],
    [["--base", "base.yaml", "-f", "bad.yaml"], 1, "bad.yaml"],
  ])("%j ends with %i", async (args, code, text) => {
    const ran = await diff(args, { files });
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(text);
  });

  it("compares with a cluster in which there is nothing", async () => {
    const nothing = {
      "base.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n",
      "change.yaml": `${pool("default")}${deployment("web", 1)}`,
    };
    const ran = await diff(["--base", "base.yaml", "-f", "change.yaml", "-o", "json"], { files: nothing });
    expect(ran.code).toBe(0);
    expect((JSON.parse(ran.out) as DiffReport).nodes.come).toHaveLength(1);
  });
});

describe("karpenter diff of a live cluster", () => {
  const owned = (kind: string, name: string) => ({
    ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }],
  });
  const containers = [
    { name: "app", image: "app:1", imagePullPolicy: "Always", resources: { requests: { cpu: "1" } } },
  ];
  const liveSpec = { schedulerName: "default-scheduler", terminationGracePeriodSeconds: 30, restartPolicy: "Always" };
  const workload = (cpu = "1") => ({
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { ...liveSpec, containers: [{ ...containers[0], resources: { requests: { cpu } } }] },
    },
  });
  const running = { phase: "Running" };
  const objects = stored([
    ...parseAllDocuments(`${pool("default")}${node("a", { cpu: "500m" })}`.replace(/---\s*$/, "")).map(
      (one) => one.toJS() as KubeObject,
    ),
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" }, spec: workload() },
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "web-5d8f", namespace: "default", ...owned("Deployment", "web") },
      spec: workload(),
    },
    ...["web-5d8f-a", "web-5d8f-b"].map((name, index) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", labels: { app: "web" }, ...owned("ReplicaSet", "web-5d8f") },
      spec: { ...liveSpec, containers, ...(index === 0 && { nodeName: "a" }) },
      ...(index === 0 && { status: running }),
    })),
  ]);
  const live = async (change: string, ...args: readonly string[]): Promise<DiffReport> => {
    const given = ["-f", "change.yaml", "-o", "json", "--now", "2026-01-15T12:00:00Z"];
    const ran = await diff([...given, ...args], { connect: fakeCluster(objects), files: { "change.yaml": change } });
    if (ran.out === "") throw new Error(ran.err);
    return JSON.parse(ran.out) as DiffReport;
  };

  it("keeps the pods of a workload that is only scaled, and adds the difference", async () => {
    const { pods } = await live(deployment("web", 4, "1000m"));
    expect(pods).toMatchObject({ move: [], go: [] });
    expect(pods.come.map(({ pod }) => pod)).toEqual(["default/web-2", "default/web-3"]);
  });

  it("takes away pods without a node first", async () => {
    const { pods } = await live(deployment("web", 1));
    expect(pods).toMatchObject({ move: [], come: [], go: ["default/web-5d8f-b"] });
  });

  it("plans all pods anew where their template is another one", async () => {
    const { pods } = await live(deployment("web", 2, "2"));
    expect(pods.go).toEqual(["default/web-5d8f-a", "default/web-5d8f-b"]);
    expect(pods.come.map(({ pod }) => pod)).toEqual(["default/web-0", "default/web-1"]);
  });

  it("says why the cluster cannot be read", async () => {
    const connect = () => Promise.reject(new Error("connect ECONNREFUSED"));
    const ran = await diff(["-f", "x.yaml"], { connect, files: { "x.yaml": pool("default") } });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("connect ECONNREFUSED");
  });
});

describe("a file compared with itself", () => {
  const folder = join(import.meta.dirname, "..", "..", "examples");
  it.each(readdirSync(folder).filter((file) => file.endsWith(".yaml")))("%s makes no difference", async (file) => {
    const files = { "it.yaml": readFileSync(join(folder, file), "utf8") };
    const region = /EC2NodeClass|AWSNodeTemplate/.test(files["it.yaml"]) ? ["--region", "us-west-2"] : [];
    const ran = await diff(["--base", "it.yaml", "-f", "it.yaml", "--exit-code", ...region], { files });
    expect(ran.code).toBe(0);
    expect(ran.out).toBe("No difference: the same nodes, pods and price.\n");
  });
});
