import { isRecord } from "../../api/object.ts";

/** Who writes the texts of an object down: as they are, or under other names. */
export interface NameWriter {
  /** False: names shall not be recognised, and what only people read is left out. */
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
  /** What stands under a key. */
  labelValue(key: string, text: string): string;
  /** Told of keys whose values are compared as numbers. */
  markComparedKey(key: string): void;
}

/** What of a value is kept, and how its texts are written; undefined: nothing of it. */
export type Projector = (value: unknown, names: NameWriter) => unknown;

/** As it is: numbers, words of the API, quantities. */
export const keep: Projector = (value) => value;

/** Only that it is there. */
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

/** These fields and no others. */
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

/** Each item, without those of which nothing is kept. */
export function projectItems(item: Projector): Projector {
  return (value, names) =>
    Array.isArray(value) ? value.map((one) => item(one, names)).filter((one) => one !== undefined) : undefined;
}

/** Only what passes the test. */
export function projectIf(
  test: (value: Readonly<Record<string, unknown>>) => boolean,
  projector: Projector,
): Projector {
  return (value, names) => (isRecord(value) && test(value) ? projector(value, names) : undefined);
}

/** Kept where names may be seen, left out elsewhere. */
export function omittedWhenHashed(projector: Projector): Projector {
  return (value, names) => (names.keepsNames ? projector(value, names) : undefined);
}

/** Where names shall not be seen, something else stands for what the schema wants to be there. */
export function replacedWhenHashed(projector: Projector, stand: (value: unknown) => unknown): Projector {
  return (value, names) => (names.keepsNames ? projector(value, names) : stand(value));
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

/** Fields of nodes are their names. */
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
