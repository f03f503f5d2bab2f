/** A semantic version (semver.org, 2.0.0). */
export class Semver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly #preRelease: readonly string[];

  private constructor({ major, minor, patch, preRelease }: SemverParts) {
    this.major = major;
    this.minor = minor;
    this.patch = patch;
    this.#preRelease = preRelease;
  }

  /** Undefined if the text is no semantic version. */
  static parse(text: string): Semver | undefined {
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const [, major = "", minor = "", patch = "", preRelease] = match;
    return new Semver({
      major: BigInt(major),
      minor: BigInt(minor),
      patch: BigInt(patch),
      preRelease: preRelease === undefined ? [] : preRelease.split("."),
    });
  }

  /** Also accepts a leading `v`, missing minor and patch numbers, and leading zeros. */
  static parseTolerantly(text: string): Semver | undefined {
    const trimmed = text.trim().replace(/^v/, "");
    const [numbers = "", rest = ""] = splitAtFirst(trimmed, /[-+]/);
    const parts = numbers.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
    while (parts.length < 3) parts.push("0");
    return Semver.parse(parts.join(".") + rest);
  }

  /** Build metadata does not count; a version is above its own pre-releases. */
  compare(other: Semver): -1 | 0 | 1 {
    return (
      order(this.major, other.major) ||
      order(this.minor, other.minor) ||
      order(this.patch, other.patch) ||
      comparePreReleases(this.#preRelease, other.#preRelease)
    );
  }
}

interface SemverParts {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly preRelease: readonly string[];
}

const number = "(?:0|[1-9]\\d*)";
const preReleasePart = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const pattern = new RegExp(
  `^(${number})\\.(${number})\\.(${number})(?:-(${preReleasePart}(?:\\.${preReleasePart})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

function splitAtFirst(text: string, separator: RegExp): readonly [string, string] {
  const at = text.search(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at)];
}

function order<T extends bigint | string | number>(a: T, b: T): -1 | 0 | 1 {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function comparePreReleases(a: readonly string[], b: readonly string[]): -1 | 0 | 1 {
  if (a.length === 0 || b.length === 0) return order(b.length, a.length); // none is above any
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const result = comparePreReleaseParts(a[at] ?? "", b[at] ?? "");
    if (result !== 0) return result;
  }
  return order(a.length, b.length);
}

/** Numbers are compared as such and are below texts. */
function comparePreReleaseParts(a: string, b: string): -1 | 0 | 1 {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return order(BigInt(a), BigInt(b));
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return order(a, b);
}
