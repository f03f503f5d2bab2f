import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";

/** A step on the way to pod templates: the name of a field, each item of a list, or each value of a map. */
export type TemplateStep = string | typeof eachItem | typeof eachValue;

export const eachItem: unique symbol = Symbol("each item");
export const eachValue: unique symbol = Symbol("each value");

type Fields = Readonly<Record<string, unknown>>;

/** A part of a workload: it has a pod template and says how many pods are made from it. */
export interface NestedPart {
  /** From `spec` to the part. */
  readonly at: readonly TemplateStep[];
  /** From the part to its pod template. */
  readonly template: readonly string[];
  /** Where the template is if it is not written there. */
  readonly orTemplate?: readonly string[];
  /** From the part to the whole numbers that decide how many pods there are; errors name the first. */
  readonly counts: readonly (readonly string[])[];
  /** Makes the template of a part that has sizes in its place; undefined if an amount of memory cannot be read. */
  readonly makeTemplate?: (part: FoundPart) => PodTemplateSpec | undefined;
  readonly podsOf: (part: FoundPart) => PartPods;
}

/** A part as it was found in a workload. */
export interface FoundPart {
  /** The workload's name. */
  readonly name: string;
  readonly fields: Fields;
  /** Its key in a map, else empty. */
  readonly key: string;
  readonly spec: Fields;
}

/** The pods of a part: `NAME-0`, `NAME-1`, …, or `NAME-GROUP-0`, … if they are in groups. */
export interface PartPods {
  readonly name: string;
  readonly count: number;
  readonly groups?: number;
  /** Number of the first pod. */
  readonly first?: number;
  /** What its controller adds to the template. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A kind of other projects that makes pods from templates below its spec. */
export interface NestedKind {
  readonly parts: readonly NestedPart[];
  /** From `spec` to a field that is true while there are to be no pods. */
  readonly suspend?: readonly string[];
  /** Its pods end by themselves. */
  readonly isFinite?: boolean;
  /** The kind of object that stands between it and its pods, named like a group of pods, or like itself. */
  readonly makes?: "Job" | "StatefulSet";
}

/** The whole number at the end of a path, if there is one. */
export function countAt(fields: Fields, path: readonly string[], missing: number): number {
  let value: unknown = fields;
  for (const step of path) value = (value as Fields | undefined)?.[step];
  return typeof value === "number" ? value : missing;
}
