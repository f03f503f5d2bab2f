import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerAnswers } from "./api-server.ts";
import { Answering } from "./asking.ts";
import type { RunAnswers } from "./measured-run.ts";

const beside = (name: string): string => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));

/** An API server and controllers, each in a process of its own. */
export class BenchProcesses {
  readonly server: Answering<ServerAnswers>;
  readonly #folder = mkdtempSync(join(tmpdir(), "karpenter-bench-"));
  readonly #output = openSync(join(this.#folder, "output"), "w");

  constructor({ isStanding }: { readonly isStanding: boolean }) {
    const args = ["--kubeconfig", this.#kubeconfig, ...(isStanding ? ["--standing"] : [])];
    this.server = new Answering<ServerAnswers>(beside("api-server"), { args, output: this.#output });
  }

  get #kubeconfig(): string {
    return join(this.#folder, "kubeconfig");
  }

  /** As a Deployment would start it, with ports of its own. */
  async run({ nodeFlags, flags = [] }: RunFlags): Promise<Running> {
    await this.server.ask("revision"); // it answers once it serves
    const log = join(this.#folder, `log-${Date.now()}`);
    const output = openSync(log, "w");
    const ports = ["--metrics-port", "0", "--health-probe-port", "0", "--listen", "127.0.0.1"];
    const lease = ["--leader-election-namespace", "karpenter"];
    const args = ["run", "--provider", "kwok", "--kubeconfig", this.#kubeconfig, ...ports, ...lease, ...flags];
    const startedAt = performance.now();
    const process = new Answering<RunAnswers>(beside("measured-run"), { args, nodeFlags, output });
    closeSync(output);
    await until(() => process.ask("isSynced"), { withinMs: 120_000, what: "the controllers know the cluster" });
    return {
      process,
      log,
      syncedMs: performance.now() - startedAt,
      health: new Health(portIn(log, "health-probe-port")),
      metricsPort: portIn(log, "metrics-port"),
    };
  }

  async end(): Promise<void> {
    await this.server.end("SIGKILL");
    closeSync(this.#output);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What was written by the API server, for when something went wrong. */
  output(): string {
    return readFileSync(join(this.#folder, "output"), "utf8");
  }
}

export interface RunFlags {
  readonly nodeFlags: readonly string[];
  readonly flags?: readonly string[];
}

export interface Running {
  readonly process: Answering<RunAnswers>;
  readonly log: string;
  /** From its start until it knew the cluster. */
  readonly syncedMs: number;
  readonly health: Health;
  readonly metricsPort: number;
}

function portIn(log: string, name: string): number {
  const found = new RegExp(`"${name}":(\\d+)`).exec(readFileSync(log, "utf8"))?.[1];
  if (found === undefined) throw new Error(`no ${name} in its log:\n${readFileSync(log, "utf8")}`);
  return Number(found);
}

const pollMs = 100;

/** Asks `/healthz` all the time. */
export class Health {
  asked = 0;
  failed = 0;
  slowestMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(port: number) {
    this.#timer = setInterval(() => void this.#ask(port), pollMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #ask(port: number): Promise<void> {
    const startedAt = performance.now();
    const status = await statusOf(port, "/healthz");
    this.asked += 1;
    if (status !== 200) this.failed += 1;
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
  }
}

/** Reads all of the answer. */
export function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path, timeout: 10_000 }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", () => resolve(0));
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(0));
    asked.end();
  });
}

export interface Waiting {
  readonly withinMs: number;
  readonly what: string;
}

export async function until(holds: () => Promise<boolean>, { withinMs, what }: Waiting): Promise<void> {
  const endsAt = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await pause(50);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
