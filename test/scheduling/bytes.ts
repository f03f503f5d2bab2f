import type { Decision } from "../../src/core/scheduling/decision.ts";
import { readable } from "../twin/readable.ts";

/** Everything there is to see of a decision, refusals and figures included. */
export function bytes(decision: Decision): string {
  const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
  return JSON.stringify([readable(decision), decision.refusals, decision.statistics], plain);
}
