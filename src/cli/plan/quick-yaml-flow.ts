import { manifestLimits } from "../../api/manifest/parse.ts";

/** Thrown for anything the quick reader leaves to the full parser. */
export class UnsupportedYaml extends Error {}

export function unsupported(): never {
  throw new UnsupportedYaml();
}

const numberPattern = /^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
/** Looks like a number, a date or a YAML 1.1 boolean; the full parser decides, and may warn. */
const ambiguousScalar = /^(?:[-+.]?[0-9].*|[-+]?\.(?:inf|nan).*|y|n|yes|no|on|off)$/i;
const digitsWithSuffix = /^[0-9]+[A-Za-z][A-Za-z0-9]*$/; // 500m, 16Gi, 30s

/** Reads scalars and flow collections that are on one line. */
export class FlowReader {
  readonly #line: string;
  #at: number;

  #depth: number;

  /** `line` ends where the current line ends; `depth` is how deep the value is nested. */
  constructor(line: string, { at, depth }: { readonly at: number; readonly depth: number }) {
    this.#line = line;
    this.#at = at;
    this.#depth = depth;
  }

  /** The value that fills the rest of the line, except for a comment. */
  read(): unknown {
    const first = this.#line[this.#at];
    const value = first === "{" || first === "[" || first === '"' || first === "'" ? this.#value() : this.#plainLine();
    const rest = this.#line.slice(this.#at);
    if (!/^(?:[ ]*|[ ]+#.*)$/.test(rest)) unsupported();
    return value;
  }

  #value(): unknown {
    switch (this.#line[this.#at]) {
      case "{":
      case "[":
        return this.#collection();
      case '"':
      case "'":
        return this.#quoted();
      default:
        return this.#plainWord();
    }
  }

  #collection(): unknown {
    this.#depth += 1;
    if (this.#depth > manifestLimits.depth) unsupported();
    const value = this.#line[this.#at] === "{" ? this.#map() : this.#list();
    this.#depth -= 1;
    return value;
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    for (this.#skip(); !this.#take("]"); this.#skip()) {
      items.push(this.#value());
      this.#skip();
      if (this.#line[this.#at] === ":") unsupported(); // a map of a single pair
      if (!this.#take(",") && this.#line[this.#at] !== "]") unsupported();
    }
    return items;
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at++;
    for (this.#skip(); !this.#take("}"); this.#skip()) {
      const key = this.#key();
      if (key === "__proto__" || key === "<<" || Object.hasOwn(map, key)) unsupported();
      this.#skip();
      map[key] = this.#value();
      this.#skip();
      if (!this.#take(",") && this.#line[this.#at] !== "}") unsupported();
    }
    return map;
  }

  /** Reads a key and its colon; after an unquoted key the colon needs a space. */
  #key(): string {
    const isQuoted = this.#line[this.#at] === '"' || this.#line[this.#at] === "'";
    const match = isQuoted
      ? undefined
      : /^[A-Za-z0-9_$][A-Za-z0-9_./$-]*/.exec(this.#line.slice(this.#at, this.#at + 400));
    if (match === null) unsupported();
    const key = match === undefined ? this.#quoted() : match[0];
    if (match !== undefined) this.#at += key.length;
    if (!this.#take(":")) unsupported();
    if (!isQuoted && this.#line[this.#at] !== " ") unsupported();
    return key;
  }

  #skip(): void {
    while (this.#line[this.#at] === " ") this.#at++;
    if (this.#at >= this.#line.length || this.#line[this.#at] === "#") unsupported(); // it continues on the next line
  }

  #take(character: string): boolean {
    if (this.#line[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #quoted(): string {
    const quote = this.#line[this.#at] as string;
    const start = this.#at + 1;
    let end = start;
    for (; this.#line[end] !== quote || (quote === "'" && this.#line[end + 1] === quote); end++) {
      if (end >= this.#line.length) unsupported();
      if (quote === '"' ? this.#line[end] === "\\" : this.#line[end] === quote) end++;
    }
    this.#at = end + 1;
    const inner = this.#line.slice(start, end);
    if (quote === "'") return inner.replaceAll("''", "'");
    return inner.includes("\\") ? unescaped(inner) : inner;
  }

  /** A plain scalar in a flow collection, up to the next separator. */
  #plainWord(): unknown {
    const match = /^[^,[\]{}#:"'&*!|>%@`?\s]+(?::[^,[\]{}#:"'&*!|>%@`?\s]+)*(?=[ ]*[,\]}])/.exec(
      this.#line.slice(this.#at),
    );
    if (match === null || match[0].startsWith("-") || match[0] === "~") unsupported();
    this.#at += match[0].length;
    return scalarValue(match[0]);
  }

  #plainLine(): unknown {
    const rest = this.#line.slice(this.#at);
    const hash = rest.indexOf(" #");
    const word = (hash < 0 ? rest : rest.slice(0, hash)).trimEnd();
    if (/^[-?:,[\]{}#&*!|>'"%@`~<=]/.test(word) || word.includes(": ") || word.endsWith(":")) unsupported();
    this.#at += word.length;
    return scalarValue(word);
  }
}

function unescaped(inner: string): string {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return unsupported(); // YAML has escapes that JSON does not
  }
}

function scalarValue(word: string): unknown {
  if (word === "true") return true;
  if (word === "false") return false;
  if (word === "null") return null;
  if (numberPattern.test(word)) return Number(word);
  if (digitsWithSuffix.test(word)) return word;
  if (ambiguousScalar.test(word) || /^(?:true|false|null)$/i.test(word)) unsupported();
  return word;
}
