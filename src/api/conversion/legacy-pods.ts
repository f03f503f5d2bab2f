import { legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import type { ConversionWarning } from "./conversion.ts";
import { fieldPath, valueAt } from "./conversion-draft.ts";
import { legacyKeyRenames } from "./legacy-names.ts";

/** The path of the pod template, by kind. */
const podPaths: Readonly<Record<string, FieldPath>> = {
  Pod: [],
  PodTemplate: fieldPath("template"),
  Deployment: fieldPath("spec.template"),
  StatefulSet: fieldPath("spec.template"),
  DaemonSet: fieldPath("spec.template"),
  ReplicaSet: fieldPath("spec.template"),
  ReplicationController: fieldPath("spec.template"),
  Job: fieldPath("spec.template"),
  CronJob: fieldPath("spec.jobTemplate.spec.template"),
};

/** Pods with labels of provisioners: we do not rewrite them, but they would stay pending forever. (01 §7.6) */
export function legacyPodKeyWarnings(object: unknown): readonly ConversionWarning[] {
  const kind = isRecord(object) ? String(object["kind"]) : "";
  const base = Object.hasOwn(podPaths, kind) ? podPaths[kind] : undefined;
  if (base === undefined) return [];
  return [...legacyKeyUses(object, base)].map(({ key, path }) => ({
    code: "legacy-pod-key",
    path,
    message: `uses ${key}, which v1 does not know`,
    advice: `write ${legacyKeyRenames.get(key)}`,
  }));
}

interface LegacyKeyUse {
  readonly key: string;
  readonly path: FieldPath;
}

function* legacyKeyUses(object: unknown, base: FieldPath): Iterable<LegacyKeyUse> {
  const evict = [...base, "metadata", "annotations", legacyNames.doNotEvict];
  if (valueAt(object, evict) !== undefined) yield { key: legacyNames.doNotEvict, path: evict };
  const selector = [...base, "spec", "nodeSelector", legacyNames.provisionerName];
  if (valueAt(object, selector) !== undefined) yield { key: legacyNames.provisionerName, path: selector };
  for (const part of ["affinity", "topologySpreadConstraints"]) {
    const root = [...base, "spec", part];
    yield* legacyKeyMentions(valueAt(object, root), root);
  }
}

/** Affinity keys and topology keys at any depth. */
function* legacyKeyMentions(value: unknown, path: FieldPath): Iterable<LegacyKeyUse> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* legacyKeyMentions(item, [...path, index]);
  } else if (isRecord(value)) {
    for (const [field, item] of Object.entries(value)) {
      const isKey = (field === "key" || field === "topologyKey") && item === legacyNames.provisionerName;
      if (isKey) yield { key: legacyNames.provisionerName, path: [...path, field] };
      else yield* legacyKeyMentions(item, [...path, field]);
    }
  }
}
