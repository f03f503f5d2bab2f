import { labels } from "../../api/labels.ts";
import { editDistance } from "../../api/manifest/closest-match.ts";

/** The shortest word a typo is recognized in: of shorter words too many are alike. */
const minLength = 3;

/** The known word that was probably meant; undefined if the word is known, or none is close enough. */
function likelyTypo(word: string, known: Iterable<string>): string | undefined {
  let best: { readonly meant: string; readonly distance: number } | undefined;
  for (const meant of known) {
    if (meant === word) return undefined;
    const distance = typoDistance(word, meant);
    if (distance !== undefined && (best === undefined || distance < best.distance)) best = { meant, distance };
  }
  return best?.meant;
}

/** Undefined where two words are different names: zone-a is no misspelled zone-b, c5.large no misspelled m5.large. */
function typoDistance(word: string, meant: string): number | undefined {
  const [a, b] = [word.toLowerCase(), meant.toLowerCase()];
  if (a === b) return 0;
  if (Math.min(a.length, b.length) < minLength || a[0] !== b[0] || isOtherOfSeries(a, b)) return undefined;
  // Two letters that changed places are one slip, not two.
  const distance = isSwap(a, b) ? 1 : editDistance(a, b);
  return distance <= (Math.max(a.length, b.length) <= 6 ? 1 : 2) ? distance : undefined;
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** Whether two words differ only in their numbers, or in a single letter that stands alone or ends a zone's name. */
function isOtherOfSeries(a: string, b: string): boolean {
  const series = (word: string): string => word.replaceAll(/\d+/g, "#").replaceAll(/(?<=[-._/#])[a-z]$/g, "?");
  return series(a) === series(b);
}

/** Other names of architectures. */
const architectures: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  "x86-64": "amd64",
  x64: "amd64",
  aarch64: "arm64",
  arm64v8: "arm64",
};

/** The value of a label that was probably meant. */
export function likelyMeantValue(key: string, value: string, known: Iterable<string>): string | undefined {
  const values = [...known];
  const alias = key === labels.arch ? architectures[value.toLowerCase()] : undefined;
  return alias !== undefined && values.includes(alias) ? alias : likelyTypo(value, values);
}

/** The label that was probably meant: the same name in another domain, or a misspelled one. */
export function likelyMeantKey(key: string, known: Iterable<string>): string | undefined {
  const keys = [...known];
  return keys.find((one) => one !== key && nameOf(one) === nameOf(key)) ?? likelyTypo(key, keys);
}

function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
