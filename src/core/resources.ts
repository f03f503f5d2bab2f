import { Quantity } from "../util/quantity.ts";

/** Amounts by resource name. A missing name means zero, but see `min` and `subtract`. (02 §4) */
export type Resources = Readonly<Record<string, Quantity>>;

export const noResources: Resources = Object.freeze({});

/** The amount of one resource; absent is zero. Names come from users, so inherited members must not be read. */
export function amountOf(list: Resources, name: string): Quantity {
  return (Object.hasOwn(list, name) ? list[name] : undefined) ?? Quantity.zero;
}

/** Sums over all names. (02:A-8) */
export function mergeResources(...lists: readonly Resources[]): Resources {
  const sum: Record<string, Quantity> = {};
  for (const list of lists) {
    for (const name of Object.keys(list)) {
      const quantity = list[name] as Quantity;
      const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
      sum[name] = before === undefined ? quantity : before.add(quantity);
    }
  }
  return sum;
}

/** What is left of `from`: its names only. (02:A-8) */
export function subtractResources(from: Resources, taken: Resources): Resources {
  const left: Record<string, Quantity> = {};
  for (const [name, quantity] of Object.entries(from)) {
    left[name] = Object.hasOwn(taken, name) ? quantity.sub(amountOf(taken, name)) : quantity;
  }
  return left;
}

/** The larger amount of every name of any list. (02:A-8) */
export function maxResources(...lists: readonly Resources[]): Resources {
  const most: Record<string, Quantity> = {};
  for (const list of lists) {
    for (const [name, quantity] of Object.entries(list)) {
      if (!Object.hasOwn(most, name) || quantity.cmp(amountOf(most, name)) > 0) most[name] = quantity;
    }
  }
  return most;
}

/** The smaller amount of the names that every list has. (02:A-8) */
export function minResources(...lists: readonly Resources[]): Resources {
  const [first = noResources, ...others] = lists;
  const least: Record<string, Quantity> = {};
  for (const [name, quantity] of Object.entries(first)) {
    if (!others.every((list) => Object.hasOwn(list, name))) continue;
    least[name] = others.reduce(
      (low, list) => (amountOf(list, name).cmp(low) < 0 ? amountOf(list, name) : low),
      quantity,
    );
  }
  return least;
}

/** One overcommitted resource blocks everything; a request for none of an unknown resource fits. (02:A-9) */
export function resourcesFit(requests: Resources, total: Resources): boolean {
  if (Object.values(total).some((quantity) => quantity.sign() < 0)) return false;
  return Object.entries(requests).every(([name, quantity]) => quantity.cmp(amountOf(total, name)) <= 0);
}

/** The same amounts under the same names. */
export function equalResources(a: Resources, b: Resources): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && amountOf(a, name).equals(amountOf(b, name)))
  );
}
