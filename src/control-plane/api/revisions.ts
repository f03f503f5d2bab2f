import { apiError, badRequest } from "./api-errors.ts";

/** A resourceVersion a client sent; undefined: none, or any. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text.slice(0, 40))}`);
  return Number(text);
}

/** A version from the future: the client saw it before a restart of this server. */
export function assertRevisionReached(requestedRevision: number | undefined, current: number): void {
  if (requestedRevision === undefined || requestedRevision <= current) return;
  throw apiError("timeout", `Too large resource version: ${requestedRevision}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}
