import { hoursForDays } from "../../util/duration.ts";
import { shortJson } from "../json.ts";
import { schemaPatterns } from "./patterns.ts";

/** What a pattern stands for, in words. */
interface PatternWords {
  /** Continues "… is not". */
  readonly what: string;
  /** Continues "expected"; names examples. */
  readonly expected: string;
}

const name = "letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const durationWords: PatternWords = {
  what: "a duration in hours, minutes and seconds",
  expected: "a duration such as 720h, 30m or 1h30m",
};
const durationOrNeverWords = { ...durationWords, expected: `${durationWords.expected}, or Never` };
const reasonWords: PatternWords = {
  what: "a reason",
  expected: "one word such as NodeNotReady",
};

function idWords(what: string, example: string): PatternWords {
  return { what, expected: `an id such as ${example}` };
}

/** Every pattern of our own kinds: a reader should not have to read a regular expression. */
const patternWords: Readonly<Record<keyof typeof schemaPatterns, PatternWords>> = {
  qualifiedName: {
    what: "a qualified name",
    expected: `${name}; optionally after a DNS name and '/', such as example.com/team`,
  },
  labelValue: { what: "a label value", expected: `at most 63 ${name}, such as team-a` },
  quantity: { what: "a quantity", expected: "a number with an optional unit, such as 500m, 16 or 64Gi" },
  duration: durationWords,
  durationOrNever: durationOrNeverWords,
  budgetNodes: {
    what: "a count or a percentage",
    expected: 'a count such as "5", or a percentage from "0%" to "100%"',
  },
  budgetSchedule: {
    what: "a cron schedule",
    expected: 'five fields (minute, hour, day, month, weekday) such as "0 9 * * mon-fri", or @daily',
  },
  budgetDuration: {
    what: "a duration in hours and minutes",
    expected: "hours and minutes such as 8h, 30m or 1h30m",
  },
  volumeSize: {
    what: "a volume size",
    expected: "a whole number from 1 with Gi, G, Ti or T, up to 58Ti, such as 100Gi",
  },
  price: { what: "a price", expected: 'dollars an hour in quotes, such as "0.25"' },
  priceAdjustment: {
    what: "a price adjustment",
    expected: 'a change with its sign, such as "+0.05", "-10%" or "+25%"',
  },
  conditionType: { what: "the type of a condition", expected: `${name}, such as Ready` },
  conditionReason: reasonWords,
  conditionReasonOrEmpty: reasonWords,
  apiGroup: {
    what: "an API group",
    expected: "the group without its version, such as karpenter.k8s.aws",
  },
  subnetId: idWords("a subnet id", "subnet-0123456789abcdef0"),
  securityGroupId: idWords("a security group id", "sg-0123456789abcdef0"),
  imageId: idWords("an image id", "ami-0123456789abcdef0"),
  capacityReservationId: idWords("a capacity reservation id", "cr-0123456789abcdef0"),
  placementGroupId: idWords("a placement group id", "pg-0123456789abcdef0"),
  accountId: { what: "an AWS account", expected: "twelve digits such as 111122223333" },
};

const wordsByPattern = new Map<string, PatternWords>(
  Object.entries(schemaPatterns).map(([key, pattern]) => [pattern, patternWords[key as keyof typeof schemaPatterns]]),
);

/** What to say of a value that does not match; of patterns we do not know, the pattern itself, as Kubernetes does. */
export function patternMismatch(
  pattern: string,
  value: string,
): { readonly message: string; readonly expected: string } {
  const words = wordsByPattern.get(pattern);
  if (words === undefined)
    return { message: `${shortJson(value)} does not match`, expected: `text matching ${pattern}` };
  const hours = words.what.startsWith("a duration") ? hoursForDays(value) : undefined;
  return {
    message: `${shortJson(value)} is not ${words.what}`,
    expected: hours === undefined ? words.expected : `${words.expected}; for ${value} write ${hours}`,
  };
}
