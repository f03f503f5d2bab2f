import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { readManifests } from "../../src/api/manifest/read.ts";
import { convertCommand } from "../../src/cli/convert-command.ts";
import { type FakeWorld, fakeFile, fakeIo } from "./fake-io.ts";
import { seedNames, seedText } from "./fixtures.ts";

async function run(args: string, world: FakeWorld = {}) {
  const io = fakeIo(world);
  try {
    await convertCommand(io).parseAsync(
      args.split(" ").filter((word) => word !== ""),
      { from: "user" },
    );
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return { out: io.out(), err: io.err(), code: io.code() ?? 0 };
}

const seeds = Object.fromEntries(seedNames.map((name) => [`seeds/${name}.yaml`, seedText(name)]));
const whole = ["M01", "M02", "M03", "M04", "M05", "M06", "M07", "M08", "M13", "M14", "M15", "M16"];

describe("karpenter convert", () => {
  it("converts a directory: result to stdout, warnings to stderr, code 0", async () => {
    const files = Object.fromEntries(whole.map((name) => [`dir/${name}.yaml`, seedText(name)]));
    const { out, err, code } = await run("-f dir --cluster-name prod", {
      files: { ...files, "dir/notes.txt": "no", "dir/sub/M18.yaml": "no" },
    });
    expect(code).toBe(0);
    expect(readManifests(out, "out").documents).toHaveLength(12);
    expect(
      err
        .split("\n")
        .filter((line) => line !== "")
        .every((line) => /^dir\/M\d\d\.yaml:\d+:\d+: warning: \S+: /.test(line)),
    ).toBe(true);
    expect(err).toContain(
      "dir/M15.yaml:5:1: warning: spec.subnetSelectorTerms: no subnetSelectorTerms; assumed the subnets tagged karpenter.sh/discovery: prod; write the terms [selector-assumed]",
    );
    expect(out).not.toMatch(/v1beta1/);
  });

  it("prints errors with file, line, column, field, rule and what was expected, and then nothing else: code 1", async () => {
    const { out, err, code } = await run("-f seeds/M06.yaml -f seeds/M03.yaml --strict", { files: seeds });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toBe(
      "seeds/M06.yaml:7:5: error: spec.template.spec.nodeClassRef: is required; add e.g. group karpenter.k8s.aws, kind EC2NodeClass, name default" +
        " (expected: group, kind and name of a node class) [required]\n1 error; nothing was written\n",
    );
  });

  it("reports all errors of a document at once, admission's mapped back to where they were written", async () => {
    const file = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec:
  weight: 1000
  taints:
    - key: a
      effect: Never
  ttlSecondsUntilExpired: -1
  providerRef: {name: x}
`;
    const { err, code } = await run("-f p.yaml", { files: { "p.yaml": file } });
    expect(code).toBe(1);
    const places = err.split("\n").map((line) => line.split(": ").slice(0, 3).join(": "));
    expect(places).toEqual([
      "p.yaml:5:3: error: spec.weight",
      "p.yaml:8:7: error: spec.taints[0].effect",
      "p.yaml:9:3: error: spec.ttlSecondsUntilExpired",
      "3 errors; nothing was written",
      "",
    ]);
  });

  it("drops fields nobody knows, with a warning; refuses them when strict", async () => {
    const file = seedText("M01").replace("  limits:", "  bogus: 1\n  limits:");
    const lenient = await run("-f p.yaml", { files: { "p.yaml": file } });
    expect(lenient.err).toContain("warning: spec.bogus: dropped");
    expect(lenient.out).not.toContain("bogus");
    const strict = await run("-f p.yaml --strict", { files: { "p.yaml": file } });
    expect(strict.err).toContain("error: spec.bogus: is not a known field");
  });

  it("reads standard input and writes JSON: one object as it is, several as a List", async () => {
    const one = await run("-f - -o json", { stdin: seedText("M01") });
    expect(JSON.parse(one.out)).toMatchObject({ apiVersion: "karpenter.sh/v1", kind: "NodePool" });
    expect(one.err).toMatch(/^<stdin>:35:5: warning: /);
    const two = await run("-f - -o json", { stdin: `${seedText("M14")}---\n${seedText("M15")}` });
    expect(JSON.parse(two.out)).toMatchObject({
      kind: "List",
      items: [{ kind: "NodePool" }, { kind: "EC2NodeClass" }],
    });
  });

  it("takes the old default instance profile and cluster name from Helm values", async () => {
    const values = "settings:\n  aws: {clusterName: west, defaultInstanceProfile: OldProfile}\n";
    const { out, code } = await run("-f seeds/M15.yaml --helm-values v.yaml", {
      files: { ...seeds, "v.yaml": values },
    });
    expect(code).toBe(0);
    expect(out).toContain("instanceProfile: OldProfile");
    expect(out.match(/karpenter.sh\/discovery: west/g)).toHaveLength(2);
  });

  it("prefers the command line over Helm values over the environment", async () => {
    const world = {
      files: { ...seeds, "v.yaml": "settings: {clusterName: values}\n" },
      env: { CLUSTER_NAME: "environment" },
    };
    expect((await run("-f seeds/M15.yaml", world)).out).toContain("discovery: environment");
    expect((await run("-f seeds/M15.yaml --helm-values v.yaml", world)).out).toContain("discovery: values");
    expect((await run("-f seeds/M15.yaml --helm-values v.yaml --cluster-name line", world)).out).toContain(
      "discovery: line",
    );
  });

  it("leaves implied requirements out with --ignore-defaults", async () => {
    const stdin =
      "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: b}}\n";
    expect((await run("-f -", { stdin })).out).toContain("instance-generation");
    expect((await run("-f - --ignore-defaults", { stdin })).out).not.toContain("instance-generation");
  });

  it("says what it could not mean in v1, with the pieces of other kinds intact", async () => {
    const stdin =
      "# why we need it\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata:\n  name: a\nspec:\n  # keep these away\n  taints:\n    - key: a # beside\n      effect: NoSchedule\n  providerRef:\n    name: b\n";
    const { out } = await run("-f - --ignore-defaults", { stdin });
    expect(out).toContain("# why we need it\napiVersion: karpenter.sh/v1\n");
    expect(out).toContain("- key: a # beside");
    expect(out).toContain("# keep these away");
  });
});

describe("karpenter convert --into", () => {
  it("merges fragments into the object named, comments and places included", async () => {
    const args = ["M01", "M09", "M10", "M11", "M12", "M17"].map((name) => `-f seeds/${name}.yaml`).join(" ");
    const { out, err, code } = await run(`${args} --into NodePool/default -o json`, { files: seeds });
    expect(code).toBe(0);
    expect(JSON.parse(out).spec).toMatchObject({
      template: {
        spec: {
          expireAfter: "2160h",
          requirements: [
            { key: "kubernetes.io/arch" },
            { key: "kubernetes.io/os" },
            { key: "karpenter.sh/capacity-type", values: ["spot"] },
            {
              key: "node.kubernetes.io/instance-type",
              values: ["m5.large", "m5.xlarge", "m4.large", "m4.xlarge", "c5.large", "c5.xlarge"],
            },
          ],
        },
      },
      limits: { cpu: 1000, memory: "1000Gi" },
      disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "15s" },
    });
    expect(err).toBe("");
  });

  it.each(["M09", "M10", "M11", "M12", "M17"])("takes %s alone", async (name) => {
    const { code, err } = await run(`-f seeds/M01.yaml -f seeds/${name}.yaml --into NodePool/default`, {
      files: seeds,
    });
    expect(code).toBe(0);
    // M10 writes the policy, so what is said of it points there.
    const place = name === "M10" ? "seeds/M10.yaml:3:5: warning" : name === "M12" ? "" : "seeds/M01.yaml:35:5: warning";
    expect(err.startsWith(place)).toBe(true);
  });

  it.each([
    [
      "NodePool/defualt",
      seedText("M17"),
      "there is no NodePool/defualt in the input to merge this fragment into; did you mean NodePool/default?",
    ],
    ["NodePool/default", "foo: 1\n", "cannot tell where in NodePool/default this fragment belongs: foo"],
    ["NodePool/default", "- 1\n", "cannot tell where in NodePool/default this fragment belongs: a list"],
  ])("into %s: refuses what it cannot place", async (into, fragment, message) => {
    const { code, err } = await run(`-f seeds/M01.yaml -f - --into ${into}`, { files: seeds, stdin: fragment });
    expect(code).toBe(1);
    expect(err).toContain(`<stdin>:1:1: error: ${message}`);
  });
});

describe("karpenter convert, given what is no manifest", () => {
  it.each<[string, string, FakeWorld, string]>([
    ["nothing there", "nope.yaml", {}, "nope.yaml:1:1: error: no such file or directory"],
    ["an empty file", "a.yaml", { files: { "a.yaml": "" } }, "there is no manifest in this file"],
    ["an empty stream", "-", {}, "<stdin>:1:1: error: there is no manifest in this file"],
    ["a directory without manifests", "d", { files: { "d/a.txt": "x" } }, "no manifests in this directory"],
    [
      "a 100 MB file, unread",
      "a.yaml",
      { files: { "a.yaml": fakeFile("", { size: 100_000_000, fails: "EREAD" }) } },
      "a manifest of 96 MiB exceeds the limit of 32 MiB",
    ],
    [
      "a pipe without end",
      "a.yaml",
      { files: { "a.yaml": { bytes: new Uint8Array(33 * 1024 * 1024).fill(32), size: 0 } } },
      "exceeds the limit of 32 MiB",
    ],
    ["a binary", "a.yaml", { files: { "a.yaml": "\u007fELF\u0000\u0001" } }, "this is a binary file"],
    ["a gzip archive", "a.yaml", { files: { "a.yaml": { bytes: new Uint8Array([0x1f, 0x8b, 8]) } } }, "gzip archive"],
    [
      "bytes that are no text",
      "a.yaml",
      { files: { "a.yaml": { bytes: new Uint8Array([0x61, 0xff, 0xfe]) } } },
      "not valid UTF-8",
    ],
    [
      "a file one may not read",
      "a.yaml",
      { files: { "a.yaml": fakeFile("", { fails: "EACCES" }) } },
      "permission denied",
    ],
    ["a lone word", "-", { stdin: "hello\n" }, "is not an object"],
    [
      "an unknown kind",
      "-",
      { stdin: "apiVersion: karpenter.sh/v1\nkind: NodePoool\n" },
      "<stdin>:2:1: error: kind: unknown kind NodePoool in karpenter.sh/v1; the closest known kind is NodePool",
    ],
    [
      "an unknown version",
      "-",
      { stdin: "apiVersion: karpenter.sh/v2\nkind: NodePool\n" },
      "<stdin>:1:1: error: apiVersion: there is no NodePool in karpenter.sh/v2; the closest known version is karpenter.sh/v1",
    ],
    ["escape sequences", "-", { stdin: 'apiVersion: karpenter.sh/v1\nkind: "a\\e[31mb"\n' }, "unknown kind a [31mb"],
  ])("%s: one sentence and code 1", async (_name, path, world, sentence) => {
    const { out, err, code } = await run(`-f ${path}`, world);
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain(sentence);
    expect(err.trimEnd().split("\n")).toHaveLength(2);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it("looks into directories of directories when asked", async () => {
    const files = { "d/a.txt": "x", "d/e/f.yml": seedText("M03") };
    expect((await run("-f d", { files })).err).toContain("--recursive");
    expect((await run("-f d/ -R", { files })).out).toBe(seedText("M03"));
  });
});

describe("karpenter convert, misused", () => {
  it.each(["", "-f a -o xml", "-f a --into NodePool", "-f a --provider gcp", "-f a --nope"])(
    "%j is a usage error: code 2",
    async (args) => {
      const { out, err, code } = await run(args);
      expect(code).toBe(2);
      expect(out).toBe("");
      expect(err).toMatch(/^error: /);
    },
  );

  it("explains itself, exit codes included", async () => {
    const { out, code } = await run("--help");
    expect(code).toBe(0);
    expect(out).toContain("Exit codes: 0 converted, 1 the input has errors, 2 the command line is wrong.");
  });
});
