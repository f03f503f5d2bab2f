import { createHmac } from "node:crypto";
import { labelValueError, qualifiedNameError } from "../../api/validation/names.ts";
import type { NameWriter } from "./projector.ts";
import { isUnhashedKey, labelValueMeaning, unhashedNamespaces, unhashedPriorityClasses } from "./unhashed-names.ts";
import type { VolumeClaimNamer } from "./volume-claim-names.ts";

export interface NameHasherOptions {
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
export class NameHasher {
  readonly #options: NameHasherOptions;
  readonly #names = new Set<string>();
  readonly #values = new Map<string, Set<string>>();
  /** Ties between domains are drawn by the key's text, so that it stays. (02 §12.1-3) */
  readonly #topologyKeys = new Set<string>();
  readonly #comparedKeys = new Set<string>();
  #tokens: ReadonlyMap<string, string> | undefined;

  constructor(options: NameHasherOptions) {
    this.#options = options;
  }

  /** First reading: listens, and changes nothing. */
  readonly collectingWriter: NameWriter = {
    keepsNames: false,
    name: (text) => this.#collect(text),
    namespace: (text) => this.#collect(text),
    volumeClaim: (text) => this.#collect(text),
    priorityClass: (text) => this.#collect(text),
    labelKey: (text) => this.#collect(text),
    topologyKey: (text) => {
      this.#topologyKeys.add(text);
      return text;
    },
    labelValue: (key, text) => {
      const known = this.#values.get(key);
      if (known === undefined) this.#values.set(key, new Set([text]));
      else known.add(text);
      return text;
    },
    markComparedKey: (key) => void this.#comparedKeys.add(key),
  };

  /** Second reading, once everything has been heard. */
  hashingWriter(namersByNamespace: VolumeClaimNamer): NameWriter {
    const token = (text: string): string => this.token(text);
    return {
      keepsNames: false,
      name: token,
      namespace: (text) => this.namespace(text),
      volumeClaim: (text) => namersByNamespace(text, token) ?? token(text),
      priorityClass: (text) => (unhashedPriorityClasses.has(text) ? text : token(text)),
      labelKey: (text) => this.#key(text),
      topologyKey: (text) => text,
      labelValue: (key, text) => this.#value(key, text),
      markComparedKey: () => undefined,
    };
  }

  namespace(text: string): string {
    return unhashedNamespaces.has(text) ? text : this.token(text);
  }

  /** What stands for a name. */
  token(text: string): string {
    this.#tokens ??= this.#assign();
    const token = this.#tokens.get(text);
    if (token === undefined) throw new Error("a name was not heard in the first reading");
    return token;
  }

  #collect(text: string): string {
    this.#names.add(text);
    return text;
  }

  /** What no API server would accept as a key stays unacceptable. */
  #key(text: string): string {
    if (this.#keepsKey(text)) return text;
    return this.token(text) + (qualifiedNameError(text) === undefined ? "" : invalidSuffix);
  }

  #value(key: string, text: string): string {
    if (this.#keepsValues(key)) return text;
    if (labelValueMeaning(key) === "namespace") return this.namespace(text);
    return this.token(text) + (labelValueError(text) === undefined ? "" : invalidSuffix);
  }

  #keepsKey(key: string): boolean {
    return isUnhashedKey(key) || this.#topologyKeys.has(key) || this.#options.keepLabels.has(key);
  }

  /** A comparison needs the numbers, a catalogue its own words. */
  #keepsValues(key: string): boolean {
    return labelValueMeaning(key) === "catalogue" || this.#comparedKeys.has(key) || this.#options.keepLabels.has(key);
  }

  #assign(): ReadonlyMap<string, string> {
    const hidden = [...this.#values].filter(([key]) => !this.#keepsValues(key)).flatMap(([, texts]) => [...texts]);
    const texts = [...new Set([...this.#names, ...hidden])].sort();
    const digits = String(texts.length).length;
    return new Map(
      texts.map((text, index) => [text, `x${String(index).padStart(digits, "0")}-${this.#keyedHash(text)}`]),
    );
  }

  #keyedHash(text: string): string {
    return createHmac("sha256", this.#options.salt).update(text).digest("hex").slice(0, macLength);
  }
}

/** Neither a key nor a value may hold it. */
const invalidSuffix = "!";
const macLength = 10;
