import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "./built-cli.ts";

const root = join(import.meta.dirname, "..", "..");

/** Loaded before the program: notes every module that is loaded. */
const noteModules = `import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(\`
  import { appendFileSync } from "node:fs";
  export async function load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + "\\\\n");
    return next(url, context);
  }
\`));
`;

describe("the AWS SDK", () => {
  const dir = mkdtempSync(join(tmpdir(), "karpenter-modules-"));
  const hook = join(dir, "note-modules.mjs");
  let program = "";
  let metafile: Metafile | undefined;

  beforeAll(async () => {
    writeFileSync(hook, noteModules);
    program = await builtCli(dir);
    metafile = JSON.parse(readFileSync(join(dir, "metafile.json"), "utf8")) as Metafile;
  }, 120_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** The source files that a command line loads. */
  function loadedBy(...args: readonly string[]): readonly string[] {
    const list = join(dir, "loaded");
    writeFileSync(list, "");
    const { status, stderr } = spawnSync(process.execPath, ["--import", pathToFileURL(hook).href, program, ...args], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, LOADED_MODULES: list },
    });
    expect([stderr, status]).toEqual(["", 0]);
    const urls = readFileSync(list, "utf8").split("\n");
    const files = new Set(urls.map((url) => basename(url)));
    const outputs = Object.entries(metafile?.outputs ?? {}).filter(([path]) => files.has(basename(path)));
    return [...urls, ...outputs.flatMap(([, { inputs }]) => Object.keys(inputs))];
  }

  const ofSdk = /node_modules\/(@aws-sdk|@smithy|@aws-crypto)\//;

  it.each([
    ["--help", ["--help"]],
    ["run --help", ["run", "--help"]],
    ["plan on KWOK", ["plan", "-f", "examples/kwok.yaml", "-f", "examples/workload.yaml"]],
    ["plan on EC2", ["plan", "-f", "examples/workload.yaml", "--region", "us-east-1"]],
    ["instance-types", ["instance-types", "--region", "us-east-1", "-l", "instance-family=m5"]],
    ["aws iam", ["aws", "iam", "--cluster", "prod"]],
  ])("is not loaded by %s", { timeout: 60_000 }, (_, args) => {
    const loaded = loadedBy(...args);
    expect(loaded).toContainEqual(expect.stringContaining("src/cli/main.ts"));
    expect(loaded.filter((path) => ofSdk.test(path))).toEqual([]);
  });
});
