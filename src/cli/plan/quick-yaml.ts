/**
 * The plain values of the documents in a YAML text, for the YAML people and tools write most: block style, one-line flow
 * collections, quoted and plain scalars of one line, literal blocks. Undefined for anything else, right or wrong: then
 * the full parser decides. Twenty times as fast as that one, which keeps the place and the comments of everything.
 */
export function quickYaml(text: string): readonly unknown[] | undefined {
  // Anchors, tags and the like bail out where they stand; these can hide anywhere.
  if (/[\t\r\u0000-\u0008\u000b-\u001f\u007f\u0085\u2028\u2029\ufeff]/.test(text)) return undefined;
  try {
    return new BlockReader(text).documents();
  } catch (error) {
    if (error instanceof UnsupportedYaml) return undefined;
    throw error;
  }
}

/** Something for the full parser. */
class UnsupportedYaml extends Error {}

function unsupported(): never {
  throw new UnsupportedYaml();
}

const keyPattern = /(?:[A-Za-z0-9_$][A-Za-z0-9_./$-]*|"[A-Za-z0-9_./$ -]*"|'[A-Za-z0-9_./$ -]*'):(?= |$)/my;
const numberPattern = /^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
/** Looks like a number, a date or a word with a meaning; which one is a matter for the full parser. */
const ambiguousScalar = /^(?:[-+.]?[0-9].*|[-+]?\.(?:inf|nan).*|y|n|yes|no|on|off)$/i;
const digitsWithSuffix = /^[0-9]+[A-Za-z][A-Za-z0-9]*$/; // 500m, 16Gi, 30s

class BlockReader {
  readonly #text: string;
  /** Start of the current line's content, and the column it stands in. */
  #at = 0;
  #column = 0;
  /** Just after the current line. */
  #next = 0;

  constructor(text: string) {
    this.#text = text;
  }

  documents(): readonly unknown[] {
    const found: unknown[] = [];
    this.#toContent();
    while (!this.#isOver()) {
      if (this.#isMarker()) {
        this.#line();
        this.#toContent();
        if (this.#isOver() || this.#isMarker()) continue; // an empty document
      }
      found.push(this.#block(0));
      if (!this.#isOver() && !this.#isMarker()) unsupported();
    }
    return found;
  }

  /** Moves to the next line that says something, which may be the current one. */
  #toContent(): void {
    const text = this.#text;
    while (this.#next <= text.length) {
      const start = this.#next;
      let at = start;
      while (text[at] === " ") at++;
      const end = this.#endOfLine(at);
      this.#next = end + 1;
      if (at === end || text[at] === "#") continue;
      this.#at = at;
      this.#column = at - start;
      if (this.#column === 0 && (text[at] === "%" || text.startsWith("...", at))) unsupported();
      return;
    }
    this.#at = text.length;
    this.#column = -1;
  }

  #endOfLine(at: number): number {
    const end = this.#text.indexOf("\n", at);
    return end < 0 ? this.#text.length : end;
  }

  #isOver(): boolean {
    return this.#at >= this.#text.length;
  }

  #isMarker(): boolean {
    return this.#column === 0 && this.#text.startsWith("---", this.#at);
  }

  /** A marker stands alone on its line. */
  #line(): void {
    if (!/^---(?:[ ]*|[ ]+#.*)$/.test(this.#rest())) unsupported();
  }

  #rest(): string {
    return this.#text.slice(this.#at, this.#next - 1);
  }

  #isItem(): boolean {
    const after = this.#text[this.#at + 1];
    return this.#text[this.#at] === "-" && (after === " " || after === "\n" || after === undefined);
  }

  /** What stands at this column, or to the right of it. */
  #block(least: number): unknown {
    if (this.#column < least || this.#isMarker()) return null;
    return this.#isItem() ? this.#sequence(this.#column) : this.#map(this.#column);
  }

  #sequence(column: number): unknown[] {
    const items: unknown[] = [];
    while (this.#column === column && this.#isItem() && !this.#isMarker()) {
      items.push(this.#item(column));
    }
    if (this.#column > column) unsupported();
    return items;
  }

  #item(column: number): unknown {
    const text = this.#text;
    let at = this.#at + 1;
    while (text[at] === " ") at++;
    const isEmpty = at >= this.#next - 1 || text[at] === "#";
    if (isEmpty) {
      this.#toContent();
      return this.#block(column + 1);
    }
    this.#column += at - this.#at;
    this.#at = at;
    if (this.#isItem()) return this.#sequence(this.#column);
    if (this.#keyEnd() > 0) return this.#map(this.#column);
    return this.#inline(column);
  }

  #map(column: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    while (this.#column === column && !this.#isItem() && !this.#isMarker()) {
      const end = this.#keyEnd();
      if (end === 0) unsupported();
      const key = keyText(this.#text.slice(this.#at, end - 1));
      if (key === "__proto__" || Object.hasOwn(map, key)) unsupported();
      map[key] = this.#value(end, column);
    }
    if (this.#column > column) unsupported();
    return map;
  }

  /** After the colon of the key that starts here; 0 if there is none. */
  #keyEnd(): number {
    keyPattern.lastIndex = this.#at;
    return keyPattern.test(this.#text) ? keyPattern.lastIndex : 0;
  }

  #value(after: number, column: number): unknown {
    let at = after;
    while (this.#text[at] === " ") at++;
    if (at >= this.#next - 1 || (this.#text[at] === "#" && at > after)) {
      this.#toContent();
      // A list may stand as far left as the key it belongs to.
      if (this.#column === column && this.#isItem() && !this.#isMarker()) return this.#sequence(column);
      return this.#block(column + 1);
    }
    this.#at = at;
    return this.#text[at] === "|" ? this.#literal(column) : this.#inline(column);
  }

  /** A value that ends with its line; a deeper line after it would go on with it. */
  #inline(column: number): unknown {
    const flow = new FlowReader(this.#text.slice(0, this.#next - 1), this.#at);
    const value = flow.whole();
    this.#toContent();
    if (this.#column > column) unsupported();
    return value;
  }

  #literal(column: number): string {
    const header = /^\|(-?)[ ]*$/.exec(this.#rest());
    if (header === null) unsupported();
    const lines: string[] = [];
    let indent = -1;
    while (this.#next <= this.#text.length) {
      const end = this.#endOfLine(this.#next);
      const line = this.#text.slice(this.#next, end);
      const depth = line.length - line.trimStart().length;
      if (depth === line.length) {
        if (indent < 0 || depth > indent) unsupported(); // blank lines that count, or do not, by their spaces
        lines.push("");
      } else {
        if (indent < 0 && depth <= column) unsupported(); // an empty block
        if (indent < 0) indent = depth;
        if (depth < indent) break;
        lines.push(line.slice(indent));
      }
      this.#next = end + 1;
    }
    while (lines.at(-1) === "") lines.pop();
    this.#toContent();
    if (this.#column > column) unsupported();
    return `${lines.join("\n")}${header[1] === "-" ? "" : "\n"}`;
  }
}

/** Scalars and flow collections, all on one line. */
class FlowReader {
  readonly #line: string;
  #at: number;

  /** The line ends where the text ends. */
  constructor(line: string, at: number) {
    this.#line = line;
    this.#at = at;
  }

  /** The value that takes up the rest of the line, but for a comment. */
  whole(): unknown {
    const first = this.#line[this.#at];
    const value = first === "{" || first === "[" || first === '"' || first === "'" ? this.#value() : this.#plainLine();
    const rest = this.#line.slice(this.#at);
    if (!/^(?:[ ]*|[ ]+#.*)$/.test(rest)) unsupported();
    return value;
  }

  #value(): unknown {
    switch (this.#line[this.#at]) {
      case "{":
        return this.#map();
      case "[":
        return this.#list();
      case '"':
      case "'":
        return this.#quoted();
      default:
        return this.#plainWord();
    }
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    for (this.#skip(); !this.#take("]"); this.#skip()) {
      items.push(this.#value());
      this.#skip();
      if (this.#line[this.#at] === ":") unsupported(); // a map of one pair
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

  /** With its colon, which a space follows, or anything after a quoted key. */
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
    if (this.#at >= this.#line.length || this.#line[this.#at] === "#") unsupported(); // it goes on in the next line
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

  /** A plain scalar in a flow collection ends where the collection goes on. */
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

function keyText(key: string): string {
  const isQuoted = key.startsWith('"') || key.startsWith("'");
  return isQuoted ? key.slice(1, -1) : key;
}

function unescaped(inner: string): string {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return unsupported(); // YAML knows escapes that JSON does not
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
