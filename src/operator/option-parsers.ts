import { parseDurationMs } from "../util/duration.ts";

/** How the value of an option is parsed. */
export interface OptionParser<T> {
  /** As help shows it: `<number>`; in brackets if the flag can be given without a value. */
  readonly placeholder: string;
  /** What a value must be, for messages. */
  readonly expected: string;
  /** The values there are, if they are a closed set. */
  readonly choices?: readonly string[] | undefined;
  /** Undefined if the value is invalid. */
  readonly read: (text: string) => T | undefined;
  /** For environment variables, if more is accepted there than in a flag. */
  readonly readEnv?: ((text: string) => T | undefined) | undefined;
  /** Whether an invalid environment variable ends the process; otherwise the default is used. */
  readonly isStrict: boolean;
}

export const textParser: OptionParser<string> = {
  placeholder: "<text>",
  expected: "text",
  read: (given) => given,
  isStrict: true,
};

export const listParser: OptionParser<readonly string[]> = {
  placeholder: "<list>",
  expected: "comma-separated values",
  read: (given) => given.split(",").map((one) => one.trim()),
  isStrict: true,
};

export function wholeNumberParser({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }) {
  const bounds = max < Number.MAX_SAFE_INTEGER ? ` from ${min} to ${max}` : min >= -1 ? ` from ${min}` : "";
  return {
    placeholder: "<number>",
    expected: `a whole number${bounds}`,
    read: (given: string): number | undefined => {
      const number = Number(given);
      return /^[+-]?\d{1,15}$/.test(given) && number >= min && number <= max ? number : undefined;
    },
    isStrict: false,
  } satisfies OptionParser<number>;
}

/** Zero picks a free port. */
export const portParser: OptionParser<number> = {
  ...wholeNumberParser({ min: 0, max: 65_535 }),
  placeholder: "<port>",
};

export const durationParser: OptionParser<number> = {
  placeholder: "<duration>",
  expected: "a duration such as 10s or 1m30s",
  read: (given) => {
    const ms = parseDurationMs(given);
    return ms !== undefined && ms >= 0 ? ms : undefined;
  },
  isStrict: false,
};

/** Also below zero, so that the provider says which durations it takes. */
export const signedDurationParser: OptionParser<number> = { ...durationParser, read: parseDurationMs };

export const decimalParser: OptionParser<number> = {
  placeholder: "<number>",
  expected: "a number such as 0.075",
  read: (given) => {
    const number = Number(given);
    return given.trim() !== "" && Number.isFinite(number) ? number : undefined;
  },
  isStrict: false,
};

const goBooleans: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(["1", "t", "T", "true", "TRUE", "True"].map((word) => [word, true])),
  ...Object.fromEntries(["0", "f", "F", "false", "FALSE", "False"].map((word) => [word, false])),
};

function parseGoBoolean(given: string): boolean | undefined {
  return Object.hasOwn(goBooleans, given) ? goBooleans[given] : undefined;
}

export const booleanParser: OptionParser<boolean> = {
  placeholder: "[boolean]",
  expected: "true or false",
  read: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  readEnv: parseGoBoolean,
  isStrict: false,
};

export function choiceParser<const T extends string>(values: readonly T[]): OptionParser<T> {
  return {
    placeholder: `<${values.filter((value) => value !== "").join("|")}>`,
    expected: `one of ${values.filter((value) => value !== "").join(", ")}`,
    choices: values.filter((value) => value !== ""),
    read: (given) => values.find((value) => value === given),
    isStrict: true,
  };
}

/** `Name=bool,...`: unknown names belong to other versions and are ignored. (03 §6.4) */
export function gatesParser<Gates extends Readonly<Record<keyof Gates, boolean>>>(
  defaults: Gates,
): OptionParser<Gates> {
  return {
    placeholder: "<gates>",
    expected: "comma-separated Name=true|false",
    read: (given) => {
      const changes: Record<string, boolean> = {};
      for (const pair of given.split(",").filter((one) => one.trim() !== "")) {
        const [, name = "", value = ""] = /^\s*([^=]*?)\s*=(.*)$/s.exec(pair) ?? [];
        const isOn = parseGoBoolean(value.trim());
        if (isOn === undefined) return undefined;
        if (Object.hasOwn(defaults, name)) changes[name] = isOn;
      }
      return { ...defaults, ...changes };
    },
    isStrict: true,
  };
}
