import { resources } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";

const units = ["Ti", "Gi", "Mi", "Ki"] as const;
const bytesOf: Readonly<Record<(typeof units)[number], number>> = {
  Ti: 2 ** 40,
  Gi: 2 ** 30,
  Mi: 2 ** 20,
  Ki: 2 ** 10,
};

/** Amounts in one unit, so that they can be compared at a glance. */
export function comparableAmounts(resource: string, written: readonly string[]): readonly string[] {
  const amounts = written.map((one) => (Quantity.tryParse(one) ?? Quantity.zero).toNumber());
  const isBytes =
    resource === resources.memory || resource === resources.ephemeralStorage || /hugepages/.test(resource);
  if (!isBytes) return amounts.map((one) => decimal(one, 3));
  const largest = Math.max(...amounts.map(Math.abs));
  const start = units.findIndex((unit) => largest >= bytesOf[unit]);
  if (start < 0) return amounts.map(String);
  // A smaller unit where amounts that differ would look alike.
  for (const unit of units.slice(start)) {
    const texts = amounts.map((one) => decimal(one / bytesOf[unit], 2));
    if (new Set(texts).size === new Set(amounts).size) return texts.map((text) => `${text}${unit}`);
  }
  return amounts.map(String);
}

function decimal(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
