import { once } from "node:events";
import { expect, it } from "vitest";
import { configMap, pod, types } from "../contracts/api-objects.ts";
import { startServed } from "./served.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("05:CP-S3 logs -f waits for a client that does not read", async () => {
  const line = `${"x".repeat(64 * 1024)}\n`;
  let produced = 0;
  const server = await startServed({
    logs: async function* (_pod, { signal }) {
      for (; produced < 10_000 && signal?.aborted !== true; produced++) {
        yield line;
        await turn();
      }
    },
  });
  const path = "/api/v1/namespaces/default/pods";
  await server.ask("POST", path, { headers: { "content-type": "application/json" }, body: JSON.stringify(pod("p")) });
  const response = await server.open(`${path}/p/log?follow=true`);
  response.pause();
  let before = -1;
  // It stands still once the buffers of the connection are full.
  for (let calm = 0; calm < 300; ) {
    await turn();
    calm = produced === before ? calm + 1 : 0;
    before = produced;
  }
  expect(produced).toBeLessThan(1_000);
  response.resume();
  await once(response, "data");
  while (produced < before + 100) await turn();
  response.destroy();
  await server.close();
}, 30_000);

it("05:CP-S3 a watch over HTTP that does not read is closed once its events take 8 MiB", async () => {
  const server = await startServed();
  const kind = server.api.kinds.get(types.configMaps);
  const path = "/api/v1/namespaces/default/configmaps";
  const response = await server.open(`${path}?watch=true`);
  response.pause();
  const text = "x".repeat(500_000);
  const write = (index: number) =>
    server.api.create(kind, configMap(`m${index}`, { text }), { namespace: "default" }).then(turn);
  for (let index = 0; index < 100; index++) await write(index);
  expect(server.api.watcherCount(kind)).toBe(0);
  response.destroy();
  await server.close();
}, 30_000);
