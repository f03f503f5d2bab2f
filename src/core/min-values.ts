import type { Requirements } from "./requirements.ts";

/** Whether instance types satisfy minValues. (02:R-30) */
export type MinValuesOutcome =
  | {
      readonly kind: "satisfied";
      /** How many types, from the front, are needed. */
      readonly needed: number;
    }
  | {
      readonly kind: "unsatisfied";
      /** The distinct values reached, for each key that falls short, in the order of keys. */
      readonly achieved: ReadonlyMap<string, number>;
    };

/** Something whose labels count towards minValues: an instance type. */
export interface HasRequirements {
  readonly requirements: Requirements;
}

/**
 * Counts the types' own values, whether or not the requirements allow them. No types at all satisfy anything: their
 * absence is reported elsewhere. (02:R-30)
 */
export function checkMinValues(types: readonly HasRequirements[], requirements: Requirements): MinValuesOutcome {
  const asked = [...requirements].filter((requirement) => requirement.minValues !== undefined);
  const seen = new Map(asked.map(({ key }) => [key, new Set<string>()]));
  const short = (): string[] =>
    asked.filter(({ key, minValues: least }) => (seen.get(key)?.size ?? 0) < (least ?? 0)).map(({ key }) => key);
  if (asked.length === 0 || types.length === 0) return { kind: "satisfied", needed: 0 };

  for (const [index, type] of types.entries()) {
    for (const [key, values] of seen) for (const value of ownValues(type, key)) values.add(value);
    if (short().length === 0) return { kind: "satisfied", needed: index + 1 };
  }
  return {
    kind: "unsatisfied",
    achieved: new Map(
      short()
        .sort()
        .map((key) => [key, seen.get(key)?.size ?? 0]),
    ),
  };
}

export function describeMinValues(achieved: ReadonlyMap<string, number>): string {
  return `minValues requirement is not met for label(s) (label(s)=[${[...achieved.keys()].join(" ")}])`;
}

/** An open set has no values to count. */
function ownValues(type: HasRequirements, key: string): Iterable<string> {
  const requirement = type.requirements.get(key);
  return requirement.complement ? [] : requirement.values;
}
