/** A path in an object: field names and list indexes, from the root. */
export type FieldPath = readonly (string | number)[];

/** What can be wrong with an object. A closed set; messages are renderings of it. (01 §0.1) */
export const problemCodes = [
  // Layer S: the structural schema.
  "required",
  "type",
  "enum",
  "pattern",
  "format",
  "too-small",
  "too-large",
  "too-short",
  "too-long",
  "too-few",
  "too-many",
  "duplicate-item",
  // Asked for by clients that want strict decoding.
  "unknown-field",
  "duplicate-field",
  // Layer C: a CEL rule failed.
  "rule",
  // Layer R and H: checked after the object is stored.
  "invalid-key",
  "invalid-value",
  "restricted-label",
  "unknown-value",
  "unknown-operator",
  "value-count",
  "duplicate-taint",
  "restricted-tag",
  "restricted-resource",
  "kubelet",
  // Documents that are not objects of ours.
  "unknown-kind",
  "unknown-version",
  "not-convertible",
  "unreadable",
] as const;
export type ProblemCode = (typeof problemCodes)[number];

/** One thing wrong with an object, as data. */
export interface Problem {
  readonly code: ProblemCode;
  readonly path: FieldPath;
  /** One sentence: what is wrong and why. */
  readonly message: string;
  /** What would have been accepted, if that can be said briefly. */
  readonly expected?: string;
  /** The numbered rule it breaks, e.g. `01:NP13`. */
  readonly rule?: string;
}

/** `spec.template.spec.requirements[0].key`, with odd keys in brackets as kubectl prints them: `metadata.labels[a/b]`. */
export function formatPath(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}
