import { isRecord } from "../../api/object.ts";

/** Who writes the texts of an object down: as they are, or under other names. */
export interface Scribe {
  /** False: names shall not be recognised, and what only people read is left out. */
  readonly isPlain: boolean;
  /** The name of an object, wherever it is referred to. */
  name(text: string): string;
  namespace(text: string): string;
  /** A PersistentVolumeClaim of the object's namespace. */
  claim(text: string): string;
  priorityClass(text: string): string;
  /** The key of a label or a taint. */
  key(text: string): string;
  /** A key whose values are domains that pods are spread over. */
  topologyKey(text: string): string;
  /** What stands under a key. */
  value(key: string, text: string): string;
  /** Told of keys whose values are compared as numbers. */
  compares(key: string): void;
}

/** What of a value is kept, and how its texts are written; undefined: nothing of it. */
export type Form = (value: unknown, scribe: Scribe) => unknown;

/** As it is: numbers, words of the API, quantities. */
export const keep: Form = (value) => value;

/** Only that it is there. */
export const mark: Form = () => ({});

export const name = text((value, scribe) => scribe.name(value));
export const namespace = text((value, scribe) => scribe.namespace(value));
export const claim = text((value, scribe) => scribe.claim(value));
export const priorityClass = text((value, scribe) => scribe.priorityClass(value));
export const key = text((value, scribe) => scribe.key(value));
export const topologyKey = text((value, scribe) => scribe.topologyKey(value));

function text(write: (value: string, scribe: Scribe) => string): Form {
  return (value, scribe) => (typeof value === "string" ? (value === "" ? "" : write(value, scribe)) : undefined);
}

/** These fields and no others. */
export function record(fields: Readonly<Record<string, Form>>): Form {
  const entries = Object.entries(fields);
  return (value, scribe) => {
    if (!isRecord(value)) return undefined;
    const kept: Record<string, unknown> = {};
    for (const [field, form] of entries) {
      const given = value[field];
      if (given === undefined || given === null) continue;
      const written = form(given, scribe);
      if (written !== undefined) kept[field] = written;
    }
    return kept;
  };
}

/** Each item, without those of which nothing is kept. */
export function list(item: Form): Form {
  return (value, scribe) =>
    Array.isArray(value) ? value.map((one) => item(one, scribe)).filter((one) => one !== undefined) : undefined;
}

/** Only what passes the test. */
export function only(test: (value: Readonly<Record<string, unknown>>) => boolean, form: Form): Form {
  return (value, scribe) => (isRecord(value) && test(value) ? form(value, scribe) : undefined);
}

/** Kept where names may be seen, left out elsewhere. */
export function plainly(form: Form): Form {
  return (value, scribe) => (scribe.isPlain ? form(value, scribe) : undefined);
}

/** Where names shall not be seen, something else stands for what the schema wants to be there. */
export function instead(form: Form, stand: (value: unknown) => unknown): Form {
  return (value, scribe) => (scribe.isPlain ? form(value, scribe) : stand(value));
}

export const labelMap: Form = (value, scribe) => {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries.map(([label, one]) => [scribe.key(label), valueUnder(label, one, scribe)]));
};

const comparing: ReadonlySet<unknown> = new Set(["Gt", "Lt", "Gte", "Lte"]);

/** A requirement on a label: of nodes, of pods, of instance types. */
export const expression: Form = (value, scribe) => {
  if (!isRecord(value) || typeof value["key"] !== "string") return undefined;
  const { key: label, operator, values, minValues } = value;
  if (comparing.has(operator)) scribe.compares(label);
  return {
    key: scribe.key(label),
    operator,
    ...(Array.isArray(values) && { values: values.map((one) => valueUnder(label, String(one), scribe)) }),
    ...(typeof minValues === "number" && { minValues }),
  };
};

/** Fields of nodes are their names. */
export const fieldExpression = record({ key: keep, operator: keep, values: list(name) });

export const selector = record({ matchLabels: labelMap, matchExpressions: list(expression) });

/** Taints, and tolerations of them. */
export const taint: Form = (value, scribe) => {
  if (!isRecord(value)) return undefined;
  const { key: label, operator, value: given, effect, tolerationSeconds } = value;
  const on = typeof label === "string" ? label : "";
  if (comparing.has(operator)) scribe.compares(on);
  return {
    ...(on !== "" && { key: scribe.key(on) }),
    ...(typeof operator === "string" && { operator }),
    ...(typeof given === "string" && { value: valueUnder(on, given, scribe) }),
    ...(typeof effect === "string" && { effect }),
    ...(typeof tolerationSeconds === "number" && { tolerationSeconds }),
  };
};

function valueUnder(label: string, given: string, scribe: Scribe): string {
  return given === "" ? "" : scribe.value(label, given);
}
