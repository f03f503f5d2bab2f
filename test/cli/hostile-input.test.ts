import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

async function run(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const io = fakeIo({ files });
  const code = await main(args, io);
  return { code, out: io.out(), err: io.err() };
}

describe("input that is nested too deep", () => {
  const depth = 15_000;
  const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":';
  const deep = {
    "objects.json": `${pod}${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`,
    "arrays.json": `${pod}${"[".repeat(depth * 3)}${"]".repeat(depth * 3)}}`,
    "lists.json": `${'{"kind":"List","items":['.repeat(depth)}${"]}".repeat(depth)}`,
    "maps.yaml": `kind: Pod\nspec:\n${Array.from({ length: 500 }, (_, at) => `${" ".repeat(at + 1)}a:\n`).join("")}`,
    "flow.yaml": `kind: Pod\nspec: ${"[".repeat(depth * 3)}\n`,
    "closed-flow.yaml": `kind: Pod\nspec: ${"{a: ".repeat(depth)}1${"}".repeat(depth)}\n`,
    "sequences.yaml": `kind: Pod\nspec:\n  ${"- ".repeat(depth * 2)}x\n`,
  };

  describe.each([
    [["plan", "-f"]],
    [["explain", "pod", "a", "-f"]],
    [["explain", "node", "a", "-f"]],
    [["convert", "-f"]],
  ])("%j", (command) => {
    it.each(Object.keys(deep))("refuses %s with its place", async (name) => {
      const { code, err, out } = await run(deep, ...command, name);
      expect(err).toMatch(new RegExp(`^${name}:\\d+:\\d+: error: nested more than 200 levels deep`));
      expect([code, out]).toEqual([1, ""]);
    });
  });
});

describe("workloads that cannot be planned", () => {
  const deployment = (name: string, replicas: number, metadata: object = {}) =>
    JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, ...metadata },
      spec: {
        replicas,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } },
      },
    });

  it("are refused where they make too many pods in total", async () => {
    const files = { "a.yaml": Array.from({ length: 30 }, (_, at) => deployment(`d${at}`, 90_000)).join("\n---\n") };
    const { code, err, out } = await run(files, "plan", "-f", "a.yaml");
    expect(err).toMatch(/^a.yaml:5:\d+: error: spec.replicas: with this workload the input has 270,000 pods/);
    expect([code, out]).toEqual([1, ""]);
  });

  it("are refused where they own themselves", async () => {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u", controller: true };
    const files = { "a.json": deployment("web", 3, { ownerReferences: [owner] }) };
    const { code, err, out } = await run(files, "plan", "-f", "a.json");
    expect(err).toMatch(/^a.json:1:\d+: error: metadata.ownerReferences: Deployment default\/web is its own owner/);
    expect([code, out]).toEqual([1, ""]);
  });
});

describe("convert keeps large integers", () => {
  const exact = ["9007199254740993", "-9007199254740995", "123456789012345678901234567890"];
  const json = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"exact integer:5"},"a":[${exact.join(",")}]}`;
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\na: [${exact.join(", ")}]\nb: {c: 12}\n`;
  /** Of an older version, so that the document is written anew. */
  const old = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default
spec:
  limits: {cpu: ${exact[0]}}
  template:
    spec:
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
      requirements: []
`;

  it.each(["json", "yaml"])("as %s", async (format) => {
    for (const [name, text] of Object.entries({ "a.json": json, "a.yaml": yaml })) {
      const { code, out } = await run({ [name]: text }, "convert", "-o", format, "-f", name);
      expect(code).toBe(0);
      for (const digits of exact) expect(out).toMatch(new RegExp(`(?<![\\d"-])${digits}(?![\\d"])`));
    }
    const converted = await run({ "old.yaml": old }, "convert", "-o", format, "-f", "old.yaml");
    expect(converted.out).toContain(exact[0]);
    expect(converted.out).toContain("karpenter.sh/v1\n".trimEnd());
  });

  it("and changes nothing else", async () => {
    const { out } = await run({ "a.json": json }, "convert", "-o", "json", "-f", "a.json");
    expect(JSON.parse(out)).toEqual(JSON.parse(json));
  });
});
