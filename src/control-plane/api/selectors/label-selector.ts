import { labelValueError, qualifiedNameError, short } from "../../../api/validation/names.ts";
import { badRequest } from "../failures.ts";

export type Labels = Readonly<Record<string, string>>;
export type LabelTest = (labels: Labels | undefined) => boolean;

const everything: LabelTest = () => true;

/** `a=b,c!=d,e in (x,y),f notin (z),g,!h`, read in one pass. (05 §3, CP-S3) */
export function parseLabelSelector(text: string | undefined): LabelTest {
  if (text === undefined || text.trim() === "") return everything;
  const tests = new LabelSelectorReader(text).read();
  return tests.length === 1 ? (tests[0] as LabelTest) : (labels) => tests.every((test) => test(labels));
}

type Token = "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<";
const operators = ["==", "!=", "=", "!", ">", "<", "(", ")", ","] as const satisfies readonly Token[];

class LabelSelectorReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): LabelTest[] {
    const tests = [this.#requirement()];
    while (this.#take(",")) tests.push(this.#requirement());
    if (this.#peek() !== undefined) this.#fail("expected ',' or the end");
    return tests;
  }

  #requirement(): LabelTest {
    if (this.#take("!")) {
      const key = this.#key();
      return (labels) => labelOf(labels, key) === undefined;
    }
    const key = this.#key();
    if (this.#take("=") || this.#take("==")) return is(key, [this.#value()], true);
    if (this.#take("!=")) return is(key, [this.#value()], false);
    if (this.#take(">")) return compares(key, this.#integer(), 1);
    if (this.#take("<")) return compares(key, this.#integer(), -1);
    const next = this.#peek();
    if (next === undefined || next === ",") return (labels) => labelOf(labels, key) !== undefined;
    const word = this.#word();
    if (word === "in") return is(key, this.#values(), true);
    if (word === "notin") return is(key, this.#values(), false);
    return this.#fail(`unknown operator ${JSON.stringify(short(word))}`);
  }

  #key(): string {
    const key = this.#word();
    const error = qualifiedNameError(key);
    return error === undefined ? key : this.#fail(`key ${JSON.stringify(short(key))}: ${error}`);
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
    return error === undefined ? value : this.#fail(`value ${JSON.stringify(short(value))}: ${error}`);
  }

  #integer(): number {
    const word = this.#word();
    return /^-?\d{1,18}$/.test(word) ? Number(word) : this.#fail(`${JSON.stringify(short(word))} is not an integer`);
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
    throw badRequest(`unable to parse requirement: ${because} at ${this.#at} of ${JSON.stringify(short(this.#text))}`);
  }
}

/** Inherited names like `constructor` are no labels. */
function labelOf(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** `!=` and `notin` also select what has no such label. */
function is(key: string, values: readonly string[], wanted: boolean): LabelTest {
  const set = new Set(values);
  return (labels) => {
    const value = labelOf(labels, key);
    return value === undefined ? !wanted : set.has(value) === wanted;
  };
}

function compares(key: string, bound: number, sign: 1 | -1): LabelTest {
  return (labels) => {
    const value = labelOf(labels, key);
    return value !== undefined && /^-?\d+$/.test(value) && Math.sign(Number(value) - bound) === sign;
  };
}
