import { badRequest, failure } from "./failures.ts";

/** A resourceVersion a client sent; undefined: none, or any. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text.slice(0, 40))}`);
  return Number(text);
}

/** Nobody can have seen a version that was not made yet, except of another life of this server. */
export function assertReached(asked: number | undefined, current: number): void {
  if (asked === undefined || asked <= current) return;
  throw failure("timeout", `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}
