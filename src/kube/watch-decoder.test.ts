import { expect, it } from "vitest";
import type { KubeObject } from "../api/object.ts";
import type { WatchEvent } from "./client.ts";
import { watchEvents } from "./watch-decoder.ts";

async function decoded(...lines: readonly (string | Uint8Array)[]): Promise<readonly WatchEvent<KubeObject>[]> {
  const bytes = lines.map((line) => (typeof line === "string" ? new TextEncoder().encode(`${line}\n`) : line));
  const events: WatchEvent<KubeObject>[] = [];
  for await (const event of watchEvents(inOrder(bytes))) events.push(event);
  return events;
}

async function* inOrder(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const event = (type: string, object: object) => JSON.stringify({ type, object });
const metadata = { name: "a", resourceVersion: "7" };

it("05 §3 events are decoded as they are; an empty line is none", async () => {
  const ended = { ...metadata, annotations: { "k8s.io/initial-events-end": "true" } };
  expect(
    await decoded(
      event("ADDED", { metadata }),
      "",
      event("BOOKMARK", { metadata }),
      event("BOOKMARK", { metadata: ended }),
    ),
  ).toEqual([
    { type: "ADDED", object: { metadata } },
    { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: false },
    { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: true },
  ]);
});

it.each([
  ["{", "not JSON"],
  [Uint8Array.of(0x22, 0xff, 0x22, 0x0a), "not JSON"],
  ["[]", "no object"],
  [JSON.stringify({ type: "ADDED" }), "no object"],
  [event("ADDED", {}), "object without resourceVersion"],
  [event("ADDED", { metadata: { resourceVersion: 7 } }), "object without resourceVersion"],
  [event("ADDDED", { metadata }), 'unknown type "ADDDED"'],
  [event("ERROR", { metadata }), "error without a status"],
])("05 §3 a line that is no event ends the watch with the reason: %s", async (line, because) => {
  await expect(decoded(event("ADDED", { metadata }), line)).rejects.toMatchObject({
    code: "server-error",
    message: `undecodable watch event: ${because}`,
  });
});

it("05 §3 the error a server sends is thrown as it is", async () => {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code: 410,
    reason: "Expired",
    message: "too old",
  };
  await expect(decoded(event("ERROR", status))).rejects.toMatchObject({ code: "expired", message: "too old" });
});
