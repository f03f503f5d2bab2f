import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { Admission } from "../../src/api/admission.ts";
import { labels } from "../../src/api/labels.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { plan, readScenario } from "./run.ts";

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;
const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
`;
const huge = `apiVersion: v1
kind: Pod
metadata: {name: huge}
spec: {containers: [{name: app, resources: {requests: {cpu: "1000"}}}]}
`;

interface ClaimSpec {
  readonly requirements: readonly { readonly key: string; readonly values: readonly string[] }[];
}

function planned(...texts: readonly string[]) {
  return { files: { "in.yaml": texts.join("---\n") } };
}

async function report(texts: readonly string[], ...args: readonly string[]): Promise<PlanReport> {
  const ran = await plan(["-f", "in.yaml", "-o", "json", ...args], planned(...texts));
  if (ran.out === "") throw new Error(ran.err);
  return JSON.parse(ran.out) as PlanReport;
}

describe("karpenter plan", () => {
  it("02:Z-2 static pools are priced, and have no part in the bound", async () => {
    const fixed = pool.replace("{name: default}", "{name: fixed}").replace("spec:\n", "spec:\n  replicas: 2\n");
    const { totals, newNodes } = await report([fixed]);
    expect(newNodes.map(({ nodePool, instanceType }) => [nodePool, instanceType])).toEqual([
      ["fixed", "c-1x-amd64-linux"],
      ["fixed", "c-1x-amd64-linux"],
    ]);
    expect(totals).toMatchObject({ newNodes: 2, resourceBoundPerHour: 0 });
    expect(totals.pricePerHour).toBeGreaterThan(0);
    expect(totals).not.toHaveProperty("gap");
    const both = await report([fixed, pool, web]);
    expect(both.totals.gap).toBeLessThan(1);
  });

  it("shows nodes, totals and the bound, and ends with 0 when every pod can be scheduled", async () => {
    const { out, err, code } = await plan(["-f", "in.yaml"], planned(pool, web));
    expect(out).toBe(`NODES  POOL     INSTANCE TYPE     CAPACITY   ZONE               $/HOUR   TOTAL
    1  default  c-4x-amd64-linux  on-demand  test-zone-a,b,c,d  0.1086  0.1086
       4 vCPU, 8Gi, 77% cpu and 38% memory requested: default/web ×3

3 pods: 3 on 1 new node.
$0.1086/hour, $79.27/month; 33.3% above the resource bound of $0.0815/hour.
Price: made up: no cloud offers these instance types.
`);
    expect([err, code]).toEqual(["", 0]);
  });

  it("says what cannot be scheduled and why, and ends with 3", async () => {
    const { out, code } = await plan(["-f", "in.yaml"], planned(pool, web, huge));
    expect(out).toContain("4 pods: 3 on 1 new node, 1 cannot be scheduled.\n");
    expect(out).toMatch(/Unschedulable:\n {2}default\/huge: no instance type has enough resources[^\n]*\n/);
    expect(code).toBe(3);
  });

  it("uses a pool of its own when none is given, and says so", async () => {
    const { out, code } = await plan(["-f", "in.yaml"], planned(web));
    expect(out).toContain("note: no NodePool was given; using a default one (linux, amd64, on-demand)");
    expect(code).toBe(0);
    expect((await report([pool, web])).notes).toEqual([]);
  });

  it("prints JSON with the fields of upstream's oracle and more, and the same in YAML", async () => {
    const json = await report([pool, web, huge]);
    expect(json.newNodes).toMatchObject([
      {
        nodePool: "default",
        pods: ["default/web-0", "default/web-1", "default/web-2"],
        price: expect.closeTo(0.108589934592),
        priceSource: { kind: "simulated" },
        requirements: { [labels.nodePool]: "In [default]", [labels.os]: "In [linux]" },
        instanceType: "c-4x-amd64-linux",
        capacityType: "on-demand",
        zones: ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"],
        fill: { cpu: expect.closeTo(3 / 3.9) },
      },
    ]);
    expect(Object.keys(json.totals)).toEqual(
      expect.arrayContaining(["pods", "newNodes", "unschedulable", "pricePerHour"]),
    );
    expect(json.refusals).toMatchObject([{ pod: "default/huge", code: "instance-types" }]);
    const yaml = parse((await plan(["-f", "in.yaml", "-o", "yaml"], planned(pool, web, huge))).out) as PlanReport;
    expect(yaml.newNodes).toEqual(json.newNodes);
    expect(yaml.unschedulable).toEqual(json.unschedulable);
  });

  it("02:L-2 02:L-5 prints NodeClaims an API server would take, and the rest on standard error", async () => {
    const { out, err, code } = await plan(["-f", "in.yaml", "-o", "nodeclaims"], planned(pool, web, huge));
    const claims = parseAllDocuments(out).map((document) => document.toJS() as Record<string, never>);
    const admission = new Admission("kwok");
    expect(claims.map((claim) => admission.admit(claim, { strict: true }).problems)).toEqual([[]]);
    expect(claims[0]).toMatchObject({
      metadata: { generateName: "default-", labels: { "karpenter.sh/nodepool": "default" } },
      spec: { resources: { requests: { cpu: "3", memory: "3Gi", pods: "3" } }, expireAfter: "720h" },
    });
    const { requirements } = (claims[0]?.["spec"] ?? { requirements: [] }) as ClaimSpec;
    const values = (key: string) => requirements.find((one) => one.key === key)?.values;
    expect(values(labels.instanceType)).toContain("c-4x-amd64-linux");
    expect(values(labels.capacityType)).toEqual(["on-demand"]);
    expect(err).toContain("cannot be scheduled: default/huge: ");
    expect(code).toBe(3);
  });

  it("gives a node a row in the wide table, with all that is required of it", async () => {
    const { out } = await plan(["-f", "in.yaml", "-o", "wide"], planned(pool, web));
    expect(out).toContain("default/web-0,default/web-1,default/web-2");
    expect(out).toContain("kubernetes.io/os In [linux]");
  });

  it("colours what people read, and nothing else", async () => {
    const seen = async (world: object) =>
      (await plan(["-f", "in.yaml"], { ...planned(web), ...world })).out.includes("\u001b[");
    expect(await seen({ isTty: false })).toBe(false);
    expect(await seen({ isTty: true, env: { NO_COLOR: "1" } })).toBe(false);
    expect(await seen({ isTty: true })).toBe(true);
  });

  it("prints the same bytes twice; timings only when they are asked for", async () => {
    const json = async (...args: readonly string[]) =>
      (await plan(["-f", "in.yaml", "-o", "json", ...args], planned(pool, web, huge))).out;
    expect(await json()).toBe(await json());
    const { buildMs, solveMs, peakHeapMiB } = (JSON.parse(await json("--timings")) as PlanReport).totals;
    expect([buildMs, solveMs, peakHeapMiB]).toEqual(Array(3).fill(expect.any(Number)));
    expect(await json()).not.toMatch(/Ms"|heap/i);
  });

  it("answers the same to the same seed", async () => {
    const spread = web.replace(
      "spec: {containers",
      "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}], containers",
    );
    const zones = async (seed: string) =>
      (await report([pool, spread], "--seed", seed)).newNodes.map((node) => node.zones.join());
    const seeds = ["1", "2", "3", "4", "5", "6"];
    const [once, again] = [await Promise.all(seeds.map(zones)), await Promise.all(seeds.map(zones))];
    expect(again).toEqual(once);
    expect(new Set(once.map(String)).size).toBeGreaterThan(1);
  });

  it("reads standard input, and tells which kinds it does not look at", async () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
    const { out, code } = await plan(["-f", "-"], { stdin: [pool, web, service].join("---\n") });
    expect(out).toContain("note: ignored kinds: Service (1)");
    expect(code).toBe(0);
  });

  it("has nothing to plan without pending pods", async () => {
    const { out, code } = await plan(["-f", "in.yaml"], planned(pool));
    expect([out, code]).toEqual(["No pending pods.\n", 0]);
  });
});

describe("karpenter plan, told nonsense", () => {
  it.each([
    ["no file", []],
    ["an output nobody knows", ["-f", "in.yaml", "-o", "xml"]],
    ["a policy nobody knows", ["-f", "in.yaml", "--preferences", "Maybe"]],
    ["a seed that is no number", ["-f", "in.yaml", "--seed", "x"]],
    ["a time that is none", ["-f", "in.yaml", "--now", "noon"]],
    ["a region nobody knows", ["-f", "in.yaml", "--region", "mars"]],
    ["a region with other types", ["-f", "in.yaml", "--region", "us-east-1", "--instance-types", "kwok"]],
    ["no number of fake types", ["-f", "in.yaml", "--instance-types", "fake:none"]],
  ])("ends with 2 for %s", async (_, args) => {
    const { out, err, code } = await plan(args, planned(pool));
    expect([out, code]).toEqual(["", 2]);
    expect(err).toMatch(/^error: /);
  });

  it.each<[string, string, string]>([
    [
      "a quantity that is none",
      huge.replace('"1000"', "1 core"),
      "in.yaml:4:56: error: spec.containers[0].resources.requests.cpu: ",
    ],
    [
      "a pool an API server would refuse",
      pool.replace("operator: In", "operator: Within"),
      "in.yaml:9:37: error: spec.template.spec.requirements[0].operator: ",
    ],
    [
      "a pool without requirements",
      pool.replace(/ {6}requirements:[\s\S]*/, ""),
      "in.yaml:6:5: error: spec.template.spec.requirements: ",
    ],
    [
      "a pool that restricts our labels",
      pool.replace("kubernetes.io/arch", "karpenter.sh/nodepool"),
      "in.yaml:9:12: error: spec.template.spec.requirements[0].key: ",
    ],
    [
      "a field a pool does not have",
      pool.replace("spec:\n", "spec:\n  wieght: 3\n"),
      "in.yaml:5:3: error: spec.wieght: ",
    ],
    [
      "two pods of one name",
      `${huge}---\n${huge}`,
      "in.yaml:8:12: error: metadata.name: Pod default/huge is defined twice",
    ],
    ["a version nobody knows", pool.replace("sh/v1", "sh/v2"), "in.yaml:1:1: error: apiVersion: "],
    ["no YAML", "a: [\n", "in.yaml:"],
  ])("ends with 1 for %s, and says where", async (_, text, expected) => {
    const { out, err, code } = await plan(["-f", "in.yaml"], planned(text));
    expect([out, code]).toEqual(["", 1]);
    expect(err).toContain(expected);
    expect(err).toMatch(/\d+ errors?; nothing was planned\n$/);
  });

  it("says where in a long file, too", async () => {
    const many = Array.from({ length: 1500 }, (_, index) => huge.replace("huge", `pod-${index}`));
    const { err, code } = await plan(["-f", "in.yaml"], planned(...many, huge.replace('"1000"', "x")));
    expect(code).toBe(1);
    expect(err).toContain(`in.yaml:${1500 * 5 + 4}:56: error: spec.containers[0].resources.requests.cpu: `);
  });

  it("warns of a field it does not know and goes on", async () => {
    const { err, code } = await plan(
      ["-f", "in.yaml"],
      planned(pool, huge.replace("spec: {", "spec: {tolerations: [], toleration: [], ").replace('"1000"', "1")),
    );
    expect(err).toContain("warning: spec.toleration: ");
    expect(code).toBe(0);
  });

  it("ends with 1 for a catalogue that cannot be read", async () => {
    const { err, code } = await plan(["-f", "in.yaml", "--instance-types", "types.json"], {
      files: { ...planned(pool).files, "types.json": "[{}]" },
    });
    expect(code).toBe(1);
    expect(err).toMatch(/^error: --instance-types types.json: /);
    expect((await plan(["-f", "in.yaml", "--instance-types", "none.json"], planned(pool))).code).toBe(1);
  });
});

describe("karpenter plan, with whose machines", () => {
  const ec2Pool = pool.replace(
    /nodeClassRef: .*/,
    "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}",
  );
  const west = ["--region", "us-west-2"];
  const ec2Class = (more = "", status = "") => `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
${more}${status}`;

  it("goes by the pools' node classes, the region, or what it is told", async () => {
    const type = async (texts: readonly string[], ...args: readonly string[]) =>
      (await report(texts, ...args)).newNodes[0]?.instanceType;
    expect(await type([pool, web])).toMatch(/^c-/);
    expect(await type([ec2Pool, web], "--region", "us-west-2")).toMatch(/^[a-z0-9-]+\.[a-z0-9]+$/);
    expect(await type([web], "--region", "us-east-1")).toMatch(/\./);
    expect(await type([web], "--provider", "aws", "--region", "us-west-2")).toMatch(/\./);
    expect(
      await type([pool.replace(/ {8}- \{key: kubernetes.io[^\n]*\n/g, ""), web], "--instance-types", "fake:9"),
    ).toMatch(/^fake-it-/);
    expect((await report([ec2Pool, web], "--provider", "kwok")).unschedulable["default/web-0"]).toBe(
      "no dynamic nodepools found",
    );
  });

  it("01 §2.2 takes a node class that is not given for ready, and one that says otherwise at its word", async () => {
    const sick = ec2Class(
      "",
      'status: {conditions: [{type: Ready, status: "False", reason: X, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}\n',
    );
    expect((await report([ec2Pool, ec2Class(), web], ...west)).totals.unschedulable).toBe(0);
    const { notes, totals } = await report([ec2Pool, sick, web], ...west);
    expect(totals.unschedulable).toBe(3);
    expect(notes).toEqual(["NodePool default is not used: it is not Ready"]);
  });

  it("04 §2.3 sizes nodes as their class says", async () => {
    const many = web.replace("replicas: 3", "replicas: 30").replace('cpu: "1"', "cpu: 10m").replace("1Gi", "10Mi");
    const nodes = async (nodeClass: string) => (await report([ec2Pool, nodeClass, many], ...west)).totals.newNodes;
    expect(await nodes(ec2Class())).toBe(1);
    expect(await nodes(ec2Class("  kubelet: {maxPods: 10}\n"))).toBe(3);
  });

  it("01 §7 plans with manifests of older versions, each guess a warning", async () => {
    const old = pool.replace("sh/v1", "sh/v1beta1").replace(/.*nodeClassRef.*\n/, "");
    const { out, err, code } = await plan(["-f", "in.yaml", "-o", "json", ...west], planned(old, web));
    expect(code).toBe(0);
    expect(err).toMatch(/^in\.yaml:6:5: warning: .*EC2NodeClass/);
    expect((JSON.parse(out) as PlanReport).newNodes).toMatchObject([{ capacityType: "on-demand" }]);
  });

  it("takes the flags of a scenario as they are", async () => {
    const text = readScenario("scheduling", "001-in-zone.yaml");
    const args = ["--spot-to-spot", "--nominated", "n1", "--preferences", "Ignore", "--min-values", "BestEffort"];
    expect((await plan(["-f", "in.yaml", ...args], planned(text))).code).toBe(0);
  });
});
