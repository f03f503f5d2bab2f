import { labelValueError, qualifiedNameError, shortText } from "../../../api/validation/names.ts";
import { badRequest } from "../api-errors.ts";

export type SelectorLabels = Readonly<Record<string, string>>;
export type LabelMatcher = (labels: SelectorLabels | undefined) => boolean;

const everything: LabelMatcher = () => true;

/** Parses `a=b,c!=d,e in (x,y),f notin (z),g,!h` in one pass. (05 §3, CP-S3) */
export function parseLabelSelector(text: string | undefined): LabelMatcher {
  if (text === undefined || text.trim() === "") return everything;
  const tests = new LabelSelectorParser(text).read();
  return tests.length === 1 ? (tests[0] as LabelMatcher) : (labels) => tests.every((test) => test(labels));
}

type Token = "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<";
const operators = ["==", "!=", "=", "!", ">", "<", "(", ")", ","] as const satisfies readonly Token[];

class LabelSelectorParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): LabelMatcher[] {
    const tests = [this.#requirement()];
    while (this.#take(",")) tests.push(this.#requirement());
    if (this.#peek() !== undefined) this.#fail("expected ',' or the end");
    return tests;
  }

  #requirement(): LabelMatcher {
    if (this.#take("!")) {
      const key = this.#key();
      return (labels) => labelOf(labels, key) === undefined;
    }
    const key = this.#key();
    if (this.#take("=") || this.#take("==")) return valueMatcher(key, [this.#value()], true);
    if (this.#take("!=")) return valueMatcher(key, [this.#value()], false);
    if (this.#take(">")) return comparisonMatcher(key, this.#integer(), 1);
    if (this.#take("<")) return comparisonMatcher(key, this.#integer(), -1);
    const next = this.#peek();
    if (next === undefined || next === ",") return (labels) => labelOf(labels, key) !== undefined;
    const word = this.#word();
    if (word === "in") return valueMatcher(key, this.#values(), true);
    if (word === "notin") return valueMatcher(key, this.#values(), false);
    return this.#fail(`unknown operator ${JSON.stringify(shortText(word))}`);
  }

  #key(): string {
    const key = this.#word();
    const error = qualifiedNameError(key);
    return error === undefined ? key : this.#fail(`key ${JSON.stringify(shortText(key))}: ${error}`);
  }

  #values(): string[] {
    if (!this.#take("(")) this.#fail("expected '('");
    const values = [this.#value()];
    while (this.#take(",")) values.push(this.#value());
    if (!this.#take(")")) this.#fail("expected ')'");
    return values;
  }

  #value(): string {
    const value = this.#word();
    const error = labelValueError(value);
    return error === undefined ? value : this.#fail(`value ${JSON.stringify(shortText(value))}: ${error}`);
  }

  #integer(): number {
    const word = this.#word();
    return /^-?\d{1,18}$/.test(word)
      ? Number(word)
      : this.#fail(`${JSON.stringify(shortText(word))} is not an integer`);
  }

  /** Up to the next operator or space; may be empty. */
  #word(): string {
    this.#skipSpace();
    const start = this.#at;
    while (this.#at < this.#text.length && !/[\s=!<>(),]/.test(this.#text[this.#at] as string)) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #peek(): Token | "word" | undefined {
    this.#skipSpace();
    if (this.#at >= this.#text.length) return undefined;
    return operators.find((operator) => this.#text.startsWith(operator, this.#at)) ?? "word";
  }

  #take(token: Token): boolean {
    if (this.#peek() !== token) return false;
    this.#at += token.length;
    return true;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #fail(because: string): never {
    throw badRequest(
      `unable to parse requirement: ${because} at ${this.#at} of ${JSON.stringify(shortText(this.#text))}`,
    );
  }
}

/** Inherited properties like `constructor` are not labels. */
function labelOf(labels: SelectorLabels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** `!=` and `notin` also select objects without the label. */
function valueMatcher(key: string, values: readonly string[], wanted: boolean): LabelMatcher {
  const set = new Set(values);
  return (labels) => {
    const value = labelOf(labels, key);
    return value === undefined ? !wanted : set.has(value) === wanted;
  };
}

function comparisonMatcher(key: string, bound: number, sign: 1 | -1): LabelMatcher {
  return (labels) => {
    const value = labelOf(labels, key);
    return value !== undefined && /^-?\d+$/.test(value) && Math.sign(Number(value) - bound) === sign;
  };
}
