/**
 * Whether two values have the same parts. Lists, maps, sets and plain objects are compared by what they contain, so many
 * levels deep; everything below and everything else is the same only if it is identical. So a "no" may be wrong, a "yes" never.
 */
export function haveSameParts(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (depth === 0 || !isObject(a) || !isObject(b)) return false;
  if (Array.isArray(a)) return Array.isArray(b) && haveSameItems(a, b, depth - 1);
  if (a instanceof Map) return b instanceof Map && haveSameEntries(a, b, depth - 1);
  if (a instanceof Set) return b instanceof Set && a.size === b.size && [...a].every((one) => b.has(one));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && haveSameParts(a[key], b[key], depth - 1));
}

function haveSameItems(a: readonly unknown[], b: readonly unknown[], depth: number): boolean {
  return a.length === b.length && a.every((one, at) => haveSameParts(one, b[at], depth));
}

/** Order counts too: what reads a map may go through it. */
function haveSameEntries(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>, depth: number): boolean {
  if (a.size !== b.size) return false;
  const others = b.entries();
  for (const [key, value] of a) {
    const [otherKey, other] = others.next().value as [unknown, unknown];
    if (!Object.is(key, otherKey) || !haveSameParts(value, other, depth)) return false;
  }
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** An object of a class may keep things that do not show. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
