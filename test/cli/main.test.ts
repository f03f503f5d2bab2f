import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { Admission } from "../../src/api/admission.ts";
import { karpenterKindOf, karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { main, program } from "../../src/cli/main.ts";
import { cliReference } from "../../src/cli/reference.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const root = join(import.meta.dirname, "..", "..");

async function run(...args: readonly string[]) {
  const io = fakeIo();
  const code = await main(args, io);
  return { code, out: io.out(), err: io.err() };
}

describe("the command line", () => {
  it("says what works and what to try when called alone", async () => {
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain("npx karpenter convert -f examples/v1beta1.yaml");
  });

  it("prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(await run("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it.each([[["nonsense"]], [["crds", "--provider", "gcp"]], [["convert"]], [["crds", "--nonsense"]]])(
    "ends %j with the usage code and a sentence",
    async (args) => {
      const { code, err } = await run(...args);
      expect(code).toBe(2);
      expect(err).toMatch(/^error: /);
    },
  );

  it("has a reference that says what --help says: npm run docs writes it", () => {
    const written = readFileSync(join(root, "docs", "cli.md"), "utf8");
    expect(written).toBe(cliReference(program(fakeIo())));
  });
});

describe("karpenter crds", () => {
  const documents = (text: string) =>
    parseAllDocuments(text).map((one) => one.toJS() as { metadata: { name: string } });

  it("01 §1.1 prints every kind by default, as upstream names and shows them", async () => {
    const crds = documents((await run("crds")).out);
    expect(crds.map(({ metadata }) => metadata.name)).toEqual([
      "nodepools.karpenter.sh",
      "nodeclaims.karpenter.sh",
      "nodeoverlays.karpenter.sh",
      "capacitybuffers.autoscaling.x-k8s.io",
      "ec2nodeclasses.karpenter.k8s.aws",
      "kwoknodeclasses.karpenter.kwok.sh",
    ]);
    const [nodePool] = crds as unknown as {
      spec: { versions: { subresources: unknown; additionalPrinterColumns: { name: string }[] }[] };
    }[];
    expect(nodePool?.spec.versions[0]?.subresources).toEqual({
      scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
      status: {},
    });
    expect(nodePool?.spec.versions[0]?.additionalPrinterColumns.map(({ name }) => name)).toEqual([
      "NodeClass",
      "Nodes",
      "Ready",
      "Age",
      "Weight",
      "CPU",
      "Memory",
    ]);
  });

  it.each(["NodePool", "nodepools", "nodepool", "nodepools.karpenter.sh"])("finds a kind by %s", async (name) => {
    expect(documents((await run("crds", name)).out)).toHaveLength(1);
  });

  it("01 §1.1 finds a kind by its short name", async () => {
    expect((await run("crds", "ec2nc")).out).toContain("kind: EC2NodeClass");
  });

  it.each([
    ["kwok", ["NodePool", "NodeClaim", "NodeOverlay", "CapacityBuffer", "KWOKNodeClass"]],
    ["aws", ["NodePool", "NodeClaim", "NodeOverlay", "CapacityBuffer", "EC2NodeClass"]],
    ["azure", ["NodePool", "NodeClaim", "NodeOverlay", "CapacityBuffer"]],
  ] as const)("provider %s has its own node class alone", (provider, kinds) => {
    expect(karpenterKindsOf(provider).map(({ kind }) => kind)).toEqual(kinds);
  });

  it("writes the label rules of one provider only", async () => {
    expect((await run("crds", "NodePool", "--provider", "kwok")).out).not.toContain("karpenter.k8s.aws");
    expect((await run("crds", "NodePool", "--provider", "aws")).out).not.toContain("karpenter.kwok.sh");
  });

  it("names the kinds there are when asked for another", async () => {
    const { code, err } = await run("crds", "Provisioner");
    expect(code).toBe(2);
    expect(err).toContain("NodePool, NodeClaim");
  });

  it("writes one file a kind into a folder", async () => {
    const { code, out } = await run("crds", "--output-dir", "crds", "--provider", "aws");
    expect(code).toBe(0);
    expect(out.split("\n")).toContain("crds/nodepools.karpenter.sh.yaml");
  });
});

describe("examples", () => {
  const folder = join(root, "examples");
  const admission = new Admission("all");
  it.each(readdirSync(folder).filter((file) => file.endsWith(".yaml")))(
    "%s converts to objects that are admitted",
    async (file) => {
      const io = fakeIo({ files: { "example.yaml": readFileSync(join(folder, file), "utf8") } });
      expect(await main(["convert", "-f", "example.yaml"], io)).toBe(0);
      for (const document of parseAllDocuments(io.out())) {
        const object = document.toJS() as { apiVersion: string; kind: string };
        if (karpenterKindOf(object.apiVersion, object.kind) === undefined) continue; // workloads pass through untouched
        expect(admission.admit(object, { strict: true }).problems).toEqual([]);
      }
    },
  );
});
