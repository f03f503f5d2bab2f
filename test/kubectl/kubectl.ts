import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** How one run of kubectl ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl that talks to one server, as a person at a terminal would run it. */
export interface Kubectl {
  /** Runs a command line to its end, whatever the outcome; words in single quotes are one. */
  run(line: string, options?: RunOptions): Promise<Ended>;
  /** What it printed; fails the test when it did not succeed. */
  ok(line: string, options?: RunOptions): Promise<string>;
  /** What it complained; fails the test when it succeeded. */
  fails(line: string, options?: RunOptions): Promise<string>;
  /** Starts a command that goes on, such as `get -w`. */
  start(line: string): Running;
  /** The environment of a shell in which kubectl talks to the server. */
  env(): Readonly<Record<string, string>>;
  /** A file to name on a command line. */
  file(name: string, text: string): string;
  close(): void;
}

interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Running {
  /** Resolves with all that was printed once that is enough; fails after ten seconds. */
  until(isEnough: (stdout: string) => boolean): Promise<string>;
  stop(): Promise<void>;
}

export interface KubectlOptions {
  readonly program: string;
  readonly kubeconfig: string;
  /** Where to note each command line; nowhere when absent. */
  readonly tally?: string | undefined;
}

/** Where kubectl is, or undefined. */
export function findKubectl(env: NodeJS.ProcessEnv): string | undefined {
  const named = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "kubectl"));
  return named.find((path) => existsSync(path));
}

export function kubectlFor({ program, kubeconfig, tally }: KubectlOptions): Kubectl {
  const home = mkdtempSync(join(tmpdir(), "karpenter-kubectl-"));
  const config = join(home, "config");
  writeFileSync(config, kubeconfig, { mode: 0o600 });
  const base = { PATH: process.env["PATH"] ?? "", HOME: home, KUBECONFIG: config, KUBECACHEDIR: join(home, "cache") };
  const note = (line: string) => {
    if (tally !== undefined) appendFileSync(tally, `${line.replaceAll(home, "~")}\n`);
  };
  const run = (line: string, { stdin, env }: RunOptions = {}): Promise<Ended> => {
    note(line);
    return execute(program, { args: words(line), env: { ...base, ...env }, cwd: home, stdin });
  };
  return {
    run,
    ok: async (line, options) => {
      const ended = await run(line, options);
      if (ended.code !== 0)
        throw new Error(`kubectl ${line} ended with ${ended.code}:\n${ended.stdout}${ended.stderr}`);
      return ended.stdout;
    },
    fails: async (line, options) => {
      const ended = await run(line, options);
      if (ended.code === 0) throw new Error(`kubectl ${line} should have failed, but printed:\n${ended.stdout}`);
      return ended.stderr;
    },
    start: (line) => {
      note(line);
      return begin(program, { args: words(line), env: base, cwd: home });
    },
    env: () => base,
    file: (name, text) => {
      const path = join(home, name);
      writeFileSync(path, text);
      return path;
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** As a shell would split it, single quotes understood. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/(?:[^\s']+|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ""));
}

interface Launch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin?: string | undefined;
}

function execute(program: string, { args, env, cwd, stdin }: Launch): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], { env, cwd, timeout: 45_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(stdin ?? "");
  });
}

function begin(program: string, { args, env, cwd }: Launch): Running {
  const child = spawn(program, [...args], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let notify = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    notify();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return {
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const complain = () => reject(new Error(`kubectl ${args.join(" ")} printed only:\n${stdout}\n${stderr}`));
        const timer = setTimeout(complain, 10_000);
        notify = () => {
          if (!isEnough(stdout)) return;
          clearTimeout(timer);
          resolve(stdout);
        };
        notify();
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
    },
  };
}
