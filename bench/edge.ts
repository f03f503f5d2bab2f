import { fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import type { KubeObject } from "../src/api/object.ts";
import { serveApi } from "../src/control-plane/http/serve-api.ts";
import { bearerHeaders, fixedCredentials } from "../src/kube/connection.ts";
import { httpClient } from "../src/kube/http-client.ts";
import { builtInTypes } from "../src/kube/resources.ts";
import { SharedViews } from "../src/kube/shared-views.ts";
import { socketTransport } from "../src/kube/socket-transport.ts";
import { viewProjections } from "../src/state/view-projections.ts";
import { systemClock } from "../src/util/clock.ts";
import { timeSlicePause } from "../src/util/pause.ts";
import { Random } from "../src/util/random.ts";
import { apiOn } from "../test/world/api-world.ts";

/**
 * Twenty thousand pods over HTTP: those that are there when an informer starts, and as many that arrive while it
 * watches. The server is another process; what is measured is for how long the informer's process does nothing else.
 */
const count = 20_000;

interface Address {
  readonly url: string;
  readonly token: string;
}

/** As large as pods of a real cluster: with status, volumes, tolerations and managed fields. */
function pod(name: string, ordinal: number): KubeObject {
  const app = `app-${ordinal % 500}`;
  const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } };
  const env = Array.from({ length: 8 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value ${at} of ${app}` }));
  const container = { name: "main", image: `registry.example/${app}:1.2.3`, resources, env };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: `uid-of-${app}`, controller: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${ordinal}`,
      namespace: "default",
      labels: { app, tier: "web", team: "shop", "pod-template-hash": "5f7d8c9b4d" },
      annotations: { "example.com/config": "abcdef0123456789".repeat(4) },
      ownerReferences: [owner],
    },
    spec: {
      containers: [
        { ...container, ports: [{ containerPort: 80 }] },
        { ...container, name: "sidecar" },
      ],
      volumes: [{ name: "config", configMap: { name: app } }],
      tolerations: [{ key: "example.com/dedicated", operator: "Exists", effect: "NoSchedule" }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "topology.kubernetes.io/zone",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { app } },
        },
      ],
    },
  };
}

async function serve(): Promise<void> {
  const { api, client } = apiOn(systemClock(), { seed: "bench", fieldManager: "bench" });
  const create = async (name: string): Promise<void> => {
    for (let ordinal = 0; ordinal < count; ordinal++) await client.create(builtInTypes.Pod, pod(name, ordinal));
  };
  await create("early");
  const served = await serveApi(api, { token: "token", host: "127.0.0.1", port: 0, onInternalError: console.error });
  process.on("message", () => void create("late"));
  process.send?.({ url: served.url, token: served.token } satisfies Address);
}

/** How long the process was busy without a break: in real time, and by its own use of the processor. */
class Business {
  readonly #delays = monitorEventLoopDelay({ resolution: 1 });
  #longestCpuMs = 0;
  #cpu = process.cpuUsage();
  readonly #timer = setInterval(() => this.#look(), 1);

  constructor() {
    this.#delays.enable();
  }

  stop(): { readonly longestMs: number; readonly longestCpuMs: number } {
    clearInterval(this.#timer);
    this.#delays.disable();
    return { longestMs: this.#delays.max / 1e6, longestCpuMs: this.#longestCpuMs };
  }

  #look(): void {
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    this.#longestCpuMs = Math.max(this.#longestCpuMs, (user + system) / 1000);
  }
}

async function watch(): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), ["serve"], { execArgv: [] });
  const [{ url, token }] = (await once(server, "message")) as [Address];
  const transport = socketTransport({
    server: url,
    tls: {},
    credentials: fixedCredentials({ headers: bearerHeaders(token) }),
    namespace: "default",
  });
  const clock = systemClock();
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const pause = timeSlicePause({ now: () => performance.now(), nextTurn: turn });
  const views = new SharedViews({
    client: httpClient({ transport, clock, userAgent: "bench" }),
    pause,
    clock,
    random: new Random("bench"),
    projections: viewProjections(),
    onFailure: (_, trouble) => console.error(trouble),
  });
  const view = views.of(builtInTypes.Pod);
  const phase = async (what: string, isOver: () => boolean): Promise<void> => {
    const started = performance.now();
    const business = new Business();
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 5));
    const ms = performance.now() - started;
    const { longestMs, longestCpuMs } = business.stop();
    const heap = process.memoryUsage().heapUsed / 2 ** 20;
    console.log(
      `${what}: ${ms.toFixed(0)} ms; busy for at most ${longestMs.toFixed(0)} ms (${longestCpuMs.toFixed(0)} of processor); heap ${heap.toFixed(0)} MiB`,
    );
  };
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  await phase(`list of ${count}`, () => view.hasSynced);
  server.send("more");
  await phase(`watch of ${count}`, () => view.size >= 2 * count);
  await views.stop();
  transport.close();
  server.kill();
}

await (process.argv[2] === "serve" ? serve() : watch());
