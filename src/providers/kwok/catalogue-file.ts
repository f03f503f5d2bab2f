import * as z from "zod";
import type { CounterSet, SliceDevice } from "../../api/devices/device-objects.ts";
import { schemaPatterns } from "../../api/kinds/patterns.ts";
import type { RequirementItem } from "../../api/kubernetes/pod.ts";
import { type LabelPolicy, labelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels, resources } from "../../api/labels.ts";
import { isRecord } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { type RequirementOperator, requirementOperators } from "../../api/vocabulary.ts";
import { type InstanceType, type Offering, offeringCapacityType } from "../../core/instance-type.ts";
import { parseInt64 } from "../../core/int64.ts";
import { Requirements } from "../../core/requirements.ts";
import { errorMessage } from "../../util/error-text.ts";
import { Quantity } from "../../util/quantity.ts";
import { kwokInstanceType } from "./kwok-instance-type.ts";

/** Either all types of a file, or all that is wrong with it. */
export type KwokCatalogueResult =
  | { readonly types: readonly InstanceType[] }
  | { readonly problems: readonly Problem[] };

/** Reads the text of an instance types file in the KWOK format. (02:K-4) */
export function parseKwokFile(text: string, policy: LabelPolicy = labelPolicy("kwok")): KwokCatalogueResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `is not JSON: ${errorMessage(error)}`;
    return { problems: [{ code: "unreadable", path: [], message, expected: "a JSON list of instance types" }] };
  }
  const result = fileSchema(policy).safeParse(value, { reportInput: true });
  return result.success ? { types: result.data } : { problems: result.error.issues.map(problemOf) };
}

const maxLabelValue = 63;
const maxKey = 316;
const quantityExample = "a quantity like 500m or 16Gi";
/** Pods of a type that does not state them. (02:K-4) */
const defaultPods = Quantity.of(110);

const labelValuePattern = new RegExp(schemaPatterns.labelValue);
const qualifiedNamePattern = new RegExp(schemaPatterns.qualifiedName);

const labelValue = z.string().refine(
  (value) => value.length <= maxLabelValue && labelValuePattern.test(value),
  refusal({
    code: "invalid-value",
    message: "is not a label value",
    expected: "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
  }),
);
const name = labelValue.refine((value) => value !== "", refusal({ code: "too-short", message: "may not be empty" }));
const qualifiedName = z
  .string()
  .refine(
    (value) => value.length <= maxKey && qualifiedNamePattern.test(value),
    refusal({ code: "invalid-key", message: "is not a qualified name", expected: "example.com/name" }),
  );
const amount = z
  .number()
  .refine((value) => value >= 0, refusal({ code: "too-small", message: "is negative", expected: "zero or more" }));
const count = amount.refine(
  Number.isSafeInteger,
  refusal({ code: "type", message: "is not a whole number", expected: "a whole number" }),
);

const quantity = z
  .custom<string | number>(
    (value) => typeof value === "string" || typeof value === "number",
    refusal({ code: "type", message: "is not a quantity", expected: quantityExample }),
  )
  .transform((value, context) => {
    const parsed = Quantity.tryParse(value);
    if (parsed === undefined) {
      return refuse(context, { code: "format", message: "is not a quantity", expected: quantityExample });
    }
    if (parsed.sign() >= 0) return parsed;
    return refuse(context, { code: "too-small", message: "is negative", expected: "zero or more" });
  });

const requirement = goObject({
  key: qualifiedName,
  operator: z.enum(requirementOperators),
  values: z.array(labelValue).optional(),
}).transform(({ key, operator, values = [] }, context): RequirementItem => {
  const expected = expectedValues(operator, values);
  if (expected === undefined) return { key, operator, values };
  const message = `has the wrong number or kind of values for operator ${operator}`;
  return refuse(context, { code: "value-count", message, expected }, ["values"]);
});

/** What the operator expects if the values do not fit; undefined if they do. */
function expectedValues(operator: RequirementOperator, values: readonly string[]): string | undefined {
  switch (operator) {
    case "NotIn":
    case "Exists":
    case "DoesNotExist":
      return undefined;
    case "In":
      return values.length > 0 ? undefined : "one value or more";
    default:
      return values.length === 1 && parseInt64(values[0] ?? "") !== undefined ? undefined : "exactly one integer";
  }
}

/** Resources by name; cpu and memory must be among them. */
const amounts = z.preprocess(
  (value) => (isRecord(value) ? { [resources.cpu]: undefined, [resources.memory]: undefined, ...value } : value),
  z.record(qualifiedName, quantity),
);

function offeringSchema(policy: LabelPolicy) {
  const requirements = z.array(requirement).transform((items, context) => {
    const own = Requirements.fromItems(items, policy);
    for (const key of [labels.capacityType, labels.zone]) {
      if (own.get(key).singleValue !== undefined) continue;
      const message = `an offering has exactly one ${key}`;
      refuse(context, { code: "required", message, expected: "In with one value" });
    }
    return own;
  });
  // `Available` is ignored: whatever a file lists is available. (02:K-4)
  return goObject({ Price: amount, Requirements: requirements, ReservationCapacity: count.optional() }).transform(
    ({ Price: price, Requirements: own, ReservationCapacity: reservationCapacity }, context): Offering => {
      const offering = { requirements: own, price, available: true };
      if (offeringCapacityType(offering) !== "reserved") return offering;
      if (own.get(kwokLabels.reservationId).singleValue === undefined) {
        const message = `a reserved offering names its reservation by ${kwokLabels.reservationId}`;
        refuse(context, { code: "required", message, expected: "In with one value" }, ["Requirements"]);
      }
      if (reservationCapacity !== undefined) return { ...offering, reservationCapacity };
      const missing = { code: "required", message: "is missing", expected: "a whole number" } as const;
      return refuse(context, missing, ["ReservationCapacity"]);
    },
  );
}

/** ResourceSlices as nodes of the type publish them, of which only names are checked here. (02:D-3) */
const deviceId = z.object({ driver: name, pool: name, device: name });
const dynamicResources = z.object({
  resourceSlices: z.array(
    z.object({
      driver: name,
      pool: z.object({ name }),
      devices: z
        .array(z.custom<SliceDevice>((value) => isRecord(value) && typeof value["name"] === "string"))
        .optional(),
      sharedCounters: z
        .array(z.custom<CounterSet>((value) => isRecord(value) && typeof value["name"] === "string"))
        .optional(),
    }),
  ),
  attributeBindings: z.array(z.object({ attribute: name, devices: z.array(deviceId) })).default([]),
});

function fileSchema(policy: LabelPolicy) {
  const type = goObject({
    name,
    architecture: name,
    operatingSystems: z
      .array(name)
      .refine(
        (names) => names.length > 0,
        refusal({ code: "too-few", message: "does not list an operating system", expected: "linux or windows" }),
      ),
    resources: amounts,
    offerings: z.array(offeringSchema(policy)),
    dynamicResources: dynamicResources.optional(),
  }).transform((spec) =>
    kwokInstanceType({ ...spec, resources: { [resources.pods]: defaultPods, ...spec.resources } }),
  );
  return z.array(type).superRefine(refuseUndeclaredReservations);
}

/** In a file with reservations every other offering must exclude the reservation label, or it would match any of them. (02:C-2) */
function refuseUndeclaredReservations(types: readonly InstanceType[], context: z.RefinementCtx): void {
  const isReserved = (offering: Offering): boolean => offeringCapacityType(offering) === "reserved";
  if (!types.some(({ offerings }) => offerings.some(isReserved))) return;
  const message = `in a file with reservations, other offerings must exclude ${kwokLabels.reservationId}`;
  for (const [typeIndex, { offerings }] of types.entries()) {
    for (const [index, offering] of offerings.entries()) {
      if (isReserved(offering)) continue;
      if (offering.requirements.get(kwokLabels.reservationId).operator === "DoesNotExist") continue;
      const path = [typeIndex, "offerings", index, "Requirements"];
      refuse(context, { code: "required", message, expected: "DoesNotExist" }, path);
    }
  }
}

/** An object as Go reads it: fields match whatever their case, null is nothing, and unknown fields are ignored. */
function goObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => {
    if (!isRecord(value)) return value;
    const given = (field: string): unknown => {
      const isSame = (key: string): boolean => key.toLowerCase() === field.toLowerCase();
      return value[Object.hasOwn(value, field) ? field : (Object.keys(value).find(isSame) ?? field)] ?? undefined;
    };
    return Object.fromEntries(Object.keys(shape).map((field) => [field, given(field)]));
  }, z.object(shape));
}

type Reason = Omit<Problem, "path">;

function refusal(reason: Reason) {
  return { params: { reason }, abort: true };
}

function refuse(context: z.RefinementCtx, reason: Reason, path: (string | number)[] = []): never {
  context.addIssue({ code: "custom", path, params: { reason }, continue: false });
  return z.NEVER;
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  return { ...reasonOf(issue), path };
}

function reasonOf(issue: z.core.$ZodIssue): Reason {
  if (issue.code === "invalid_key" && issue.issues[0] !== undefined) return reasonOf(issue.issues[0]);
  const { input } = issue;
  const isMissing = input === undefined || input === null;
  if (issue.code === "custom") {
    const reason: Reason = issue.params?.["reason"];
    if (isMissing) return { ...reason, code: "required", message: "is missing" };
    const isShown = typeof input === "string" || typeof input === "number";
    return isShown ? { ...reason, message: `${quotedExcerpt(input)} ${reason.message}` } : reason;
  }
  const expected =
    issue.code === "invalid_type"
      ? (typeNames[issue.expected] ?? issue.expected)
      : `one of ${requirementOperators.join(", ")}`;
  if (isMissing) return { code: "required", message: "is missing", expected };
  if (issue.code === "invalid_type") return { code: "type", message: `is ${kindOf(input)}`, expected };
  return { code: "unknown-operator", message: `${quotedExcerpt(String(input))} is not an operator`, expected };
}

const typeNames: Readonly<Record<string, string>> = {
  array: "a list",
  object: "an object",
  record: "an object",
  string: "a string",
  number: "a finite number",
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Text from the file is shortened in messages. */
function quotedExcerpt(value: string | number): string {
  return JSON.stringify(String(value).slice(0, 80));
}
