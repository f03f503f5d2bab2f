/** The result of a scan. */
export interface JsonScan {
  readonly isTooDeep: boolean;
  /** More fields and items than allowed; the rest was not scanned. */
  readonly isTooLarge: boolean;
  /** Paths of keys that occur more than once in a map, as `spec.replicas`. */
  readonly duplicates: readonly string[];
}

interface JsonScanLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
}

/** Later duplicates are not reported. */
const maxDuplicates = 20;

interface Level {
  /** Keys seen so far; undefined in a list. */
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

/**
 * Scans JSON text without recursion. The depth is known before anything walks the value, and duplicate keys are found,
 * which JSON.parse drops silently. Invalid JSON is left to the parser.
 */
export function scanJson(text: string, { maxDepth, maxValues }: JsonScanLimits): JsonScan {
  const levels: Level[] = [];
  const duplicates: string[] = [];
  let isKeyNext = false;
  let values = 1; // every comma is followed by another one, and every bracket may be followed by one
  for (let at = 0; at < text.length; at++) {
    const top = levels.at(-1);
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = stringEnd(text, at);
        if (isKeyNext && top?.keys !== undefined) noteKey(text.slice(at, end), { levels, top, duplicates });
        isKeyNext = false;
        at = end - 1;
        break;
      }
      case 0x7b:
        levels.push({ keys: new Set(), key: "", index: 0 });
        values += 1;
        isKeyNext = true;
        break;
      case 0x5b:
        levels.push({ keys: undefined, key: "", index: 0 });
        values += 1;
        isKeyNext = false;
        break;
      case 0x2c:
        isKeyNext = top?.keys !== undefined;
        values += 1;
        if (top !== undefined) top.index += 1;
        break;
      case 0x7d:
      case 0x5d:
        levels.pop();
        isKeyNext = false;
        break;
    }
    if (levels.length > maxDepth) return { isTooDeep: true, isTooLarge: false, duplicates };
    if (values > maxValues) return { isTooDeep: false, isTooLarge: true, duplicates };
  }
  return { isTooDeep: false, isTooLarge: false, duplicates };
}

/** The index after the closing quote. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}

function noteKey(
  written: string,
  {
    levels,
    top,
    duplicates,
  }: { readonly levels: readonly Level[]; readonly top: Level; readonly duplicates: string[] },
): void {
  const key = written.slice(1, -1);
  top.key = key;
  if (top.keys?.has(key) === true && duplicates.length < maxDuplicates) duplicates.push(pathOf(levels));
  top.keys?.add(key);
}

function pathOf(levels: readonly Level[]): string {
  return levels
    .map(({ keys, key, index }) => (keys === undefined ? `[${index}]` : `.${key}`))
    .join("")
    .replace(/^\./, "");
}
