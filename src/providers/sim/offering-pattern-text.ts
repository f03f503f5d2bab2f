import { capacityTypes } from "../../api/labels.ts";
import type { OfferingPattern } from "./offering-supply.ts";

const part = /^[\w.*-]+$/;

/** Patterns as people write them: `TYPE/ZONE/CAPACITY-TYPE`, with `*` or nothing for any, separated by commas. */
export function offeringPatternsOf(text: string): {
  readonly patterns: readonly OfferingPattern[];
  readonly wrong: readonly string[];
} {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const read = words.map((word) => [word, offeringPatternOf(word)] as const);
  return {
    patterns: read.flatMap(([, pattern]) => pattern ?? []),
    wrong: read.flatMap(([word, pattern]) => (pattern === undefined ? [word] : [])),
  };
}

function offeringPatternOf(word: string): OfferingPattern | undefined {
  const parts = word.split("/");
  if (parts.length > 3 || !parts.every((one) => part.test(one))) return undefined;
  const [instanceType, zone, capacityType] = parts.map((one) => (one === "*" ? undefined : one));
  if (capacityType !== undefined && !capacityTypes.some((one) => one === capacityType)) return undefined;
  return {
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(capacityType !== undefined && { capacityType }),
  };
}
