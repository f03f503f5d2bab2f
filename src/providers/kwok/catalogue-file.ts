import { type LabelPolicy, labelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels, resources } from "../../api/labels.ts";
import type { Problem } from "../../api/problem.ts";
import { type RequirementOperator, requirementOperators } from "../../api/vocabulary.ts";
import { type InstanceType, type Offering, offeringCapacityType } from "../../core/instance-type.ts";
import { parseInt64 } from "../../core/int64.ts";
import type { RequirementItem } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import type { Resources } from "../../core/resources.ts";
import { errorMessage } from "../../util/error-text.ts";
import { Quantity } from "../../util/quantity.ts";
import { JsonCursor, quotedExcerpt } from "./json-cursor.ts";
import { kwokInstanceType } from "./kwok-instance-type.ts";

/** Either all types of a file, or all that is wrong with it. */
export type KwokCatalogueResult =
  | { readonly types: readonly InstanceType[] }
  | { readonly problems: readonly Problem[] };

/** When a file does not say. (02:K-4) */
const defaultPods = Quantity.of(110);

/** Reads the text of an instance types file in the KWOK format. (02:K-4) */
export function parseKwokFile(text: string, policy: LabelPolicy = labelPolicy("kwok")): KwokCatalogueResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `is not JSON: ${errorMessage(error)}`;
    return { problems: [{ code: "unreadable", path: [], message, expected: "a JSON list of instance types" }] };
  }
  return readKwokFile(value, policy);
}

/** Reads an instance types file that is JSON already. */
export function readKwokFile(value: unknown, policy: LabelPolicy = labelPolicy("kwok")): KwokCatalogueResult {
  const root = JsonCursor.root(value);
  const cursors = root.items() ?? [];
  const types = allDefined(cursors.map((at) => readType(at, policy)));
  if (types !== undefined) noteUndeclaredReservations(cursors, types);
  return types === undefined || root.problems.length > 0 ? { problems: root.problems } : { types };
}

function readType(at: JsonCursor, policy: LabelPolicy): InstanceType | undefined {
  if (!at.isRecord()) return undefined;
  const name = at.field("name").name();
  const architecture = at.field("architecture").name();
  const operatingSystems = readOperatingSystems(at.field("operatingSystems"));
  const amounts = readResources(at.field("resources"));
  const offerings = allDefined(
    at
      .field("offerings")
      .items()
      ?.map((one) => readOffering(one, policy)),
  );
  if (name === undefined || architecture === undefined || operatingSystems === undefined) return undefined;
  if (amounts === undefined || offerings === undefined) return undefined;
  return kwokInstanceType({ name, architecture, operatingSystems, resources: amounts, offerings });
}

function readOperatingSystems(at: JsonCursor): readonly string[] | undefined {
  const names = allDefined(at.items()?.map((one) => one.name()));
  if (names?.length !== 0) return names;
  return at.note({ code: "too-few", message: "names no operating system", expected: "linux or windows" });
}

function readResources(at: JsonCursor): Resources | undefined {
  if (!at.isRecord()) return undefined;
  const before = at.problems.length;
  const amounts: Record<string, Quantity> = { [resources.pods]: defaultPods };
  for (const [name, one] of at.fields()) {
    const quantity = one.quantity();
    if (one.hasKeyForName() && quantity !== undefined) amounts[name] = quantity;
  }
  for (const name of [resources.cpu, resources.memory]) if (!at.fields().has(name)) at.field(name).quantity();
  return at.problems.length > before ? undefined : amounts;
}

function readOffering(at: JsonCursor, policy: LabelPolicy): Offering | undefined {
  if (!at.isRecord()) return undefined;
  const price = at.field("Price").amount();
  const requirements = readRequirements(at.field("Requirements"), policy);
  if (price === undefined || requirements === undefined) return undefined;
  // Available is not asked: whatever a file lists can be had. (02:K-4)
  const offering: Offering = { requirements, price, available: true };
  return offeringCapacityType(offering) === "reserved" ? readReservation(at, offering) : offering;
}

function readReservation(at: JsonCursor, offering: Offering): Offering | undefined {
  const reservationCapacity = at.field("ReservationCapacity").count();
  if (offering.requirements.get(kwokLabels.reservationId).singleValue === undefined) {
    const message = `a reserved offering names its reservation by ${kwokLabels.reservationId}`;
    return at.field("Requirements").note({ code: "required", message, expected: "In with one value" });
  }
  return reservationCapacity === undefined ? undefined : { ...offering, reservationCapacity };
}

/** Zone and capacity type are what makes an offering. (02:C-2) */
function readRequirements(at: JsonCursor, policy: LabelPolicy): Requirements | undefined {
  const items = allDefined(at.items()?.map(readItem));
  if (items === undefined) return undefined;
  const requirements = Requirements.fromItems(items, policy);
  const missing = [labels.capacityType, labels.zone].filter((key) => requirements.get(key).singleValue === undefined);
  for (const key of missing) {
    at.note({ code: "required", message: `an offering has exactly one ${key}`, expected: "In with one value" });
  }
  return missing.length > 0 ? undefined : requirements;
}

function readItem(at: JsonCursor): RequirementItem | undefined {
  if (!at.isRecord()) return undefined;
  const key = at.field("key").key();
  const operator = readOperator(at.field("operator"));
  const given = at.field("values");
  const values = given.isMissing ? [] : allDefined(given.items()?.map((one) => one.labelValue()));
  if (key === undefined || operator === undefined || values === undefined) return undefined;
  const expected = expectedValues(operator, values);
  if (expected === undefined) return { key, operator, values };
  return given.note({ code: "value-count", message: `does not suit operator ${operator}`, expected });
}

function readOperator(at: JsonCursor): RequirementOperator | undefined {
  const text = at.text();
  const operator = requirementOperators.find((one) => one === text);
  if (text === undefined || operator !== undefined) return operator;
  const expected = requirementOperators.join(", ");
  return at.note({ code: "unknown-operator", message: `${quotedExcerpt(text)} is not an operator`, expected });
}

/** What the operator needs and these are not; nothing when they will do. */
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

/** Where there are reservations, an offering without one says so, or it would pass for any of them. (02:C-2) */
function noteUndeclaredReservations(cursors: readonly JsonCursor[], types: readonly InstanceType[]): void {
  const isReserved = (offering: Offering): boolean => offeringCapacityType(offering) === "reserved";
  if (!types.some((type) => type.offerings.some(isReserved))) return;
  const message = `in a file with reservations, other offerings rule out ${kwokLabels.reservationId}`;
  for (const [typeIndex, at] of cursors.entries()) {
    for (const [index, one] of (at.field("offerings").items() ?? []).entries()) {
      const offering = types[typeIndex]?.offerings[index];
      if (offering === undefined || isReserved(offering)) continue;
      if (offering.requirements.get(kwokLabels.reservationId).operator === "DoesNotExist") continue;
      one.field("Requirements").note({ code: "required", message, expected: "DoesNotExist" });
    }
  }
}

/** The list, if none of it is missing. */
function allDefined<T>(list: readonly (T | undefined)[] | undefined): readonly T[] | undefined {
  return list?.every((one) => one !== undefined) ? (list as readonly T[]) : undefined;
}
