import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const nodeClass = (name: string, spec: string) => `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: ${name} }
spec:
  role: nodes
  subnetSelectorTerms: [{ id: subnet-1 }]
  securityGroupSelectorTerms: [{ id: sg-1 }]
${spec}`;

const pool = (name: string) => `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: ${name} }
spec:
  template:
    metadata: { labels: { team: a } }
    spec:
      requirements: []
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: web }
      taints: [{ key: only, value: web, effect: NoSchedule }]
      startupTaints: [{ key: cilium, effect: NoExecute }]
`;

const al2023 = nodeClass("web", "  amiSelectorTerms: [{ alias: al2023@latest }]\n");

async function run(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const io = fakeIo({ files });
  const paths = Object.keys(files).flatMap((file) => ["-f", file]);
  const known = ["--cluster", "prod", "--endpoint", "https://k"];
  const code = await main(["aws", "user-data", ...paths, ...known, ...args], io);
  return { code, out: io.out(), err: io.err() };
}

describe("karpenter aws user-data", () => {
  it("04 §1.9 prints what a node of class and pool boots with", async () => {
    const { code, out, err } = await run({ "class.yaml": al2023, "pool.yaml": pool("web") }, "--cidr", "10.0.0.0/16");
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain("kind: NodeConfig");
    expect(out).toContain("maxPods: 29");
    expect(out).toContain("karpenter.sh/nodepool=web,team=a");
    for (const key of ["only", "cilium", "karpenter.sh/unregistered"]) expect(out).toContain(`key: ${key}`);
  });

  it("04 §1.9 the type decides the pods, and the output can be as EC2 takes it", async () => {
    const args = ["--cidr", "10.0.0.0/16", "--instance-type", "m5.xlarge", "--cluster-dns", "10.0.0.10"];
    const { out } = await run({ "class.yaml": al2023 }, ...args);
    expect(out).toContain("maxPods: 58");
    expect(out).toContain("- 10.0.0.10");
    const encoded = await run({ "class.yaml": al2023 }, ...args, "-o", "base64");
    expect(Buffer.from(encoded.out, "base64").toString()).toBe(out);
  });

  it("04 §1.10 expressions are evaluated for the type", async () => {
    const spec =
      "  amiSelectorTerms: [{ alias: al2023@latest }]\n  kubelet: { maxPods: vcpus * 10, kubeReserved: { cpu: vcpus * 30, memory: 100Mi } }\n";
    const { out } = await run({ "class.yaml": nodeClass("web", spec) }, "--cidr", "10.0.0.0/16");
    expect(out).toContain("maxPods: 20");
    expect(out).toContain("cpu: 60m");
    expect(out).toContain("memory: 100Mi");
  });

  it.each([
    ["no class", { "pool.yaml": pool("web") }, [], "the files have no EC2NodeClass"],
    ["no CIDR", { "class.yaml": al2023 }, [], "give it with --cidr"],
    ["an unknown type", { "class.yaml": al2023 }, ["--instance-type", "m5.larg"], "did you mean m5.large?"],
    [
      "several pools",
      { "class.yaml": al2023, "a.yaml": pool("a"), "b.yaml": pool("b") },
      [],
      "a, b; choose one with --nodepool",
    ],
    [
      "bad TOML",
      { "class.yaml": nodeClass("web", '  amiSelectorTerms: [{ alias: bottlerocket@latest }]\n  userData: "[x"\n') },
      [],
      "must be TOML",
    ],
  ])("04 §1.9 with %s it says what to do", async (_, files, args, message) => {
    const { code, out, err } = await run(files as Readonly<Record<string, string>>, ...args);
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain(message);
  });

  it("04 §1.9 one of several pools is chosen by name", async () => {
    const files = { "class.yaml": al2023, "a.yaml": pool("a"), "b.yaml": pool("b") };
    const { out } = await run(files, "--cidr", "10.0.0.0/16", "--nodepool", "b");
    expect(out).toContain("karpenter.sh/nodepool=b");
  });
});
