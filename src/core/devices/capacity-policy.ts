import type { CapacityRequestPolicy, DeviceCapacity, SliceDevice } from "../../api/devices/device-objects.ts";
import { Quantity } from "../../util/quantity.ts";

/** What a request takes of each capacity of a device that several claims may share, in billionths. (02:D-8) */
export type ConsumedCapacity = ReadonlyMap<string, bigint>;

/**
 * Undefined if the device does not have what is asked for, or its policy forbids the amount. Every capacity counts: one
 * that is not asked for is taken by its default, or whole.
 */
export function consumedCapacity(
  { capacity = {} }: SliceDevice,
  asked: ReadonlyMap<string, Quantity>,
): ConsumedCapacity | undefined {
  for (const name of asked.keys()) if (!Object.hasOwn(capacity, name)) return undefined;
  const consumed = new Map<string, bigint>();
  for (const [name, one] of Object.entries(capacity)) {
    const amount = amountTaken(one, asked.get(name));
    if (violates(amount, one.requestPolicy)) return undefined;
    consumed.set(name, amount.nano);
  }
  return consumed;
}

function amountTaken({ value, requestPolicy }: DeviceCapacity, asked: Quantity | undefined): Quantity {
  if (asked === undefined) return quantityOf(requestPolicy?.default ?? value);
  const { validRange, validValues } = requestPolicy ?? {};
  if (validRange?.min !== undefined) return roundedUp(asked, validRange);
  return validValues?.map(quantityOf).find((one) => asked.cmp(one) <= 0) ?? asked;
}

/** At least the minimum, and a whole number of steps above it. */
function roundedUp(asked: Quantity, { min = 0, step }: NonNullable<CapacityRequestPolicy["validRange"]>): Quantity {
  const least = quantityOf(min);
  if (asked.cmp(least) < 0) return least;
  const width = step === undefined ? 0n : quantityOf(step).value();
  if (width <= 0n) return asked;
  const over = (asked.value() - least.value()) % width;
  return Quantity.of(asked.value() + (over === 0n ? 0n : width - over), "BinarySI");
}

/** The default is always allowed. */
function violates(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  if (policy === undefined) return false;
  const { default: standard, validRange, validValues } = policy;
  if (standard !== undefined && amount.equals(quantityOf(standard))) return false;
  if (validRange !== undefined) return violatesRange(amount, validRange);
  if (validValues === undefined || validValues.length === 0) return false;
  return !validValues.some((value) => amount.equals(quantityOf(value)));
}

function violatesRange(
  amount: Quantity,
  { min = 0, max, step }: NonNullable<CapacityRequestPolicy["validRange"]>,
): boolean {
  if (max !== undefined && amount.cmp(quantityOf(max)) > 0) return true;
  const width = step === undefined ? 0n : quantityOf(step).value();
  return width > 0n && (amount.value() - quantityOf(min).value()) % width !== 0n;
}

function quantityOf(value: string | number): Quantity {
  return Quantity.tryParse(value) ?? Quantity.zero;
}
