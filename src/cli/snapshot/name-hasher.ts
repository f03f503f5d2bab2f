import { createHmac } from "node:crypto";
import { labelValueError, qualifiedNameError } from "../../api/validation/names.ts";
import type { NameWriter } from "./projector.ts";
import { isUnhashedKey, labelValueMeaning, unhashedNamespaces, unhashedPriorityClasses } from "./unhashed-names.ts";
import type { VolumeClaimNamer } from "./volume-claim-names.ts";

export interface NameHasherOptions {
  /** The key of the hashes. With it a guessed name can be verified; without it not. */
  readonly salt: string;
  /** Labels that are not replaced, neither keys nor values. */
  readonly keepLabels: ReadonlySet<string>;
}

/**
 * All names of a snapshot and their replacements. Scheduling breaks ties by the order of names, so the replacements
 * have the same order: the index of the name among all names, then a keyed hash that is the same in every snapshot with
 * the same salt.
 */
export class NameHasher {
  readonly #options: NameHasherOptions;
  readonly #names = new Set<string>();
  readonly #values = new Map<string, Set<string>>();
  /** Kept as they are, because ties between domains are broken by the text of the key. (02 §12.1-3) */
  readonly #topologyKeys = new Set<string>();
  readonly #comparedKeys = new Set<string>();
  #tokens: ReadonlyMap<string, string> | undefined;

  constructor(options: NameHasherOptions) {
    this.#options = options;
  }

  /** First pass: collects all names. */
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

  /** Second pass: writes hashed names. */
  hashingWriter(namer: VolumeClaimNamer): NameWriter {
    const token = (text: string): string => this.token(text);
    return {
      keepsNames: false,
      name: token,
      namespace: (text) => this.namespace(text),
      volumeClaim: (text) => namer(text, token) ?? token(text),
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

  /** The replacement of a name. */
  token(text: string): string {
    this.#tokens ??= this.#assign();
    const token = this.#tokens.get(text);
    if (token === undefined) throw new Error("a name was not collected in the first pass");
    return token;
  }

  #collect(text: string): string {
    this.#names.add(text);
    return text;
  }

  /** The replacement of an invalid key is invalid too, so that it is reported as before. */
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

  /** Values that are compared as numbers, and those of a catalogue, are kept. */
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

/** A character that is valid in neither a key nor a value. */
const invalidSuffix = "!";
const macLength = 10;
