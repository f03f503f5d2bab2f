import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startControlPlane } from "../../src/control-plane/control-plane.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { hostileRequest, preparation } from "./hostile-requests.ts";
import { HostileClient, type Target } from "./send.ts";

/**
 * `npm run hostile`: one process serves, a second one is an honest client that measures how long it waits, and this one
 * sends hostile requests drawn from a seed.
 */

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    connections: { type: "string", default: "8" },
    "max-wait-ms": { type: "string", default: "2000" },
    "max-rss-mb": { type: "string", default: "1024" },
    role: { type: "string", default: "main" },
    port: { type: "string", default: "0" },
  },
});
const token = "hostile";
const tellEvery = 5_000;
const noMemory: NodeJS.MemoryUsage = { rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 };

if (values.role === "server") await serve();
else if (values.role === "honest") await beHonest({ port: Number(values.port), token });
else process.exitCode = await main();

async function serve(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-hostile-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { port } = await startControlPlane({
    ...{ realClock: systemClock(), token, host: "127.0.0.1", port: 0, isPlainHttp: true, speed: 1, nodes: 1, folder },
    onInternalError: (error) => process.send?.({ fault: error instanceof Error ? error.stack : String(error) }),
  });
  process.send?.({ port });
  setInterval(() => process.send?.({ memory: process.memoryUsage() }), 250);
  process.on("disconnect", () => process.exit());
}

/** Reads and writes small objects of its own, and tells how long each request took. */
async function beHonest({ port }: Target): Promise<void> {
  process.on("disconnect", () => process.exit());
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const base = `http://127.0.0.1:${port}`;
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "honest" }, spec: {} };
  const patch = { ...headers, "content-type": "application/merge-patch+json" };
  await fetch(`${base}${leases}`, { method: "POST", headers, body: JSON.stringify(lease) });
  for (let count = 0; ; count++) {
    const started = performance.now();
    const body = JSON.stringify({ spec: { leaseTransitions: count } });
    const response =
      count % 2 === 0
        ? await fetch(`${base}${leases}/honest`, { method: "PATCH", headers: patch, body })
        : await fetch(`${base}/api/v1/nodes`, { headers });
    await response.arrayBuffer();
    process.send?.({ waitedMs: performance.now() - started, isRefused: !response.ok });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Report {
  memory?: NodeJS.MemoryUsage;
  port?: number;
  fault?: string;
  waitedMs?: number;
  isRefused?: boolean;
}

function start(role: string, args: readonly string[], onReport: (report: Report) => void): ChildProcess {
  const child = fork(fileURLToPath(import.meta.url), ["--role", role, ...args], { stdio: "inherit" });
  child.on("message", (report) => onReport(report as Report));
  return child;
}

async function main(): Promise<number> {
  const [peak, last] = [{ ...noMemory }, { ...noMemory }];
  const figures = { peak, last, waits: [] as number[], refusals: 0, faults: [] as string[], died: false };
  const onReport = ({ memory, fault, waitedMs, isRefused }: Report): void => {
    if (memory !== undefined) Object.assign(last, memory);
    if (memory !== undefined && memory.rss > peak.rss) Object.assign(peak, memory);
    if (fault !== undefined) figures.faults.push(fault);
    if (waitedMs !== undefined) figures.waits.push(waitedMs);
    if (isRefused === true) figures.refusals++;
  };
  const server = start("server", [], onReport);
  const [{ port }] = (await once(server, "message")) as [{ port: number }];
  server.on("exit", () => {
    figures.died = true;
  });
  const honest = start("honest", ["--port", String(port)], onReport);
  const statuses = await attack({ port, token }, () => figures.died);
  const died = figures.died;
  honest.disconnect();
  if (!died) server.disconnect();
  return report({ ...figures, died }, statuses);
}

/** Counts responses by what was tried and how it was answered. */
async function attack(target: Target, isOver: () => boolean): Promise<ReadonlyMap<string, number>> {
  const connections = Number(values.connections);
  const client = new HostileClient(target, { connections });
  const random = new Random(`hostile-${values.seed}`);
  const statuses = new Map<string, number>();
  for (const request of preparation()) await client.send(request);
  let left = Number(values.count);
  const sender = async (): Promise<void> => {
    while (left-- > 0 && !isOver()) {
      const hostile = hostileRequest(random);
      const key = `${hostile.what} ${await client.send(hostile)}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
      if (left > 0 && left % tellEvery === 0) process.stderr.write(`${left} left\n`);
    }
  };
  await Promise.all(Array.from({ length: connections }, sender));
  client.close();
  return statuses;
}

interface Figures {
  /** Of the server, when it took the most, and at the end. */
  readonly peak: NodeJS.MemoryUsage;
  readonly last: NodeJS.MemoryUsage;
  readonly waits: number[];
  readonly refusals: number;
  readonly faults: readonly string[];
  readonly died: boolean;
}

function report(figures: Figures, statuses: ReadonlyMap<string, number>): number {
  const waits = figures.waits.sort((a, b) => a - b);
  const longest = waits.at(-1) ?? 0;
  const serverErrors = [...statuses].filter(([key]) => / (5(?!01|04)\d\d|0)$/.test(key));
  for (const [key, count] of [...statuses].sort()) process.stdout.write(`${key.padEnd(28)} ${count}\n`);
  const line = {
    ...{ count: Number(values.count), seed: values.seed, peakMb: inMebibytes(figures.peak) },
    ...{ lastMb: inMebibytes(figures.last), honestRequests: waits.length, honestRefusals: figures.refusals },
    honestWaitMs: { p50: at(waits, 0.5), p99: at(waits, 0.99), longest: Math.round(longest) },
    ...{ serverErrors: Object.fromEntries(serverErrors), faults: figures.faults.slice(0, 3), died: figures.died },
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  const isSmall = mebibytes(figures.peak.rss) < Number(values["max-rss-mb"]);
  const isQuick = longest <= Number(values["max-wait-ms"]) && waits.length > 0;
  return isSmall && isQuick && serverErrors.length === 0 && figures.faults.length === 0 && !figures.died ? 0 : 1;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function inMebibytes(memory: NodeJS.MemoryUsage): object {
  return Object.fromEntries(Object.entries(memory).map(([what, bytes]) => [what, mebibytes(bytes)]));
}

function at(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
}
