import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../../src/kube/connection.ts";
import { httpClient } from "../../../src/kube/http-client.ts";
import { isKubeError } from "../../../src/kube/kube-error.ts";
import { socketTransport } from "../../../src/kube/socket-transport.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { Random } from "../../../src/util/random.ts";
import { configMap, types } from "../../contracts/api-objects.ts";
import { bundle } from "./bundle.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-kill-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each start is half a second: a handful in tier 1, a hundred in the long one. */
const kills = process.env["LONG"] === "1" ? 100 : 3;
const writers = 8;
const compactAfterBytes = 64 * 1024; // so that some are killed while the journal is rewritten

interface Running {
  readonly process: ChildProcess;
  readonly client: KubeClient;
  kill(): Promise<void>;
}

async function start(program: string, data: string): Promise<Running> {
  const child = spawn(process.execPath, [program, data, String(compactAfterBytes)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`the control plane ended with ${code}`))),
  ])) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  const credentials = fixedCredentials({ headers: bearerHeaders(token) });
  const transport = socketTransport({ server: url, tls: {}, credentials, namespace: "default" });
  return {
    process: child,
    client: httpClient({ transport, clock: systemClock(), userAgent: "karpenter/test" }),
    kill: async () => {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      transport.close();
    },
  };
}

type Stored = KubeObject & { readonly data: { readonly value: string } };

/** What a writer was told last of its objects; what it was not told may have happened or not. */
class Ledger {
  readonly acknowledged = new Map<string, string | undefined>();
  readonly open = new Map<string, string | undefined>();
  highest = 0;
  count = 0;
  #awaited: { readonly count: number; readonly reached: () => void } | undefined;

  /** Resolves when so many more writes have been acknowledged. */
  after(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#awaited = { count: this.count + count, reached };
    });
  }

  async write(client: KubeClient, name: string, value: string | undefined): Promise<void> {
    this.open.set(name, value);
    const key = { name, namespace: "default" };
    if (value === undefined) {
      await client.delete(types.configMaps, key).catch((error: unknown) => {
        if (!isKubeError(error, "not-found")) throw error;
      });
    } else {
      const body = { ...configMap(name, { value }) };
      const made = await client.patch(types.configMaps, key, { kind: "apply", body, fieldManager: "storm" });
      this.highest = Math.max(this.highest, Number(made.metadata.resourceVersion));
    }
    this.open.delete(name);
    this.acknowledged.set(name, value);
    if (++this.count === this.#awaited?.count) this.#awaited.reached();
  }

  /** Whatever was under way when the server died is now as it is. */
  settle(found: ReadonlyMap<string, string>): void {
    for (const [name, attempted] of this.open) {
      expect([this.acknowledged.get(name), attempted], name).toContain(found.get(name));
      this.acknowledged.set(name, found.get(name));
    }
    this.open.clear();
  }
}

/** Writes until the server is gone; each writer has its own objects, so that the order of its writes is known. */
async function storm(client: KubeClient, ledger: Ledger, { random, round }: { random: Random; round: number }) {
  const writer = async (own: Random, id: number) => {
    for (let count = 0; ; count++) {
      const name = `w${id}-${own.int(40)}`;
      await ledger.write(client, name, own.int(6) === 0 ? undefined : `${round}.${count}${"x".repeat(own.int(400))}`);
    }
  };
  const all = Array.from({ length: writers }, (_, id) => writer(random.fork(`${round}/${id}`), id));
  return Promise.allSettled(all);
}

it(`05:CP-T5 keeps every acknowledged write through ${kills} times kill -9 in a storm of writes`, async () => {
  const program = await bundle(join(import.meta.dirname, "server.ts"), folder);
  const data = join(folder, "data");
  const random = new Random("kill");
  const ledger = new Ledger();
  let running = await start(program, data);
  try {
    for (let round = 0; round < kills; round++) {
      const isTime = ledger.after(20 + random.int(300));
      const stormy = storm(running.client, ledger, { random, round });
      await isTime;
      await running.kill();
      const ended = await stormy;
      expect(ended.every(({ status }) => status === "rejected")).toBe(true);

      running = await start(program, data);
      const { items, resourceVersion } = await running.client.list<Stored>(types.configMaps, { namespace: "default" });
      const found = new Map(items.map(({ metadata, data }) => [metadata.name ?? "", data.value]));
      ledger.settle(found);
      const expected = [...ledger.acknowledged].filter(([, value]) => value !== undefined);
      expect(new Map([...found].sort())).toEqual(new Map(expected.sort() as [string, string][]));
      expect(Number(resourceVersion)).toBeGreaterThan(ledger.highest);
    }
  } finally {
    await running.kill();
  }
  expect(ledger.count).toBeGreaterThan(kills * 20);
}, 600_000);
