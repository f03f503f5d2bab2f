import { expect, it } from "vitest";
import { Random } from "../../src/util/random.ts";
import { startServed } from "../control-plane/served.ts";
import { runs } from "../runs.ts";
import { hostileRequest, preparation } from "./hostile-requests.ts";
import { HostileClient } from "./send.ts";

it("05:CP-S3 patch bombs, CEL, YAML, large objects, odd definitions and unread watches are answered with 4xx or done", async () => {
  const server = await startServed({ withCrds: true });
  const client = new HostileClient(server, { connections: 4 });
  const random = new Random("hostile-tier");
  for (const request of preparation()) expect(await client.send(request)).toBe(201);
  const answered = new Map<string, Set<number>>();
  for (let count = 0; count < runs(10_000); count++) {
    const hostile = hostileRequest(random);
    const code = await client.send(hostile);
    answered.set(hostile.what, (answered.get(hostile.what) ?? new Set()).add(code));
    expect(server.faults, hostile.what).toEqual([]);
    expect(code >= 200 && (code < 500 || code === 501 || code === 504), `${hostile.what}: ${code}`).toBe(true);
  }
  expect(answered.size).toBeGreaterThan(15);
  expect((await server.ask("GET", "/readyz", { token: "" })).code).toBe(200);
  client.close();
  await server.close();
}, 600_000);
