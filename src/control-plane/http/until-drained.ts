import type { ServerResponse } from "node:http";

/** Waits until a client that reads slowly has read what was written, or is gone. */
export function untilDrained(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const proceed = () => {
      response.off("drain", proceed).off("close", proceed);
      resolve();
    };
    response.on("drain", proceed).on("close", proceed);
  });
}
