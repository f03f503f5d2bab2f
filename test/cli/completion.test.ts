import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completionScripts } from "../../src/cli/completion/scripts.ts";
import { main, program } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";
import { builtCli } from "./built-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "completion-"));
const kubeconfig = join(folder, "kubeconfig");

beforeAll(async () => {
  const context = { cluster: "c", user: "u" };
  writeFileSync(kubeconfig, JSON.stringify({ contexts: ["prod", "staging"].map((name) => ({ name, context })) }));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "karpenter"),
    `#!/bin/sh\nexec ${process.execPath} ${await builtCli(join(folder, "cli"))} "$@"\n`,
  );
  chmodSync(join(bin, "karpenter"), 0o755);
  mkdirSync(join(folder, "manifests"));
  writeFileSync(join(folder, "my pods.yaml"), "");
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

/** The values the program offers for a line; the last word is not complete yet. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const io = fakeIo();
  await main(["__complete", ...words], io);
  const lines = io.out().split("\n").slice(0, -1);
  return lines.map((line) => line.split("\t")[0] ?? "");
}

describe("what can follow on a command line", () => {
  it("offers every command and subcommand", async () => {
    expect(await offered("")).toEqual(
      expect.arrayContaining(program(fakeIo()).commands.map((command) => command.name())),
    );
    expect(await offered("pl")).toEqual(["plan"]);
    expect(await offered("aws", "")).toEqual(expect.arrayContaining(["iam", "user-data"]));
  });

  it("offers every option of every command", async () => {
    type Command = ReturnType<typeof program>;
    const check = async (command: Command, path: readonly string[]): Promise<void> => {
      const flags = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
      expect(await offered(...path, "--")).toEqual(expect.arrayContaining(flags));
      for (const one of command.commands) await check(one, [...path, one.name()]);
    };
    await check(program(fakeIo()), []);
  });

  it("offers the values of options, after a space and after =", async () => {
    expect(await offered("plan", "--packing", "")).toEqual(["polished", "plain"]);
    expect(await offered("plan", "--packing=pl")).toEqual(["--packing=plain"]);
    expect(await offered("plan", "--packing", "=", "po")).toEqual(["polished"]); // as bash splits it
    expect(await offered("run", "--log-level", "d")).toEqual(["debug"]);
    expect(await offered("run", "--nominate-pods", "=")).toEqual([]); // an optional value, which needs no completion
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it("leaves files and folders to the shell", async () => {
    expect(await offered("plan", "-f", "x")).toEqual([":files"]);
    expect(await offered("crds", "--output-dir", "")).toEqual([":folders"]);
  });

  it("offers the contexts of the kubeconfig", async () => {
    expect(await offered("plan", "--kubeconfig", kubeconfig, "--context", "")).toEqual(["prod", "staging"]);
    expect(await offered("plan", `--kubeconfig=${kubeconfig}`, "--context=st")).toEqual(["--context=staging"]);
    expect(await offered("plan", "--kubeconfig", "/nowhere", "--context", "")).toEqual([]);
  });
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

function inShell(shell: string, script: string): readonly string[] {
  const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`, HOME: folder };
  const { stdout, stderr } = spawnSync(shell, ["-c", script], { cwd: folder, env, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

const cases: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [["pla"], ["plan"]],
  [["aws", "user"], ["user-data"]],
  [["plan", "--packing", "pl"], ["plain"]],
  [["plan", "--pack"], ["--packing"]],
  [
    ["plan", "--kubeconfig", kubeconfig, "--context", ""],
    ["prod", "staging"],
  ],
  [["plan", "-f", "my"], ["my pods.yaml"]],
  [["crds", "--output-dir", "mani"], ["manifests"]],
];

describe.skipIf(!isInstalled("bash"))("bash", () => {
  it.each(cases)("completes %j", (words, expected) => {
    const line = ["karpenter", ...words].map((word) => `'${word}'`).join(" ");
    const script = `${completionScripts.bash}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _karpenter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(inShell("bash", script)).toEqual(expected);
  });

  it("completes a value after =, which bash takes for a word of its own", () => {
    const script = `${completionScripts.bash}
COMP_WORDS=(karpenter plan --packing = pl); COMP_CWORD=4; _karpenter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(inShell("bash", script)).toEqual(["plain"]);
  });
});

/** zsh completes in a terminal only: its own functions print here what they would show. */
const zshFunctions = `compdef() { :; }
_describe() { print -l -- "\${(@)\${(@P)2}%%:*}" }
_files() { if [[ $1 == -/ ]]; then print -l -- \${words[CURRENT]}*(/N); else print -l -- \${words[CURRENT]}*(N); fi }
`;

/** What differs between shells: a command, a value, a file, a folder. */
const fewer = [0, 2, 5, 6].flatMap((at) => cases.slice(at, at + 1));

describe.skipIf(!isInstalled("zsh"))("zsh (install zsh where this is skipped)", () => {
  it.each(fewer)("completes %j", (words, expected) => {
    const line = ["karpenter", ...words].map((word) => `'${word}'`).join(" ");
    const script = `${zshFunctions}${completionScripts.zsh}\nwords=(${line}); CURRENT=${words.length + 1}; _karpenter`;
    expect(inShell("zsh", script)).toEqual(expected);
  });
});

describe.skipIf(!isInstalled("fish"))("fish (install fish where this is skipped)", () => {
  it.each(fewer)("completes %j", (words, expected) => {
    const line = ["karpenter", ...words].join(" ");
    const found = inShell("fish", `${completionScripts.fish}\ncomplete -C '${line}'`);
    const values = found.map((one) => one.split("\t")[0]?.replace(/\/$/, ""));
    expect(values).toEqual(expect.arrayContaining([...expected]));
  });
});
