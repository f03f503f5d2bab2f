import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import type { KubeObject } from "../src/api/object.ts";
import type { ApiServer } from "../src/control-plane/api/server.ts";
import { serveApi } from "../src/control-plane/http/serve-api.ts";
import type { InProcessClient } from "../src/control-plane/in-process-client.ts";
import { bearerHeaders, fixedCredentials } from "../src/kube/connection.ts";
import { builtInTypes } from "../src/kube/resources.ts";
import { socketTransport } from "../src/kube/socket-transport.ts";
import { systemClock } from "../src/util/clock.ts";
import { idleDay } from "../test/control-plane/determinism/idle.ts";
import { apiOn } from "../test/world/api-world.ts";

/** What is measured, each in a process of its own. */
const errands = ["start", "create", "list", "managed-list", "memory", "idle"] as const;
type Errand = (typeof errands)[number];

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** None: for information. */
  readonly bar?: number;
  readonly isAtLeast?: boolean;
}

const podCount = 10_000;
const execute = promisify(execFile);

function pod(ordinal: number): KubeObject {
  const app = `app-${ordinal % 50}`;
  const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } };
  const env = [
    { name: "REGION", value: "eu" },
    { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${app}-${ordinal}`, namespace: "default", labels: { app, tier: "web", team: "shop" } },
    spec: {
      containers: [
        { name: "main", image: `registry.example/${app}:1.2.3`, resources, env, ports: [{ containerPort: 80 }] },
      ],
      terminationGracePeriodSeconds: 30,
    },
  };
}

/** Without a field manager pods are as the loops make them; with one they are twice as large. */
function server(fieldManager?: string): { readonly api: ApiServer; readonly client: InProcessClient } {
  return apiOn(systemClock(), { seed: "bench", fieldManager });
}

async function fill(client: InProcessClient, count: number): Promise<number> {
  const pods = Array.from({ length: count }, (_, at) => pod(at));
  const started = performance.now();
  for (const one of pods) await client.create(builtInTypes.Pod, one);
  return performance.now() - started;
}

async function create(): Promise<readonly Figure[]> {
  const { client } = server();
  const ms = await fill(client, podCount);
  const value = podCount / (ms / 1000);
  return [{ what: "pod creates through the in-process client", value, unit: "/s", bar: 2_000, isAtLeast: true }];
}

async function list(): Promise<readonly Figure[]> {
  const { first, again, rss } = await listed();
  return [
    { what: `list of ${podCount} pods over HTTP, the first`, value: first, unit: "ms", bar: 300 },
    { what: `list of ${podCount} pods over HTTP, again`, value: again, unit: "ms", bar: 300 },
    { what: `RSS with ${podCount} pods stored and listed`, value: rss, unit: "MiB", bar: 500 },
  ];
}

async function managedList(): Promise<readonly Figure[]> {
  const { first, again, rss } = await listed("bench");
  return [
    { what: "the same with managed fields, the first", value: first, unit: "ms" },
    { what: "the same with managed fields, again", value: again, unit: "ms", bar: 300 },
    { what: "RSS with managed fields, stored and listed", value: rss, unit: "MiB", bar: 500 },
  ];
}

/** Over HTTP, first and again: the bytes of an object are made once. Server and client share the process. */
async function listed(fieldManager?: string): Promise<{ first: number; again: number; rss: number }> {
  const { api, client } = server(fieldManager);
  await fill(client, podCount);
  const served = await serveApi(api, { token: "token", host: "127.0.0.1", port: 0, onInternalError: console.error });
  const credentials = fixedCredentials({ headers: bearerHeaders(served.token) });
  const transport = socketTransport({ server: served.url, tls: {}, credentials, namespace: "default" });
  const { signal } = new AbortController();
  const once = async () => {
    const started = performance.now();
    const { body } = await transport({ method: "GET", path: "/api/v1/pods", headers: {}, signal });
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    if (bytes < podCount * 500) throw new Error(`only ${bytes} bytes came`);
    return performance.now() - started;
  };
  const first = await once();
  const again = Math.min(await once(), await once(), await once());
  transport.close();
  await served.close();
  return { first, again, rss: process.memoryUsage().rss / 2 ** 20 };
}

async function memory(): Promise<readonly Figure[]> {
  const { client } = server();
  await fill(client, podCount);
  (globalThis as { gc?: () => void }).gc?.();
  const rss = process.memoryUsage().rss / 2 ** 20;
  const peak = process.resourceUsage().maxRSS / 1024;
  return [
    { what: `RSS with ${podCount} pods stored`, value: rss, unit: "MiB", bar: 500 },
    { what: "the peak on the way", value: peak, unit: "MiB", bar: 500 },
  ];
}

async function idle(): Promise<readonly Figure[]> {
  const started = performance.now();
  const { writesWhileIdle, ready } = await idleDay(100);
  const value = (performance.now() - started) / 1000;
  if (ready !== 100 || writesWhileIdle > 0) throw new Error(`${ready} ready, ${writesWhileIdle} writes while idle`);
  return [{ what: "24 h of an idle cluster of 100 nodes in virtual time", value, unit: "s", bar: 10 }];
}

/** From the start of `karpenter up` to its first answer, with TLS; the first start of all makes a certificate. */
async function start(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-bench-"));
  const cli = fileURLToPath(new URL("cli/main.js", import.meta.url));
  const main = join(folder, "karpenter.mjs");
  writeFileSync(
    main,
    `import { main } from ${JSON.stringify(cli)}; process.exitCode = await main(process.argv.slice(2));`,
  );
  try {
    const first = await untilAnswered(main, folder);
    const later: number[] = [];
    for (let round = 0; round < 5; round++) later.push(await untilAnswered(main, folder));
    return [
      { what: "karpenter up to the first answer, ever", value: first, unit: "ms", bar: 700 },
      { what: "karpenter up to the first answer", value: median(later), unit: "ms", bar: 700 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilAnswered(main: string, folder: string): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const started = performance.now();
  const child = spawn(process.execPath, [main, "up", "--port", String(port), "--nodes", "3"], { stdio: "ignore", env });
  try {
    while (!(await isAnswered(port))) await new Promise((resolve) => setTimeout(resolve, 3));
    return performance.now() - started;
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

function isAnswered(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path: "/readyz", rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on("error", () => resolve(false));
    asked.end();
  });
}

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  taken.close();
  await once(taken, "close");
  return port;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const measures: Readonly<Record<Errand, () => Promise<readonly Figure[]>>> = {
  start,
  create,
  list,
  "managed-list": managedList,
  memory,
  idle,
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { errand: { type: "string" }, only: { type: "string" } } });
  if (values.errand !== undefined) {
    process.stdout.write(JSON.stringify(await measures[values.errand as Errand]()));
    return;
  }
  const load = () => loadavg().map((one) => one.toFixed(1));
  console.log(`${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}, load ${load().join(" ")}\n`);
  console.log("| | measured | bar | |\n|---|---:|---:|---|");
  const self = fileURLToPath(import.meta.url);
  for (const errand of errands.filter((one) => values.only === undefined || values.only.split(",").includes(one))) {
    const { stdout } = await execute(process.execPath, ["--expose-gc", self, "--errand", errand]);
    for (const { what, value, unit, bar, isAtLeast = false } of JSON.parse(stdout) as readonly Figure[]) {
      const isKept = bar === undefined || (isAtLeast ? value >= bar : value <= bar);
      const wanted = bar === undefined ? "" : `${isAtLeast ? "≥" : "≤"} ${bar} ${unit}`;
      const verdict = bar === undefined ? "" : isKept ? "ok" : "MISS";
      console.log(`| ${what} | ${value.toFixed(value < 20 ? 1 : 0)} ${unit} | ${wanted} | ${verdict} |`);
      if (!isKept) process.exitCode = 1;
    }
  }
  console.log(`\nload at the end ${load().join(" ")}`);
}

await main();
