import type { ServerResponse } from "node:http";
import type { ServerWatch, ServerWatchEvent } from "../api/server-watch.ts";
import { eventBytes } from "./encode.ts";
import { untilDrained } from "./until-drained.ts";

/** Encodes an event in the requested representation. */
export type EncodeEvent = (event: Exclude<ServerWatchEvent, { type: "ERROR" }>) => Uint8Array;

/** Queued events are written together up to this size: one system call instead of hundreds. */
const maxBatchBytes = 256 * 1024;

/**
 * Headers are flushed before the first event, because clients wait for them. Listen to the response's close: the
 * request's close fires as soon as its body was read. (05 §4)
 */
export async function streamWatch(
  watch: ServerWatch,
  { response, encodeEvent }: { readonly response: ServerResponse; readonly encodeEvent: EncodeEvent },
): Promise<void> {
  response.on("close", () => watch.close());
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.flushHeaders();
  for await (const first of watch) {
    const isTakingMore = response.write(batch(first, { watch, encodeEvent }));
    if (!isTakingMore) await untilDrained(response); // events queue in the watch, which closes when too many wait
    if (response.destroyed) break;
  }
  response.end();
}

function batch(
  first: ServerWatchEvent,
  { watch, encodeEvent }: { readonly watch: ServerWatch; readonly encodeEvent: EncodeEvent },
): Uint8Array {
  const lines: Uint8Array[] = [];
  let size = 0;
  for (let event: ServerWatchEvent | undefined = first; event !== undefined; event = watch.poll()) {
    const line = lineOf(event, encodeEvent);
    lines.push(line);
    size += line.length;
    if (size > maxBatchBytes) break;
  }
  return lines.length === 1 ? (lines[0] as Uint8Array) : Buffer.concat(lines);
}

function lineOf(event: ServerWatchEvent, encodeEvent: EncodeEvent): Uint8Array {
  if (event.type === "ERROR") return eventBytes("ERROR", Buffer.from(JSON.stringify(event.status)));
  return eventBytes(event.type, encodeEvent(event));
}
