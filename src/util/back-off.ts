import type { Random } from "./random.ts";

export interface BackOffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** The wait after this many consecutive failures: it doubles up to maxMs, and a random half of it is taken off. */
export function backOffMs(failures: number, { baseMs, maxMs, random }: BackOffOptions & { readonly random: Random }) {
  const fullMs = Math.min(maxMs, baseMs * 2 ** Math.max(0, failures - 1));
  return fullMs * (0.5 + random.next() / 2);
}
