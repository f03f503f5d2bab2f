import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completionScripts } from "../../src/cli/completion/scripts.ts";
import { main, program } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";
import { builtCli } from "./built-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "completion-"));
const kubeconfig = join(folder, "kubeconfig");
/** A kubeconfig of a server with a few objects, and one of a server that never answers. */
const cluster = join(folder, "cluster");
const silent = join(folder, "silent");

const stored: Readonly<Record<string, readonly string[]>> = {
  "/api/v1/nodes": ["ip-10-0-1-17", "ip-10-0-2-4"],
  "/api/v1/namespaces": ["default", "shop"],
  "/api/v1/namespaces/default/pods": ["web-0"],
  "/api/v1/namespaces/shop/pods": ["cart-1", "cart-2", "db-0"],
  "/api/v1/namespaces/shop/pods?fieldSelector=status.phase%3DPending": ["cart-9"],
  "/apis/apps/v1/namespaces/shop/deployments": ["cart"],
};
const requests: string[] = [];

/** Lists what is stored; a pod that waits is only in the list of those. */
const answering = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://server");
  url.searchParams.delete("limit");
  requests.push(`${url.pathname}${url.search}`);
  const names = stored[`${url.pathname}${url.search}`] ?? [];
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      kind: "List",
      apiVersion: "v1",
      metadata: { resourceVersion: "1" },
      items: names.map((name) => ({ metadata: { name }, status: { phase: "Running" } })),
    }),
  );
});
const hanging = createServer(() => undefined);

async function kubeconfigOf(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "it", context: { cluster: "c", user: "u" } }],
    "current-context": "it",
  };
  writeFileSync(path, JSON.stringify(config));
}

beforeAll(async () => {
  await kubeconfigOf(answering, cluster);
  await kubeconfigOf(hanging, silent);
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

afterAll(() => {
  for (const server of [answering, hanging]) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true });
});

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

describe("names of a cluster", () => {
  it("offers nodes, pods of the namespace, pods that wait, and other objects that can be explained", async () => {
    const explain = ["explain", "--kubeconfig", cluster];
    expect(await offered(...explain, "node", "")).toEqual(["ip-10-0-1-17", "ip-10-0-2-4"]);
    expect(await offered(...explain, "node", "ip-10-0-2")).toEqual(["ip-10-0-2-4"]);
    expect(await offered("explain", "pod", "--kubeconfig", cluster, "")).toEqual(["web-0"]);
    expect(await offered(...explain, "pod", "-n", "shop", "cart")).toEqual(["cart-1", "cart-2", "cart-9"]);
    expect(await offered(...explain, "pod", "shop/d")).toEqual(["shop/db-0"]);
    expect(await offered(...explain, "-n", "shop", "deploy/")).toEqual(["deploy/cart"]);
    expect(await offered(...explain, "-n", "shop", "deployment", "c")).toEqual(["cart"]);
    expect(await offered(...explain, "-n", "s")).toEqual(["shop"]);
    expect(await offered(...explain, "--namespace=d")).toEqual(["--namespace=default"]);
  });

  it("asks no cluster where a file is explained, or the kind is unknown", async () => {
    const before = requests.length;
    expect(await offered("explain", "--kubeconfig", cluster, "-f", "x.yaml", "pod", "")).toEqual([]);
    expect(await offered("explain", "--kubeconfig", cluster, "fancy/")).toEqual([]);
    expect(requests.length).toBe(before);
  });

  it("is silent where the cluster cannot be read, or does not answer in time", async () => {
    const startedAt = performance.now();
    expect(await offered("explain", "node", "--kubeconfig", silent, "")).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await offered("explain", "node", "--kubeconfig", "/nowhere", "")).toEqual([]);
    expect(await offered("explain", "node", "--kubeconfig", kubeconfig, "")).toEqual([]);
  });
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

/** Not with `spawnSync`: the server it asks is in this process. */
async function inShell(shell: string, script: string): Promise<readonly string[]> {
  const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`, HOME: folder };
  const running = spawn(shell, ["-c", script], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = [running.stdout, running.stderr].map((stream) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    return chunks;
  });
  await new Promise((resolve) => running.on("close", resolve));
  expect(Buffer.concat(err ?? []).toString()).toBe("");
  return Buffer.concat(out ?? [])
    .toString()
    .split("\n")
    .filter((line) => line !== "");
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
  [["explain", "node", "--kubeconfig", cluster, "ip-10-0-2"], ["ip-10-0-2-4"]],
  [["explain", "pod", "--kubeconfig", cluster, "shop/d"], ["shop/db-0"]],
];

describe.skipIf(!isInstalled("bash"))("bash", () => {
  it.each(cases)("completes %j", async (words, expected) => {
    const line = ["karpenter", ...words].map((word) => `'${word}'`).join(" ");
    const script = `${completionScripts.bash}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _karpenter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(await inShell("bash", script)).toEqual(expected);
  });

  it("completes a value after =, which bash takes for a word of its own", async () => {
    const script = `${completionScripts.bash}
COMP_WORDS=(karpenter plan --packing = pl); COMP_CWORD=4; _karpenter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(await inShell("bash", script)).toEqual(["plain"]);
  });
});

/** zsh completes in a terminal only: its own functions print here what they would show. */
const zshFunctions = `compdef() { :; }
_describe() { print -l -- "\${(@)\${(@P)2}%%:*}" }
_files() { if [[ $1 == -/ ]]; then print -l -- \${words[CURRENT]}*(/N); else print -l -- \${words[CURRENT]}*(N); fi }
`;

/** What differs between shells: a command, a value, a file, a folder, names of a cluster. */
const fewer = [0, 2, 5, 6, 7, 8].flatMap((at) => cases.slice(at, at + 1));

describe.skipIf(!isInstalled("zsh"))("zsh (install zsh where this is skipped)", () => {
  it.each(fewer)("completes %j", async (words, expected) => {
    const line = ["karpenter", ...words].map((word) => `'${word}'`).join(" ");
    const script = `${zshFunctions}${completionScripts.zsh}\nwords=(${line}); CURRENT=${words.length + 1}; _karpenter`;
    expect(await inShell("zsh", script)).toEqual(expected);
  });
});

describe.skipIf(!isInstalled("fish"))("fish (install fish where this is skipped)", () => {
  it.each(fewer)("completes %j", async (words, expected) => {
    const line = ["karpenter", ...words].join(" ");
    const found = await inShell("fish", `${completionScripts.fish}\ncomplete -C '${line}'`);
    const values = found.map((one) => one.split("\t")[0]?.replace(/\/$/, ""));
    expect(values).toEqual(expect.arrayContaining([...expected]));
  });
});
