import { createHmac } from "node:crypto";
import { labelValueError, qualifiedNameError } from "../../api/validation/names.ts";
import type { ClaimNames } from "./claim-names.ts";
import type { Scribe } from "./form.ts";
import { isKeptKey, keptNamespaces, keptPriorityClasses, meaningUnder } from "./kept-words.ts";

export interface NameBookOptions {
  /** Whoever has it can tell a guessed name; nobody else can. */
  readonly salt: string;
  /** Labels that stay as they are, keys and values. */
  readonly keepLabels: ReadonlySet<string>;
}

/**
 * All names of a snapshot, and what stands for each. The engine decides ties by the order of names, so what stands for
 * them has the same order: its place among all names, then a keyed hash that is the same in every snapshot with the
 * same salt.
 */
export class NameBook {
  readonly #options: NameBookOptions;
  readonly #names = new Set<string>();
  readonly #values = new Map<string, Set<string>>();
  /** Ties between domains are drawn by the key's text, so that it stays. (02 §12.1-3) */
  readonly #topologyKeys = new Set<string>();
  readonly #comparedKeys = new Set<string>();
  #tokens: ReadonlyMap<string, string> | undefined;

  constructor(options: NameBookOptions) {
    this.#options = options;
  }

  /** First reading: listens, and changes nothing. */
  readonly listener: Scribe = {
    isPlain: false,
    name: (text) => this.#heard(text),
    namespace: (text) => this.#heard(text),
    claim: (text) => this.#heard(text),
    priorityClass: (text) => this.#heard(text),
    key: (text) => this.#heard(text),
    topologyKey: (text) => {
      this.#topologyKeys.add(text);
      return text;
    },
    value: (key, text) => {
      const known = this.#values.get(key);
      if (known === undefined) this.#values.set(key, new Set([text]));
      else known.add(text);
      return text;
    },
    compares: (key) => void this.#comparedKeys.add(key),
  };

  /** Second reading, once everything has been heard. */
  writer(claimNames: ClaimNames): Scribe {
    const token = (text: string): string => this.token(text);
    return {
      isPlain: false,
      name: token,
      namespace: (text) => this.namespace(text),
      claim: (text) => claimNames(text, token) ?? token(text),
      priorityClass: (text) => (keptPriorityClasses.has(text) ? text : token(text)),
      key: (text) => this.#key(text),
      topologyKey: (text) => text,
      value: (key, text) => this.#value(key, text),
      compares: () => undefined,
    };
  }

  namespace(text: string): string {
    return keptNamespaces.has(text) ? text : this.token(text);
  }

  /** What stands for a name. */
  token(text: string): string {
    this.#tokens ??= this.#assign();
    const token = this.#tokens.get(text);
    if (token === undefined) throw new Error("a name was not heard in the first reading");
    return token;
  }

  #heard(text: string): string {
    this.#names.add(text);
    return text;
  }

  /** What no API server would accept as a key stays unacceptable. */
  #key(text: string): string {
    if (this.#keepsKey(text)) return text;
    return this.token(text) + (qualifiedNameError(text) === undefined ? "" : unacceptable);
  }

  #value(key: string, text: string): string {
    if (this.#keepsValues(key)) return text;
    if (meaningUnder(key) === "namespace") return this.namespace(text);
    return this.token(text) + (labelValueError(text) === undefined ? "" : unacceptable);
  }

  #keepsKey(key: string): boolean {
    return isKeptKey(key) || this.#topologyKeys.has(key) || this.#options.keepLabels.has(key);
  }

  /** A comparison needs the numbers, a catalogue its own words. */
  #keepsValues(key: string): boolean {
    return meaningUnder(key) === "catalogue" || this.#comparedKeys.has(key) || this.#options.keepLabels.has(key);
  }

  #assign(): ReadonlyMap<string, string> {
    const hidden = [...this.#values].filter(([key]) => !this.#keepsValues(key)).flatMap(([, texts]) => [...texts]);
    const texts = [...new Set([...this.#names, ...hidden])].sort();
    const digits = String(texts.length).length;
    return new Map(texts.map((text, index) => [text, `x${String(index).padStart(digits, "0")}-${this.#mac(text)}`]));
  }

  #mac(text: string): string {
    return createHmac("sha256", this.#options.salt).update(text).digest("hex").slice(0, macLength);
  }
}

/** Neither a key nor a value may hold it. */
const unacceptable = "!";
const macLength = 10;
