import type { KubeObject } from "../../api/object.ts";
import { scenarioKind } from "../../core/scenario/kinds.ts";
import type { Scribe } from "./form.ts";
import { forms, type SnapshotKind } from "./forms.ts";

/** Texts as they are. */
export const plainScribe: Scribe = {
  isPlain: true,
  name: (text) => text,
  namespace: (text) => text,
  claim: (text) => text,
  priorityClass: (text) => text,
  key: (text) => text,
  topologyKey: (text) => text,
  value: (_, text) => text,
  compares: () => undefined,
};

/** What the engine reads of an object; undefined for one it does not look at. */
export function project(object: KubeObject, scribe: Scribe = plainScribe): KubeObject | undefined {
  const kind = snapshotKind(object);
  return kind === undefined ? undefined : (forms[kind](object, scribe) as KubeObject);
}

function snapshotKind({ apiVersion, kind }: KubeObject): SnapshotKind | undefined {
  if (apiVersion === "v1" && kind === "Service") return "Service";
  const known = scenarioKind({ apiVersion, kind });
  return known === "Job" || known === "CronJob" ? undefined : known;
}

/** Oldest first, as manifests are read: of pods alike the older one is placed first. (02:Q-1) */
export function inOrderOfAge(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...objects].sort((a, b) => (age(a) < age(b) ? -1 : age(a) > age(b) ? 1 : 0));
}

/** RFC 3339 in UTC sorts as text. */
function age({ metadata: { creationTimestamp = "" } }: KubeObject): string {
  return creationTimestamp;
}
