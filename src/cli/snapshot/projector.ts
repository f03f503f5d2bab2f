import { isRecord } from "../../api/object.ts";

/** How names and labels are written to a snapshot: unchanged or hashed. */
export interface NameWriter {
  /** False if names are hashed; then free text is left out too. */
  readonly keepsNames: boolean;
  /** The name of an object, wherever it is referred to. */
  name(text: string): string;
  namespace(text: string): string;
  /** A PersistentVolumeClaim of the object's namespace. */
  volumeClaim(text: string): string;
  priorityClass(text: string): string;
  /** The key of a label or a taint. */
  labelKey(text: string): string;
  /** A key whose values are domains that pods are spread over. */
  topologyKey(text: string): string;
  /** The value of a label or taint. */
  labelValue(key: string, text: string): string;
  /** Called for keys whose values are compared as numbers. */
  markComparedKey(key: string): void;
}

/** Returns the part of a value that is kept, with its names written by `names`; undefined for nothing. */
export type Projector = (value: unknown, names: NameWriter) => unknown;

/** Keeps the value unchanged: numbers, enums, quantities. */
export const keep: Projector = (value) => value;

/** Fields that are all kept unchanged. */
export function keepAll(...fields: readonly string[]): Readonly<Record<string, Projector>> {
  return Object.fromEntries(fields.map((field) => [field, keep]));
}

/** Keeps only that the field is set. */
export const keepPresence: Projector = () => ({});

export const projectName = stringProjector((value, names) => names.name(value));
export const projectNamespace = stringProjector((value, names) => names.namespace(value));
export const projectVolumeClaimName = stringProjector((value, names) => names.volumeClaim(value));
export const projectPriorityClass = stringProjector((value, names) => names.priorityClass(value));
export const projectLabelKey = stringProjector((value, names) => names.labelKey(value));
export const projectTopologyKey = stringProjector((value, names) => names.topologyKey(value));

function stringProjector(write: (value: string, names: NameWriter) => string): Projector {
  return (value, names) => (typeof value === "string" ? (value === "" ? "" : write(value, names)) : undefined);
}

/** Keeps these fields and no others. */
export function projectFields(fields: Readonly<Record<string, Projector>>): Projector {
  const entries = Object.entries(fields);
  return (value, names) => {
    if (!isRecord(value)) return undefined;
    const kept: Record<string, unknown> = {};
    for (const [field, projector] of entries) {
      const given = value[field];
      if (given === undefined || given === null) continue;
      const written = projector(given, names);
      if (written !== undefined) kept[field] = written;
    }
    return kept;
  };
}

/** Projects each item and drops those of which nothing is kept. */
export function projectItems(item: Projector): Projector {
  return (value, names) =>
    Array.isArray(value) ? value.map((one) => item(one, names)).filter((one) => one !== undefined) : undefined;
}

/** Keeps only values that pass the test. */
export function projectIf(
  test: (value: Readonly<Record<string, unknown>>) => boolean,
  projector: Projector,
): Projector {
  return (value, names) => (isRecord(value) && test(value) ? projector(value, names) : undefined);
}

/** Left out when names are hashed. */
export function omittedWhenHashed(projector: Projector): Projector {
  return (value, names) => (names.keepsNames ? projector(value, names) : undefined);
}

/** Replaced when names are hashed, for fields the schema requires. */
export function replacedWhenHashed(projector: Projector, placeholder: (value: unknown) => unknown): Projector {
  return (value, names) => (names.keepsNames ? projector(value, names) : placeholder(value));
}

export const projectLabels: Projector = (value, names) => {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries.map(([label, one]) => [names.labelKey(label), writtenValue(label, one, names)]));
};

const comparingOperators: ReadonlySet<unknown> = new Set(["Gt", "Lt", "Gte", "Lte"]);

/** A requirement on a label: of nodes, of pods, of instance types. */
export const projectRequirement: Projector = (value, names) => {
  if (!isRecord(value) || typeof value["key"] !== "string") return undefined;
  const { key: label, operator, values, minValues } = value;
  if (comparingOperators.has(operator)) names.markComparedKey(label);
  return {
    key: names.labelKey(label),
    operator,
    ...(Array.isArray(values) && { values: values.map((one) => writtenValue(label, String(one), names)) }),
    ...(typeof minValues === "number" && { minValues }),
  };
};

/** `matchFields` of node affinity: the only field is the name of the node. */
export const projectFieldRequirement = projectFields({ key: keep, operator: keep, values: projectItems(projectName) });

export const projectLabelSelector = projectFields({
  matchLabels: projectLabels,
  matchExpressions: projectItems(projectRequirement),
});

/** Taints, and tolerations of them. */
export const projectTaint: Projector = (value, names) => {
  if (!isRecord(value)) return undefined;
  const { key: label, operator, value: given, effect, tolerationSeconds } = value;
  const on = typeof label === "string" ? label : "";
  if (comparingOperators.has(operator)) names.markComparedKey(on);
  return {
    ...(on !== "" && { key: names.labelKey(on) }),
    ...(typeof operator === "string" && { operator }),
    ...(typeof given === "string" && { value: writtenValue(on, given, names) }),
    ...(typeof effect === "string" && { effect }),
    ...(typeof tolerationSeconds === "number" && { tolerationSeconds }),
  };
};

function writtenValue(label: string, given: string, names: NameWriter): string {
  return given === "" ? "" : names.labelValue(label, given);
}
