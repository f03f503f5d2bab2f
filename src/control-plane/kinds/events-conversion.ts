import { isRecord, type KubeObject } from "../../api/object.ts";
import type { JsonObject } from "./object-draft.ts";
import type { KindConversion, KindConversionResult } from "./served-kind.ts";

/** Conversion between Events of the core group and of events.k8s.io. (05 §5) */
const renamed: readonly (readonly [newer: string, core: string])[] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];
const toCore = new Map(renamed);
const toNewer = new Map(renamed.map(([newer, core]) => [core, newer] as const));

export const eventsConversion: KindConversion = {
  toStored: (object) => converted(object, toCore, "v1"),
  fromStored: (object) => converted(object, toNewer, "events.k8s.io/v1"),
};

function converted(object: unknown, names: ReadonlyMap<string, string>, apiVersion: string): KindConversionResult {
  if (!isRecord(object)) return { object, warnings: [] };
  const result: JsonObject = {};
  for (const [field, value] of Object.entries(object)) result[names.get(field) ?? field] = value;
  return { object: { ...result, apiVersion } as unknown as KubeObject, warnings: [] };
}
