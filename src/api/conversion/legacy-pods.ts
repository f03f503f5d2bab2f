import { legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, valueAt } from "./draft.ts";
import { renamedKeys } from "./legacy-names.ts";
import type { ConversionWarning } from "./outcome.ts";

/** Where the kinds people write keep their pods. */
const podPaths: Readonly<Record<string, Path>> = {
  Pod: [],
  PodTemplate: at("template"),
  Deployment: at("spec.template"),
  StatefulSet: at("spec.template"),
  DaemonSet: at("spec.template"),
  ReplicaSet: at("spec.template"),
  ReplicationController: at("spec.template"),
  Job: at("spec.template"),
  CronJob: at("spec.jobTemplate.spec.template"),
};

/** Pods that speak of provisioners: not ours to rewrite, but they would wait forever. (01 §7.6) */
export function legacyPodKeys(object: unknown): readonly ConversionWarning[] {
  const kind = isRecord(object) ? String(object["kind"]) : "";
  const base = Object.hasOwn(podPaths, kind) ? podPaths[kind] : undefined;
  if (base === undefined) return [];
  return [...usesOf(object, base)].map(({ key, path }) => ({
    code: "legacy-pod-key",
    path,
    message: `uses ${key}, which v1 does not know`,
    advice: `write ${renamedKeys.get(key)}`,
  }));
}

interface Use {
  readonly key: string;
  readonly path: Path;
}

function* usesOf(object: unknown, base: Path): Iterable<Use> {
  const evict = [...base, "metadata", "annotations", legacyNames.doNotEvict];
  if (valueAt(object, evict) !== undefined) yield { key: legacyNames.doNotEvict, path: evict };
  const selector = [...base, "spec", "nodeSelector", legacyNames.provisionerName];
  if (valueAt(object, selector) !== undefined) yield { key: legacyNames.provisionerName, path: selector };
  for (const part of ["affinity", "topologySpreadConstraints"]) {
    const root = [...base, "spec", part];
    yield* mentions(valueAt(object, root), root);
  }
}

/** Affinity keys and topology keys, at whatever depth they stand. */
function* mentions(value: unknown, path: Path): Iterable<Use> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* mentions(item, [...path, index]);
  } else if (isRecord(value)) {
    for (const [field, item] of Object.entries(value)) {
      const isKey = (field === "key" || field === "topologyKey") && item === legacyNames.provisionerName;
      if (isKey) yield { key: legacyNames.provisionerName, path: [...path, field] };
      else yield* mentions(item, [...path, field]);
    }
  }
}
