import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { RequestBodies } from "./request-bodies.ts";

const mebibyte = 1024 * 1024;

it("05:CP-S3 of a refused body nothing counts as in flight, whatever comes after the refusal", async () => {
  const bodies = new RequestBodies();
  const begin = () => {
    const stream = new PassThrough();
    const reading = bodies.read(stream as unknown as IncomingMessage);
    const send = (bytes: number) => stream.write(Buffer.alloc(bytes));
    return { stream, reading, send };
  };
  for (let times = 0; times < 70; times++) {
    const { stream, reading, send } = begin();
    send(2 * mebibyte);
    send(2 * mebibyte);
    await expect(reading).rejects.toThrow("Request entity too large");
    stream.resume();
    send(mebibyte); // alone it would not have been too much
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { stream, reading, send } = begin();
  send(mebibyte);
  stream.end();
  expect(await reading).toHaveLength(mebibyte);
});
