import { apiError, badRequest } from "./api-errors.ts";

/** The resourceVersion of a request; undefined for none or any. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text.slice(0, 40))}`);
  return Number(text);
}

/** A version this server has not reached: the client saw it before the server was restarted without its data. */
export function assertRevisionReached(requestedRevision: number | undefined, current: number): void {
  if (requestedRevision === undefined || requestedRevision <= current) return;
  throw apiError("timeout", `Too large resource version: ${requestedRevision}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}
