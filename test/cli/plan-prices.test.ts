import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { Random } from "../../src/util/random.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const onlyOf = (type: string, zone: string, capacityType: string) => `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [${type}]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [${zone}]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [${capacityType}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}
`;

async function run(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const io = fakeIo({ files });
  const code = await main([...args], io);
  return { code, out: io.out(), err: io.err() };
}

/** The plan of one pod on one type, with books. */
async function plan(books: Readonly<Record<string, string>>, pool: string, ...args: readonly string[]) {
  const paths = Object.keys(books).flatMap((name) => ["--prices", name]);
  const ran = await run({ ...books, "in.yaml": pool }, "plan", "-f", "in.yaml", "-o", "json", ...paths, ...args);
  return { ...ran, report: ran.out === "" ? undefined : (JSON.parse(ran.out) as PlanReport) };
}

const m5 = onlyOf("m5.large", "us-east-1a", "on-demand");
const m5Spot = onlyOf("m5.large", "us-east-1a", "spot");

const priceOf = async (book: string, pool: string, name = "prices.yaml") => {
  const { report, err } = await plan({ [name]: book }, pool);
  if (report === undefined) throw new Error(err);
  return report.newNodes[0];
};

/** What `aws pricing get-products` prints of one type. */
const product = (instanceType: string, usd: string, more: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({
    product: {
      productFamily: "Compute Instance",
      attributes: {
        instanceType,
        operatingSystem: "Linux",
        tenancy: "Shared",
        preInstalledSw: "NA",
        capacitystatus: "Used",
        regionCode: "us-east-1",
        ...more,
      },
      sku: "X",
    },
    serviceCode: "AmazonEC2",
    terms: { OnDemand: { "X.Y": { priceDimensions: { "X.Y.Z": { unit: "Hrs", pricePerUnit: { USD: usd } } } } } },
    publicationDate: "2026-10-30T20:31:00Z",
  });
const priceList = (...products: readonly string[]) => JSON.stringify({ FormatVersion: "aws_v1", PriceList: products });

describe("--prices", () => {
  it.each([
    ["YAML", "prices.yaml", "prices: [{type: m5.large, price: 0.05}]"],
    ["JSON", "prices.json", '{"prices": [{"type": "m5.large", "price": 0.05}]}'],
    ["CSV", "prices.csv", "# ours\ntype,zone,capacityType,price\nm5.large,,on-demand,$0.05\n"],
    [
      "CSV with titles of a spreadsheet",
      "p.csv",
      '"Instance Type","Price"\r\n"m5.large","0.05"\r\n'.replace("Instance Type", "instanceType"),
    ],
  ])("reads our own form in %s", async (_, name, text) => {
    expect(await priceOf(text, m5, name)).toMatchObject({
      price: 0.05,
      priceSource: { kind: "price-book", file: name },
    });
  });

  it("a price of a zone counts before one of all zones, spot is not on demand", async () => {
    const book = `
prices:
  - {type: m5.large, price: 0.08}
  - {type: m5.large, zone: us-east-1a, price: 0.07}
  - {type: m5.large, zone: us-east-1b, price: 0.06}
  - {type: m5.large, capacityType: spot, price: 0.02}`;
    expect((await priceOf(book, m5))?.price).toBe(0.07);
    expect((await priceOf(book, onlyOf("m5.large", "us-east-1d", "on-demand")))?.price).toBe(0.08);
    expect((await priceOf(book, m5Spot))?.price).toBe(0.02);
  });

  it("a discount is on the list price, of the type before the family before all, not on a written price", async () => {
    const book = `
prices: [{type: m5.large, capacityType: spot, price: 0.02}]
discounts:
  - {percent: 10}
  - {family: m5, percent: 25%, capacityType: on-demand}`;
    const list = { kind: "list", region: "us-east-1", date: "2026-07-20" };
    expect(await priceOf(book, m5)).toMatchObject({
      price: 0.096 * 0.75,
      priceSource: { kind: "discount", percent: 25, file: "prices.yaml", of: list },
    });
    expect((await priceOf(book, onlyOf("c5.large", "us-east-1a", "on-demand")))?.priceSource).toMatchObject({
      percent: 10,
    });
    expect((await priceOf(book, m5Spot))?.price).toBe(0.02);
  });

  it("04 §2.6 reads what aws pricing get-products prints: Linux, shared, of the region, in USD", async () => {
    const list = priceList(
      product("m5.large", "0.0000000000"),
      product("m5.large", "0.1880000000", { operatingSystem: "Windows" }),
      product("m5.large", "0.1020000000", { tenancy: "Dedicated" }),
      product("m5.large", "0.1110000000", { regionCode: "eu-west-1" }),
      product("m5.large", "0.0970000000"),
      "not json",
    );
    expect(await priceOf(list, m5, "list.json")).toMatchObject({
      price: 0.097,
      priceSource: { kind: "list", region: "us-east-1", date: "2026-10-30" },
    });
    const discounted = await plan({ "list.json": list, "ours.yaml": "discounts: [{percent: 50}]" }, m5);
    expect(discounted.report?.newNodes[0]?.price).toBe(0.0485);
  });

  it("04 §2.6 reads what aws ec2 describe-spot-price-history prints: the newest of each zone", async () => {
    const record = (SpotPrice: string, Timestamp: string, more = {}) => ({
      AvailabilityZone: "us-east-1a",
      InstanceType: "m5.large",
      ProductDescription: "Linux/UNIX",
      SpotPrice,
      Timestamp,
      ...more,
    });
    const history = JSON.stringify({
      SpotPriceHistory: [
        record("0.031", "2026-11-02T10:00:00+00:00"),
        record("0.030", "2026-11-01T10:00:00+00:00"),
        record("0.090", "2026-11-03T10:00:00+00:00", { ProductDescription: "Windows" }),
        record("0.020", "2026-11-03T10:00:00+00:00", { AvailabilityZone: "us-east-1b" }),
      ],
    });
    expect(await priceOf(history, m5Spot, "spot.json")).toMatchObject({
      price: 0.031,
      priceSource: { kind: "price-book", file: "spot.json", date: "2026-11-02" },
    });
  });

  it("makes a type available that has no embedded price", async () => {
    const pool = onlyOf("p5e.48xlarge", "us-west-2a", "on-demand").replace(/ +- \{key: topology[^\n]*\n/, "");
    expect((await plan({}, pool, "--region", "us-west-2")).report?.totals.unschedulable).toBe(1);
    const { report } = await plan(
      { "b.yaml": "prices: [{type: p5e.48xlarge, price: 60}]" },
      pool,
      "--region",
      "us-west-2",
    );
    expect(report?.newNodes[0]).toMatchObject({ instanceType: "p5e.48xlarge", price: 60 });
  });

  it("names the region where nothing else does", async () => {
    const pool = onlyOf("m5.large", "x", "on-demand").replace(/ +- \{key: topology[^\n]*\n/, "");
    const list = priceList(product("m5.large", "0.2", { regionCode: "eu-west-1" }));
    expect((await plan({ "list.json": list }, pool)).report).toMatchObject({
      region: "eu-west-1",
      newNodes: [{ price: 0.2 }],
    });
  });

  it("says how many types keep their price, and which are not offered", async () => {
    const { report } = await plan({ "b.yaml": "prices: [{type: m5.large, price: 1}, {type: m5.lage, price: 1}]" }, m5);
    expect(report?.notes).toEqual([
      "--prices has no price for 881 of 882 instance types; they keep the price they have without it",
      "--prices has prices of instance types that are not offered here: m5.lage",
    ]);
    expect((await plan({ "b.yaml": "discounts: [{percent: 1}]" }, m5)).report?.notes).toEqual([]);
  });

  it("names every problem of a file at once, with line and field", async () => {
    const yaml = `
prices:
  - {type: m5.large, price: free}
  - {price: 1}
  - {type: m5.large, capacityType: cheap, price: -1}
  - {type: c5.large, zoen: us-east-1a, price: 1}
  - {type: r5.large, price: 1}
  - {type: r5.large, price: 2}
  - nonsense
discounts: [{percent: 120}, {type: m5.large, family: m5, percent: 1}]
extra: 1`;
    const { code, err } = await plan({ "bad.yaml": yaml }, m5);
    expect(code).toBe(1);
    expect(err.trim().split("\n")).toEqual([
      expect.stringMatching(/^bad\.yaml:3:\d+: error: prices\[0\]\.price: "free" is not a number/),
      expect.stringMatching(/^bad\.yaml:4:\d+: error: prices\[1\]\.type: is missing/),
      expect.stringMatching(/^bad\.yaml:5:\d+: error: prices\[2\]\.capacityType: "cheap" is not a capacity type/),
      expect.stringMatching(/^bad\.yaml:5:\d+: error: prices\[2\]\.price: -1 is not a price/),
      expect.stringMatching(/^bad\.yaml:6:\d+: error: prices\[3\]\.zoen: is not a field/),
      expect.stringMatching(/^bad\.yaml:8:\d+: error: prices\[5\]: is written twice/),
      expect.stringMatching(/^bad\.yaml:9:\d+: error: prices\[6\]: is not an object/),
      expect.stringMatching(/^bad\.yaml:10:\d+: error: discounts\[0\]\.percent: 120 is not a discount/),
      expect.stringMatching(/^bad\.yaml:10:\d+: error: discounts\[1\]: names a type and a family/),
      expect.stringMatching(/^bad\.yaml:11:\d+: error: extra: is not a field/),
      expect.stringMatching(/nothing was planned$/),
    ]);
    const csv = "type,colour,price\nm5.large,red,x\n,,1\n";
    expect((await plan({ "bad.csv": csv }, m5)).err.trim().split("\n")).toEqual([
      expect.stringMatching(/^bad\.csv:1:6: error: "colour" is not a title/),
      expect.stringMatching(/^bad\.csv:2:14: error: price: "x" is not a number/),
      expect.stringMatching(/^bad\.csv:3:1: error: type: is missing/),
      expect.stringMatching(/nothing was planned$/),
    ]);
  });

  it.each([
    ["an empty file", "", /there is no manifest in this file: it is empty/],
    ["a text", "hello", /is not a price book/],
    ["a list", "[1]", /is not a price book/],
    ["no prices", "{}", /has neither prices nor discounts/],
    ["broken JSON", '{"PriceList": [', /b\.json:\d+:\d+: error/],
    [
      "a price list without Linux",
      priceList(product("m5.large", "1", { operatingSystem: "RHEL" })),
      /no price of a Linux/,
    ],
    ["a history without prices", '{"SpotPriceHistory": []}', /no spot price of Linux/],
  ])("refuses %s", async (_, text, expected) => {
    const { code, err } = await plan({ "b.json": text }, m5);
    expect(code).toBe(1);
    expect(err).toMatch(expected);
  });

  it("is used by instance-types and for KWOK's types, too", async () => {
    const files = { "b.yaml": "prices: [{type: m5.large, price: 0.01}, {type: c-1x-amd64-linux, price: 0.002}]" };
    const list = await run(
      files,
      "instance-types",
      "--region",
      "us-east-1",
      "-l",
      "instance-type=m5.large",
      "--prices",
      "b.yaml",
      "-o",
      "json",
    );
    expect(JSON.parse(list.out)).toMatchObject([{ prices: { "on-demand": 0.01 } }]);
    const pod = onlyOf("x", "y", "z").split("---")[1] ?? "";
    const kwok = await run({ ...files, "in.yaml": pod }, "plan", "-f", "in.yaml", "--prices", "b.yaml", "-o", "json");
    expect(JSON.parse(kwok.out)).toMatchObject({ newNodes: [{ instanceType: "c-1x-amd64-linux", price: 0.002 }] });
  });

  it("is used by explain, plan --disruption, plan --repack, top and diff alike", async () => {
    const node = `
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels:
    karpenter.sh/nodepool: default
    node.kubernetes.io/instance-type: m5.large
    topology.kubernetes.io/zone: us-east-1a
    karpenter.sh/capacity-type: on-demand
spec: {providerID: "aws:///us-east-1a/i-0123456789abcdef0"}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: node-1, labels: {karpenter.sh/nodepool: default}}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}
status: {nodeName: node-1, providerID: "aws:///us-east-1a/i-0123456789abcdef0"}
`;
    const files = {
      "in.yaml": m5,
      "cluster.yaml": m5.split("---")[0] + node,
      "b.yaml": "prices: [{type: m5.large, price: 7.5}]",
    };
    const ran = async (...args: readonly string[]) => (await run(files, ...args, "--prices", "b.yaml")).out;
    expect(await ran("explain", "pod", "web", "-f", "in.yaml")).toContain("$7.5000/hour (price book b.yaml)");
    expect(await ran("plan", "-f", "cluster.yaml", "--disruption")).toContain("$7.5000/hour");
    expect(await ran("plan", "-f", "cluster.yaml", "--repack")).toMatch(/today +1 +7\.5000/);
    expect(await ran("top", "-f", "cluster.yaml")).toContain("$7.5000/hour");
    expect(await ran("diff", "-f", "in.yaml", "--base", "cluster.yaml")).toContain("7.5000");
  });

  it("04 §2.6 plan --disruption, plan --repack and diff say where prices come from, and mark estimates", async () => {
    const claimed = (name: string, capacityType: string) => `
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: ${name}
  labels:
    karpenter.sh/nodepool: default
    node.kubernetes.io/instance-type: m5.2xlarge
    topology.kubernetes.io/zone: us-east-1a
    karpenter.sh/capacity-type: ${capacityType}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}
---
{apiVersion: v1, kind: Node, metadata: {name: ${name}}}
---
apiVersion: v1
kind: Pod
metadata: {name: on-${name}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]}
spec: {nodeName: ${name}, containers: [{name: app, resources: {requests: {cpu: 1500m}}}]}`;
    const pool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}`;
    const files = {
      "cluster.yaml": pool + claimed("a", "on-demand"),
      "empty.yaml": pool,
      "web.yaml": m5.split("---")[1] ?? "",
      "b.yaml": "discounts: [{percent: 10, capacityType: on-demand}]",
    };
    const now = ["--now", "2026-01-15T12:00:00Z"];
    const estimate = "Price: ~ estimated: the usual share spot cost of the price on demand in us-east-1 on 2026-08-22.";
    const discounted = "Price: 10% off (b.yaml), list price of us-east-1 on 2026-07-20.";

    const disruption = await run(files, "plan", "-f", "cluster.yaml", "--disruption", "--prices", "b.yaml", ...now);
    expect(disruption.out).toMatch(/new m5\.large of NodePool default \(spot, ~\$0\.\d{4}\/hour\)/);
    expect(disruption.out).toContain(`${discounted}\n${estimate}\n`);
    const json = await run(files, "plan", "-f", "cluster.yaml", "--disruption", "-o", "json", ...now);
    expect(JSON.parse(json.out)).toMatchObject({
      priceSources: [
        { source: { kind: "estimate", basis: "spot-share" }, isEstimate: true },
        { source: { kind: "list", region: "us-east-1", date: "2026-07-20" }, isEstimate: false, nodes: 1 },
      ],
    });

    const repack = await run(files, "plan", "-f", "cluster.yaml", "--repack", "--prices", "b.yaml", ...now);
    expect(repack.out).toContain(`${discounted}\n${estimate}\n`);

    const diff = await run(
      files,
      "diff",
      "--base",
      "cluster.yaml",
      "-f",
      "web.yaml",
      "--delete",
      "nodeclaim/a",
      ...now,
    );
    expect(diff.out).toMatch(/\+ 1 × new m5\.large \(spot, us-east-1a\) of default, ~\$0\.\d{4}\/hour/);
    expect(diff.out).toContain(`Price: list price of us-east-1 on 2026-07-20.\n${estimate}\n`);
    const same = await run(files, "diff", "--base", "cluster.yaml", "-f", "empty.yaml", ...now);
    expect(same.out).not.toContain("Price");
  });

  it("the plan charges what the book says, for random types, zones and capacity types", async () => {
    const random = new Random(7);
    const types = ["m5.large", "c6g.xlarge", "r7i.2xlarge", "t3.medium"];
    const zones = ["us-east-1a", "us-east-1b"];
    const kinds = ["on-demand", "spot"];
    const rows = types.flatMap((type) =>
      zones.flatMap((zone) =>
        kinds.map((kind) => ({ type, zone, kind, price: Math.round(random.next() * 1e4 + 1) / 1e4 })),
      ),
    );
    const csv = ["type,zone,capacityType,price", ...rows.map((row) => Object.values(row).join(","))].join("\n");
    for (const { type, zone, kind, price } of rows.filter((_, index) => index % 3 === 0)) {
      const { report } = await plan({ "b.csv": csv }, onlyOf(type, zone, kind).replace("default}", "default}"));
      expect(report?.newNodes).toMatchObject([{ instanceType: type, zones: [zone], capacityType: kind, price }]);
      expect(report?.totals.pricePerHour).toBe(price);
    }
  });
});
