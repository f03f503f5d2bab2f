import { apiError, badRequest } from "./api-errors.ts";

/** Of an object and of a request body, as in Kubernetes. (05:CP-S3) */
export const maxObjectBytes = 3 * 1024 * 1024;
export const maxNesting = 256;

/** Refuses values nested too deeply or too large; the size is approximate (characters, not bytes). */
export function assertWithinLimits(value: unknown): void {
  const size = sizeOf(value, 0);
  if (size > maxObjectBytes) {
    throw apiError("too-large", `Request entity too large: limit is ${maxObjectBytes}`);
  }
}

function sizeOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  if (depth >= maxNesting) throw badRequest(`the object is nested too deeply: the limit is ${maxNesting} levels`);
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item, depth + 1);
  else
    for (const key of Object.keys(value))
      size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key], depth + 1);
  return size;
}
