import type { IncomingMessage } from "node:http";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { apiError, badRequest } from "../api/api-errors.ts";
import { maxRequestBytes } from "../api/object-limits.ts";

/** Bodies that are read at the same time may have so many bytes together; more are refused until others are done. */
const maxBytesInFlight = 64 * 1024 * 1024;
/** Larger bodies take milliseconds to decode, validate and store. */
const largeBytes = 32 * 1024;

/** Reads request bodies, so that neither one client nor many can take all the memory or all the time. (05:CP-S3) */
export class RequestBodies {
  #bytesInFlight = 0;
  #lastLarge: Promise<void> = Promise.resolve();

  /** Reads a body and hands it over. Refuses it as soon as it is too large. */
  async read(request: IncomingMessage): Promise<Buffer> {
    const held = { bytes: 0 };
    try {
      const body = await this.#collect(request, held);
      if (body.length > largeBytes) await this.#turnOfLarge();
      return body;
    } finally {
      this.#bytesInFlight -= held.bytes;
    }
  }

  #collect(request: IncomingMessage, held: { bytes: number }): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const collect = (chunk: Buffer): void => {
        const refusal = this.#refusal(held.bytes + chunk.length, chunk.length);
        if (refusal === undefined) {
          held.bytes += chunk.length;
          this.#bytesInFlight += chunk.length;
          chunks.push(chunk);
        } else {
          request.off("data", collect); // nothing of it counts from here on, also if the next chunk is smaller
          chunks.length = 0;
          reject(refusal);
        }
      };
      request.on("data", collect);
      request.on("end", () => resolve(Buffer.concat(chunks)));
      request.on("error", reject);
      request.on("aborted", () => reject(badRequest("the request body ended early")));
    });
  }

  #refusal(bytes: number, added: number): Error | undefined {
    if (bytes > maxRequestBytes) return apiError("too-large", `Request entity too large: limit is ${maxRequestBytes}`);
    if (this.#bytesInFlight + added <= maxBytesInFlight) return undefined;
    const message = "too many large requests at once, please try again later";
    return apiError("too-many-requests", message, { retryAfterSeconds: 1 });
  }

  /** Large bodies are taken one at a time, each in a turn of the event loop of its own: others wait for one at most. */
  #turnOfLarge(): Promise<void> {
    this.#lastLarge = this.#lastLarge.then(() => yieldToEventLoop());
    return this.#lastLarge;
  }
}
