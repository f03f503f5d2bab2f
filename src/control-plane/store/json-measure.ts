/** How large a JSON value is. */
export interface JsonMeasure {
  /** About how many bytes it has as JSON. */
  readonly bytes: number;
  /** How many fields and items it has, at all levels. */
  readonly values: number;
  /** How many of them are objects without fields. */
  readonly emptyObjects: number;
  /** Deeper levels were not measured. */
  readonly isTooDeep: boolean;
}

interface Sum {
  bytes: number;
  values: number;
  emptyObjects: number;
  isTooDeep: boolean;
}

export function measureJson(value: unknown, { maxDepth = Number.POSITIVE_INFINITY } = {}): JsonMeasure {
  const sum: Sum = { bytes: 0, values: 0, emptyObjects: 0, isTooDeep: false };
  measureInto(sum, value, maxDepth);
  return sum;
}

function measureInto(sum: Sum, value: unknown, levels: number): void {
  sum.values += 1;
  if (typeof value === "string") sum.bytes += textBytes(value) + 2;
  else if (typeof value === "number") sum.bytes += value >= 0 && value < 10 ? 1 : 8;
  else if (typeof value !== "object" || value === null) sum.bytes += 4;
  else if (levels <= 0) sum.isTooDeep = true;
  else measureMembers(sum, value, levels - 1);
}

function measureMembers(sum: Sum, value: object, levels: number): void {
  sum.bytes += 2;
  if (Array.isArray(value)) {
    sum.bytes += value.length;
    for (const item of value) measureInto(sum, item, levels);
    return;
  }
  const keys = Object.keys(value);
  if (keys.length === 0) sum.emptyObjects += 1;
  for (const key of keys) {
    sum.bytes += key.length + 4;
    measureInto(sum, (value as Record<string, unknown>)[key], levels);
  }
}

/** Short texts are counted by characters, which is much faster and seldom differs. */
function textBytes(text: string): number {
  return text.length < 1024 ? text.length : Buffer.byteLength(text);
}

/** What a field or item takes beside its text, in objects with very many of them; in others it is less. */
const valueBytes = 24;
/** V8 leaves room for fields in an object that had none when it was read; managedFields are full of such. */
const emptyObjectBytes = 56;

/** About how much memory a measured value takes. */
export function memoryBytes({ bytes, values, emptyObjects }: JsonMeasure): number {
  return bytes + values * valueBytes + emptyObjects * emptyObjectBytes;
}
