import type { KubeObject } from "../../api/object.ts";
import { scenarioKind } from "../../core/scenario/scenario-kind.ts";
import { isLeftOut, kindProjectors, type SnapshotKind } from "./kind-projectors.ts";
import type { NameWriter } from "./projector.ts";

/** Writes names unchanged. */
const plainNameWriter: NameWriter = {
  keepsNames: true,
  name: (text) => text,
  namespace: (text) => text,
  volumeClaim: (text) => text,
  priorityClass: (text) => text,
  labelKey: (text) => text,
  topologyKey: (text) => text,
  labelValue: (_, text) => text,
  markComparedKey: () => undefined,
};

/** The part of an object that scheduling depends on; undefined if its kind is not part of a snapshot. */
export function projectObject(object: KubeObject, names: NameWriter = plainNameWriter): KubeObject | undefined {
  const kind = snapshotKind(object);
  return kind === undefined ? undefined : (kindProjectors[kind](object, names) as KubeObject);
}

function snapshotKind({ apiVersion, kind }: KubeObject): SnapshotKind | undefined {
  if (apiVersion === "v1" && kind === "Service") return "Service";
  const known = scenarioKind({ apiVersion, kind });
  return known === undefined || isLeftOut(known) ? undefined : known;
}

/** Oldest first: of pods that are alike the older one is scheduled first. (02:Q-1) */
export function inOrderOfAge(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...objects].sort((a, b) => (age(a) < age(b) ? -1 : age(a) > age(b) ? 1 : 0));
}

/** RFC 3339 in UTC sorts as text. */
function age({ metadata: { creationTimestamp = "" } }: KubeObject): string {
  return creationTimestamp;
}
