import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isRestrictedLabel, type LabelPolicy } from "../../../api/label-policy.ts";
import { labels } from "../../../api/labels.ts";
import { closestMatch } from "../../../api/manifest/closest-match.ts";
import type { RequirementConflict } from "../../compatibility.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { addOperation, jsonPointer, type PatchOperation, removeOperation, replaceOperation } from "../json-patch.ts";
import { instanceTypeValues } from "../launch-options.ts";
import {
  removalPath,
  type WrittenRequirement,
  writtenPodRequirements,
  writtenPoolRequirements,
} from "../written-requirements.ts";
import {
  type CandidateChange,
  changeOf,
  changeWeights,
  editedNodePool,
  editedPod,
  poolName,
} from "./candidate-change.ts";

/** Changes after which the pod accepts the value; without a value, after which it has no requirement on the label. */
export function podLabelChanges(
  writtenRequirement: WrittenRequirement,
  pod: Pod,
  value: string | undefined,
): readonly CandidateChange[] {
  const { key } = writtenRequirement.written;
  const where = writtenRequirement.form === "pair" ? "node selector" : "node affinity";
  const widened = value === undefined ? undefined : widenOperation(writtenRequirement, value);
  const widenings =
    widened === undefined
      ? []
      : [
          changeOf(editedPod(pod), {
            text:
              writtenRequirement.form === "pair"
                ? `change ${key} in the pod's ${where} from ${writtenRequirement.written.values?.[0] ?? ""} to ${value}`
                : `also allow ${key} ${value} in the pod's ${where}`,
            weight: writtenRequirement.form === "pair" ? changeWeights.changeValue : changeWeights.widenPod,
            operations: [widened],
          }),
        ];
  const dropped = changeOf(editedPod(pod), {
    text: `drop ${key} from the pod's ${where}`,
    weight: changeWeights.drop,
    operations: [removeOperation(removalPath(writtenRequirement, pod))],
  });
  return [...widenings, dropped];
}

/** Changes after which the pool allows the value. */
export function poolLabelChanges(
  writtenRequirement: WrittenRequirement,
  pool: Pool,
  value: string | undefined,
): readonly CandidateChange[] {
  const { key } = writtenRequirement.written;
  const name = poolName(pool);
  const widened = value === undefined ? undefined : widenOperation(writtenRequirement, value);
  const widenings =
    widened === undefined
      ? []
      : [
          changeOf(editedNodePool(pool), {
            text:
              writtenRequirement.form === "pair"
                ? `label the nodes of pool ${name} with ${key}=${value} instead of ${writtenRequirement.written.values?.[0] ?? ""}`
                : `allow ${key} ${value} in pool ${name}`,
            weight: writtenRequirement.form === "pair" ? changeWeights.dropPoolRule : changeWeights.widenPool,
            operations: [widened],
          }),
        ];
  if (writtenRequirement.form === "pair") return widenings;
  const dropped = changeOf(editedNodePool(pool), {
    text: `drop the requirement on ${key} from pool ${name}`,
    weight: changeWeights.dropPoolRule,
    operations: [removeOperation(writtenRequirement.path)],
  });
  return [...widenings, dropped];
}

/** The smallest operation after which a requirement allows the value; undefined where it can only be dropped. */
function widenOperation(
  { form, path, written, requirement }: WrittenRequirement,
  value: string,
): PatchOperation | undefined {
  if (form === "pair") return replaceOperation(path, value);
  const values = written.values ?? [];
  switch (written.operator) {
    case "In":
      return { op: "add", path: jsonPointer([...path, "values", "-"]), value };
    case "NotIn": {
      const rest = values.filter((one) => one !== value);
      return rest.length === 0 || !requirement.values.has(value)
        ? undefined
        : replaceOperation([...path, "values"], rest);
    }
    case "Gt":
    case "Lt":
    case "Gte":
    case "Lte": {
      const bound = boundFor(written.operator, value);
      return bound === undefined ? undefined : replaceOperation([...path, "values"], [bound]);
    }
    default:
      return undefined;
  }
}

/** The tightest bound that allows a number. */
function boundFor(operator: "Gt" | "Lt" | "Gte" | "Lte", value: string): string | undefined {
  if (!/^\d{1,15}$/.test(value)) return undefined;
  const shift = { Gt: -1, Lt: 1, Gte: 0, Lte: 0 }[operator];
  const bound = Number(value) + shift;
  return bound < 0 ? undefined : String(bound);
}

/** Changes for a conflict over a label that instance types do not have. */
export function conflictChanges(
  conflict: RequirementConflict,
  { pod, pool, policy }: { pod: Pod; pool: Pool; policy: LabelPolicy },
): readonly CandidateChange[] {
  const { key } = conflict;
  const fromPod = writtenPodRequirements(pod, policy).filter(({ requirement }) => requirement.key === key);
  const fromPool = writtenPoolRequirements(pool.nodePool, policy).filter(({ requirement }) => requirement.key === key);
  const wanted = conflict.incoming.complement ? undefined : conflict.incoming.sortedValues()[0];
  const had = conflict.code === "undefined-key" || conflict.existing.complement ? [] : conflict.existing.sortedValues();
  const nearest = wanted === undefined ? undefined : closestMatch(wanted, had);
  const value = nearest ?? had[0];
  return [
    ...(conflict.code === "undefined-key" && conflict.similarKey !== undefined
      ? renameKeyChanges(fromPod, pod, conflict.similarKey)
      : []),
    ...fromPod
      .flatMap((writtenRequirement) => podLabelChanges(writtenRequirement, pod, value))
      .map((one) => (nearest ? asTypoFix(one) : one)),
    ...fromPool.flatMap((writtenRequirement) => poolLabelChanges(writtenRequirement, pool, wanted)),
    ...(fromPool.length === 0 && !isRestrictedLabel(policy, key) && !policy.wellKnown.has(key)
      ? [labelPoolChange(pool, key, wanted ?? "true")]
      : []),
  ];
}

/** A probable typo is tried first. */
function asTypoFix(one: CandidateChange): CandidateChange {
  return one.weight === changeWeights.changeValue ? { ...one, weight: changeWeights.fixTypo } : one;
}

function renameKeyChanges(
  writtenRequirements: readonly WrittenRequirement[],
  pod: Pod,
  key: string,
): readonly CandidateChange[] {
  return writtenRequirements.map(({ form, path, written }) => {
    const operations =
      form === "pair"
        ? [removeOperation(path), addOperation(pod, [...path.slice(0, -1), key], written.values?.[0] ?? "")]
        : [replaceOperation([...path, "key"], key)];
    return changeOf(editedPod(pod), {
      text: `use label ${key} instead of ${written.key}`,
      weight: changeWeights.fixTypo,
      operations,
    });
  });
}

function labelPoolChange(pool: Pool, key: string, value: string): CandidateChange {
  const path = ["spec", "template", "metadata", "labels", key];
  return changeOf(editedNodePool(pool), {
    text: `label the nodes of pool ${poolName(pool)} with ${key}=${value}`,
    weight: changeWeights.labelPool,
    operations: [addOperation(pool.nodePool, path, value)],
  });
}

/** Changes that allow further domains of a topology key. */
export function domainChanges(
  key: string,
  { pod, pool, policy }: { pod: Pod; pool: Pool; policy: LabelPolicy },
): readonly CandidateChange[] {
  const known = instanceTypeValues(pool, key);
  const fromPool = writtenPoolRequirements(pool.nodePool, policy).filter(({ requirement }) => requirement.key === key);
  const fromPod = writtenPodRequirements(pod, policy).filter(({ requirement }) => requirement.key === key);
  const valuesBeyond = (writtenRequirement: WrittenRequirement): readonly string[] =>
    known.filter((value) => !writtenRequirement.requirement.has(value));
  return [
    ...fromPool.flatMap((writtenRequirement) =>
      valuesBeyond(writtenRequirement).flatMap((value) => poolLabelChanges(writtenRequirement, pool, value)),
    ),
    ...fromPod.flatMap((writtenRequirement) =>
      key === labels.hostname
        ? podLabelChanges(writtenRequirement, pod, undefined)
        : [...valuesBeyond(writtenRequirement), undefined].flatMap((value) =>
            podLabelChanges(writtenRequirement, pod, value),
          ),
    ),
  ];
}
