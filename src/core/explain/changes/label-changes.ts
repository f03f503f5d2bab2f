import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isRestrictedLabel, type LabelPolicy } from "../../../api/label-policy.ts";
import { labels } from "../../../api/labels.ts";
import type { RequirementConflict } from "../../compatibility.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { isHardwareLabel, isPlatformLabel } from "../hardware.ts";
import { addOperation, jsonPointer, type PatchOperation, removeOperation, replaceOperation } from "../json-patch.ts";
import { instanceTypeValues } from "../launch-options.ts";
import { likelyMeantKey, likelyMeantValue } from "../likely-typo.ts";
import {
  removalPath,
  type WrittenRequirement,
  writtenPodRequirements,
  writtenPoolRequirements,
} from "../written-requirements.ts";
import {
  type CandidateChange,
  type ChangePrecedence,
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
  const precedence = isHardwareLabel(writtenRequirement.requirement.key) ? "last-resort" : "ordinary";
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
            precedence,
            operations: [widened],
          }),
        ];
  const dropped = changeOf(editedPod(pod), {
    text: `drop ${key} from the pod's ${where}`,
    weight: changeWeights.drop,
    precedence,
    operations: [removeOperation(removalPath(writtenRequirement, pod))],
  });
  return [...widenings, dropped];
}

/** Replaces a misspelled value by the one that was probably meant. */
export function valueCorrection({ form, path, written }: WrittenRequirement, pod: Pod, meant: string): CandidateChange {
  const [wrong = ""] = written.values ?? [];
  return changeOf(editedPod(pod), {
    text: `did you mean ${written.key}: ${meant}? Change it from ${wrong} in the pod's ${form === "pair" ? "node selector" : "node affinity"}`,
    weight: changeWeights.fixTypo,
    precedence: "correction",
    operations: [replaceOperation(form === "pair" ? path : [...path, "values", 0], meant)],
  });
}

/** The value that was probably meant; undefined where a known value is required, or several are. */
export function meantValue({ requirement, written }: WrittenRequirement, known: Iterable<string>): string | undefined {
  const [value, ...others] = written.values ?? [];
  if (written.operator !== "In" || value === undefined || others.length > 0) return undefined;
  return likelyMeantValue(requirement.key, value, known);
}

/** The pod a pool is changed for. */
interface PoolChangeInput {
  readonly pod: Pod;
  readonly pool: Pool;
  readonly policy: LabelPolicy;
}

/** Changes after which the pool allows the value. */
export function poolLabelChanges(
  writtenRequirement: WrittenRequirement,
  input: PoolChangeInput,
  value: string | undefined,
): readonly CandidateChange[] {
  const { pool } = input;
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
                ? `label the nodes of NodePool ${name} with ${key}=${value} instead of ${writtenRequirement.written.values?.[0] ?? ""}`
                : `allow ${key} ${value} in NodePool ${name}`,
            weight: writtenRequirement.form === "pair" ? changeWeights.dropPoolRule : changeWeights.widenPool,
            precedence: poolPrecedence(writtenRequirement, input, value),
            operations: [widened],
          }),
        ];
  if (writtenRequirement.form === "pair") return widenings;
  const dropped = changeOf(editedNodePool(pool), {
    text: `drop the requirement on ${key} from NodePool ${name}`,
    weight: changeWeights.dropPoolRule,
    precedence: poolPrecedence(writtenRequirement, input, undefined),
    operations: [removeOperation(writtenRequirement.path)],
  });
  return [...widenings, dropped];
}

/** A pool gets another platform only for a pod that asks for that platform: the images of others may not start there. */
function poolPrecedence(
  { requirement: { key } }: WrittenRequirement,
  { pod, policy }: PoolChangeInput,
  value: string | undefined,
): ChangePrecedence {
  if (!isPlatformLabel(key)) return "ordinary";
  const isAskedFor = writtenPodRequirements(pod, policy).some(
    ({ requirement }) =>
      requirement.key === key && !requirement.complement && value !== undefined && requirement.has(value),
  );
  return isAskedFor ? "ordinary" : "last-resort";
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
  const renamed = conflict.code === "undefined-key" ? meantKey(conflict, { pool, policy }) : undefined;
  return [
    ...(renamed === undefined ? [] : keyCorrections(fromPod, pod, renamed)),
    ...fromPod.flatMap((writtenRequirement) => {
      const meant = meantValue(writtenRequirement, had);
      return meant === undefined ? [] : [valueCorrection(writtenRequirement, pod, meant)];
    }),
    ...fromPod.flatMap((writtenRequirement) => podLabelChanges(writtenRequirement, pod, had[0])),
    ...fromPool.flatMap((writtenRequirement) => poolLabelChanges(writtenRequirement, { pod, pool, policy }, wanted)),
    ...(fromPool.length === 0 && !isRestrictedLabel(policy, key) && !policy.wellKnown.has(key)
      ? [labelPoolChange(pool, key, wanted ?? "true")]
      : []),
  ];
}

/** The label the pod probably meant: one that the pool defines, or a well-known one. */
export function meantKey(
  { key }: Pick<RequirementConflict, "key">,
  { pool, policy }: Pick<PoolChangeInput, "pool" | "policy">,
): string | undefined {
  const defined = writtenPoolRequirements(pool.nodePool, policy).map(({ requirement }) => requirement.key);
  return likelyMeantKey(key, [...new Set([...defined, ...policy.wellKnown])]);
}

/** Uses the label that was probably meant. */
export function keyCorrections(
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
      text: `did you mean ${key}? Use that label instead of ${written.key} in the pod's ${form === "pair" ? "node selector" : "node affinity"}`,
      weight: changeWeights.fixTypo,
      precedence: "correction",
      operations,
    });
  });
}

function labelPoolChange(pool: Pool, key: string, value: string): CandidateChange {
  const path = ["spec", "template", "metadata", "labels", key];
  return changeOf(editedNodePool(pool), {
    text: `label the nodes of NodePool ${poolName(pool)} with ${key}=${value}`,
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
      valuesBeyond(writtenRequirement).flatMap((value) =>
        poolLabelChanges(writtenRequirement, { pod, pool, policy }, value),
      ),
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
