import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import type { Random } from "../../../src/util/random.ts";
import type { ClientFaultRates } from "./fault-plan.ts";

/** What the watch of a kind may be late by. */
const watchDelays = [0, 100, 500, 1_000, 3_000];
const callDelays = [0, 50, 500];

/**
 * How late a server is that works: the watch of each kind has a delay of its own, so that changes of two kinds arrive in
 * any order, and calls take time, so that events arrive while one is under way. (05:CP-T4)
 */
export function drawDeliveryDelays(random: Random): Pick<ClientFaultRates, "watchDelayMs" | "callDelayMs"> {
  const kinds = Object.values({ ...builtInTypes, ...karpenterTypes }).map(({ kind }) => kind);
  return {
    watchDelayMs: Object.fromEntries(kinds.map((kind) => [kind, random.fork(kind).pick(watchDelays)])),
    callDelayMs: random.fork("calls").pick(callDelays),
  };
}
