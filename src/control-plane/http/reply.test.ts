import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { jsonPartsReply, sendReply } from "./reply.ts";

const mebibyte = 1024 * 1024;

it("05:CP-S3 a large body waits in its parts for a client that does not read, and arrives whole once it does", async () => {
  const parts = Array.from({ length: 40 }, (_, index) => Buffer.alloc(mebibyte, 65 + index));
  let sending: ServerResponse | undefined;
  const server = createServer((_, response) => {
    sending = response;
    sendReply(response, jsonPartsReply(parts));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const incoming = await new Promise<IncomingMessage>((resolve) => get({ host: "127.0.0.1", port }, resolve));
  expect(incoming.headers["transfer-encoding"]).toBe("chunked");
  expect(sending?.writableLength ?? 0).toBeLessThan(4 * mebibyte);

  const received: Buffer[] = [];
  for await (const chunk of incoming) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(Buffer.concat(parts))).toBe(true);
  server.close();
});
