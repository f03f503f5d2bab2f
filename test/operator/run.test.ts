import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { type ControlPlane, startControlPlane } from "../../src/control-plane/control-plane.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { systemClock } from "../../src/util/clock.ts";
import { builtCli } from "../cli/built-cli.ts";
import { kwokClass, pool } from "../controllers/pool-objects.ts";
import { parseExposition } from "./scrape.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-run-"));
const kubeconfig = join(folder, "kubeconfig");
const lease = { name: "karpenter-leader-election", namespace: "karpenter" };
let program = "";
let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  const options = {
    realClock: systemClock(),
    token: "token",
    host: "127.0.0.1",
    port: 0,
    isPlainHttp: true,
    speed: 1,
    nodes: 0,
    folder,
    onInternalError: () => {},
  };
  [program, plane] = await Promise.all([builtCli(folder), startControlPlane(options)]);
  client = new InProcessClient(plane.api);
  writeFileSync(kubeconfig, plane.kubeconfig);
}, 60_000);

afterAll(async () => {
  await plane.close();
  rmSync(folder, { recursive: true, force: true });
});

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [key: string]: unknown;
}

const loopback = ["--listen", "127.0.0.1", "--metrics-port", "0", "--health-probe-port", "0"];
const onPlane = ["--kubeconfig", kubeconfig, "--leader-election-namespace", lease.namespace];

/** `karpenter run` in a process of its own, with what it says. */
function karpenterRun(...args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [program, "run", ...args], {
    env: { PATH: process.env["PATH"], HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(JSON.parse(line) as LogLine);
      for (const look of [...waiting]) look();
    });
  }
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => {
    stderr += data.toString();
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return {
    lines,
    stderr: () => stderr,
    ended,
    end: (signal: NodeJS.Signals) => child.kill(signal),
    /** The first line of that message, now or later. */
    said: (message: string): Promise<LogLine> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = lines.find((one) => one.message === message);
          if (line !== undefined) resolve(line);
        };
        waiting.add(look);
        look();
        void ended.then((code) => reject(new Error(`ended with ${code} and never said ${message}: ${stderr}`)));
      }),
  };
}

type Conditioned = KubeObject & { readonly status?: { readonly conditions?: readonly Record<string, string>[] } };

/** Pods that come earlier are looked at again after ten seconds. */
async function poolReady(name: string): Promise<void> {
  const found = new AbortController();
  for await (const event of client.watch<Conditioned>(karpenterTypes.NodePool, { signal: found.signal })) {
    if (event.type === "BOOKMARK" || event.object.metadata.name !== name) continue;
    if (event.object.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) break;
  }
  found.abort();
}

describe("karpenter run", () => {
  it("03 §6.5 leads, launches, is measured, and gives the lease back when told to stop", async () => {
    await client.create(karpenterTypes.KWOKNodeClass, kwokClass());
    await client.create(karpenterTypes.NodePool, pool());
    const run = karpenterRun("--provider", "kwok", "--batch-idle-duration", "50ms", ...onPlane, ...loopback);
    const { "metrics-port": metricsPort, "health-probe-port": healthPort } = await run.said("started");
    const ask = (port: unknown, path: string) => fetch(`http://127.0.0.1:${String(port)}${path}`);
    expect((await ask(healthPort, "/healthz")).status).toBe(200);
    await poolReady("default");

    await client.create(builtInTypes.Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "default" },
      spec: { containers: [{ name: "app", image: "app", resources: { requests: { cpu: "1" } } }] },
    } as KubeObject);
    const launched = await run.said("launched nodeclaim");
    expect(launched).toMatchObject({ level: "INFO", logger: "controller", controller: "nodeclaim.lifecycle" });
    const { items: claims } = await client.list(karpenterTypes.NodeClaim);
    expect(claims.map(({ metadata }) => metadata.name)).toEqual([(launched["NodeClaim"] as { name: string }).name]);
    expect((await ask(healthPort, "/readyz")).status).toBe(200);

    const metrics = parseExposition(await (await ask(metricsPort, "/metrics")).text());
    const created = '{min_values_relaxed="false",nodepool="default",reason="provisioned"}';
    expect(metrics.get("karpenter_nodeclaims_created_total")?.samples.get(created)).toBe(1);
    const leads = `{name="${lease.name}"}`;
    expect(metrics.get("leader_election_master_status")?.samples.get(leads)).toBe(1);
    expect(metrics.get("process_resident_memory_bytes")?.samples.get("{}")).toBeGreaterThan(0);
    expect(metrics.get("client_go_request_total")?.samples.size).toBeGreaterThan(0);
    expect((await ask(metricsPort, "/debug/pprof/")).status).toBe(404);

    const held = await client.get<Lease>(builtInTypes.Lease, lease);
    expect(held.spec?.holderIdentity).toMatch(/_/);
    run.end("SIGTERM");
    expect(await run.ended).toBe(0);
    expect((await client.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity).toBe("");
    expect(run.lines.filter(({ level }) => level === "ERROR")).toEqual([]);
  }, 60_000);

  it("03 §6.4 ends with the usage code and all that is wrong", async () => {
    const run = karpenterRun("--log-level", "loud", "--metrics-port", "many", ...onPlane);
    expect(await run.ended).toBe(2);
    expect(run.stderr()).toBe(
      'error: --metrics-port is "many": expected a whole number from 0 to 65535\n' +
        'error: --log-level is "loud": expected one of debug, info, error\n',
    );
  });

  it("asks which provider where the cluster has node classes of several", async () => {
    const run = karpenterRun(...onPlane, ...loopback);
    expect(await run.ended).toBe(2);
    expect(run.stderr()).toBe(
      "error: cannot infer the provider: the cluster has node classes of kwok, aws; set --provider kwok|aws|azure\n",
    );
  });

  describe("the first SIGTERM ends it", () => {
    /** A server that answers with this, or never. */
    async function strangeServer(answer: ((path: string) => number) | undefined) {
      const asked: string[] = [];
      const waiting = new Set<() => void>();
      const server = createServer((request, response) => {
        asked.push(request.url ?? "");
        for (const look of [...waiting]) look();
        if (answer !== undefined) response.writeHead(answer(request.url ?? "")).end("{}");
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const path = join(folder, `kubeconfig-${port}`);
      writeFileSync(path, plane.kubeconfig.replaceAll(plane.url, `http://127.0.0.1:${port}`));
      return {
        args: ["--kubeconfig", path, "--leader-election-namespace", lease.namespace, ...loopback],
        asked: (part: string): Promise<void> =>
          new Promise((resolve) => {
            const look = (): void => {
              if (asked.some((one) => one.includes(part))) resolve();
            };
            waiting.add(look);
            look();
          }),
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      };
    }
    const alone = "--disable-leader-election";
    const kwok = ["--provider", "kwok"];

    it.each<[string, readonly string[], string, ((path: string) => number) | undefined]>([
      ["while it finds out the provider", [], "nodeclasses", undefined],
      ["while it waits for the lease", kwok, "leases", undefined],
      ["while it lists the cluster", [...kwok, alone], "nodepools", undefined],
      ["while the CRDs are missing", [...kwok, alone], "nodepools", () => 404],
      ["while the server is down", [...kwok, alone], "nodepools", () => 503],
    ])(
      "03 §6.5 %s",
      async (_, args, part, answer) => {
        const server = await strangeServer(answer);
        const run = karpenterRun(...args, ...server.args);
        await server.asked(part);
        const askedAt = performance.now();
        run.end("SIGTERM");
        expect(await run.ended).toBe(0);
        expect(performance.now() - askedAt).toBeLessThan(15_000);
        expect(run.lines.map(({ message }) => message)).not.toContain("controllers did not stop in time");
        server.close();
      },
      60_000,
    );
  });

  it("says what is not built, and where no cluster is", async () => {
    const azure = karpenterRun("--provider", "azure", ...onPlane, ...loopback);
    expect(await azure.ended).toBe(2);
    expect(azure.stderr()).toBe("error: provider azure cannot be run by this version; use --provider kwok or aws\n");
    const nowhere = karpenterRun("--provider", "kwok", ...loopback);
    expect(await nowhere.ended).toBe(1);
    expect(nowhere.lines[0]).toMatchObject({ error: expect.stringContaining("no cluster found") });
  });
});
