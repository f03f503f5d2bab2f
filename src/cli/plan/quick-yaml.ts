import { manifestLimits } from "../../api/manifest/parse.ts";
import { FlowReader, UnsupportedYaml, unsupported } from "./quick-yaml-flow.ts";

/**
 * The values of the documents in a YAML text, for the YAML that people and tools write most: block style, flow
 * collections and scalars on one line, literal blocks. Undefined for anything else, valid or not: then the full parser
 * decides. It is about ten times as fast as the full parser, which keeps positions and comments.
 * (docs/designs/dependencies.md)
 */
export function quickYaml(text: string): readonly unknown[] | undefined {
  // Anchors, tags and the like are detected where they occur; these characters can be anywhere.
  if (/[\t\r\u0000-\u0008\u000b-\u001f\u007f\u0085\u2028\u2029\ufeff]/.test(text)) return undefined;
  try {
    return new BlockReader(text).documents();
  } catch (error) {
    if (error instanceof UnsupportedYaml) return undefined;
    throw error;
  }
}

const keyPattern = /(?:[A-Za-z0-9_$][A-Za-z0-9_./$-]*|"[A-Za-z0-9_./$ -]*"|'[A-Za-z0-9_./$ -]*'):(?= |$)/my;
class BlockReader {
  readonly #text: string;
  /** Start of the current line's content, and its column. */
  #at = 0;
  #column = 0;
  /** Start of the next line. */
  #next = 0;
  /** How many blocks we are inside of. */
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  documents(): readonly unknown[] {
    const found: unknown[] = [];
    this.#toContent();
    while (!this.#isOver()) {
      if (this.#isMarker()) {
        this.#checkMarkerLine();
        this.#toContent();
        if (this.#isOver() || this.#isMarker()) continue; // an empty document
      }
      found.push(this.#block(0));
      if (!this.#isOver() && !this.#isMarker()) unsupported();
    }
    return found;
  }

  /** Moves to the next line that is neither empty nor a comment. */
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

  /** Only a marker alone on its line is supported. */
  #checkMarkerLine(): void {
    if (!/^---(?:[ ]*|[ ]+#.*)$/.test(this.#rest())) unsupported();
  }

  #rest(): string {
    return this.#text.slice(this.#at, this.#next - 1);
  }

  #isItem(): boolean {
    const after = this.#text[this.#at + 1];
    return this.#text[this.#at] === "-" && (after === " " || after === "\n" || after === undefined);
  }

  /** The sequence or map that starts at `minColumn` or right of it; null if there is none. */
  #block(minColumn: number): unknown {
    if (this.#column < minColumn || this.#isMarker()) return null;
    return this.#isItem() ? this.#sequence(this.#column) : this.#map(this.#column);
  }

  #sequence(column: number): unknown[] {
    const items: unknown[] = [];
    this.#enter();
    while (this.#column === column && this.#isItem() && !this.#isMarker()) {
      items.push(this.#item(column));
    }
    if (this.#column > column) unsupported();
    this.#depth -= 1;
    return items;
  }

  /** What is nested too deep is left to the full parser, which refuses it. */
  #enter(): void {
    this.#depth += 1;
    if (this.#depth > manifestLimits.depth) unsupported();
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
    this.#enter();
    while (this.#column === column && !this.#isItem() && !this.#isMarker()) {
      const end = this.#keyEnd();
      if (end === 0) unsupported();
      const key = keyText(this.#text.slice(this.#at, end - 1));
      if (key === "__proto__" || Object.hasOwn(map, key)) unsupported();
      map[key] = this.#value(end, column);
    }
    if (this.#column > column) unsupported();
    this.#depth -= 1;
    return map;
  }

  /** The index after the colon of the key that starts here; 0 if no key does. */
  #keyEnd(): number {
    keyPattern.lastIndex = this.#at;
    return keyPattern.test(this.#text) ? keyPattern.lastIndex : 0;
  }

  #value(after: number, column: number): unknown {
    let at = after;
    while (this.#text[at] === " ") at++;
    if (at >= this.#next - 1 || (this.#text[at] === "#" && at > after)) {
      this.#toContent();
      // A list may be in the same column as the key it belongs to.
      if (this.#column === column && this.#isItem() && !this.#isMarker()) return this.#sequence(column);
      return this.#block(column + 1);
    }
    this.#at = at;
    return this.#text[at] === "|" ? this.#literal(column) : this.#inline(column);
  }

  /** A value on one line; a more indented line after it would continue it. */
  #inline(column: number): unknown {
    const flow = new FlowReader(this.#text.slice(0, this.#next - 1), { at: this.#at, depth: this.#depth });
    const value = flow.read();
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
        if (indent < 0 || depth > indent) unsupported(); // blank lines whose spaces may belong to the text
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

function keyText(key: string): string {
  const isQuoted = key.startsWith('"') || key.startsWith("'");
  return isQuoted ? key.slice(1, -1) : key;
}
