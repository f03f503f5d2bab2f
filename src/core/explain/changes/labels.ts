import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isRestrictedLabel, type LabelPolicy } from "../../../api/label-policy.ts";
import { labels } from "../../../api/labels.ts";
import { closest } from "../../../api/manifest/closest.ts";
import type { Conflict } from "../../compatibility.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { type Demand, emptiedBy, podDemands, poolDemands } from "../demands.ts";
import { adding, type Operation, pointer, removing, replacing } from "../patch.ts";
import { type Change, change, podObject, poolName, poolObject, weights } from "./change.ts";

/** Ways to make a pod content with a value of a label it does not want now; without a value, to make it not care. */
export function podLabelChanges(demand: Demand, pod: Pod, value: string | undefined): readonly Change[] {
  const { key } = demand.written;
  const where = demand.form === "pair" ? "node selector" : "node affinity";
  const widened = value === undefined ? undefined : widening(demand, value);
  const made =
    widened === undefined
      ? []
      : [
          change(podObject(pod), {
            text:
              demand.form === "pair"
                ? `change ${key} in the pod's ${where} from ${demand.written.values?.[0] ?? ""} to ${value}`
                : `let the pod's ${where} also allow ${key} ${value}`,
            weight: demand.form === "pair" ? weights.changeValue : weights.widenPod,
            operations: [widened],
          }),
        ];
  const dropped = change(podObject(pod), {
    text: `drop ${key} from the pod's ${where}`,
    weight: weights.drop,
    operations: [removing(emptiedBy(demand, pod))],
  });
  return [...made, dropped];
}

/** Ways to let a pool have a value of a label it leaves out now. */
export function poolLabelChanges(demand: Demand, pool: Pool, value: string | undefined): readonly Change[] {
  const { key } = demand.written;
  const name = poolName(pool);
  const widened = value === undefined ? undefined : widening(demand, value);
  const made =
    widened === undefined
      ? []
      : [
          change(poolObject(pool), {
            text:
              demand.form === "pair"
                ? `label the nodes of pool ${name} with ${key}=${value} instead of ${demand.written.values?.[0] ?? ""}`
                : `let pool ${name} also have ${key} ${value}`,
            weight: demand.form === "pair" ? weights.dropPoolRule : weights.widenPool,
            operations: [widened],
          }),
        ];
  if (demand.form === "pair") return made;
  const dropped = change(poolObject(pool), {
    text: `drop the requirement on ${key} from pool ${name}`,
    weight: weights.dropPoolRule,
    operations: [removing(demand.path)],
  });
  return [...made, dropped];
}

/** The lightest operation after which a demand allows the value; undefined where it can only go. */
function widening({ form, path, written, requirement }: Demand, value: string): Operation | undefined {
  if (form === "pair") return replacing(path, value);
  const values = written.values ?? [];
  switch (written.operator) {
    case "In":
      return { op: "add", path: pointer([...path, "values", "-"]), value };
    case "NotIn": {
      const rest = values.filter((one) => one !== value);
      return rest.length === 0 || !requirement.values.has(value) ? undefined : replacing([...path, "values"], rest);
    }
    case "Gt":
    case "Lt":
    case "Gte":
    case "Lte": {
      const bound = boundFor(written.operator, value);
      return bound === undefined ? undefined : replacing([...path, "values"], [bound]);
    }
    default:
      return undefined;
  }
}

/** The tightest bound that lets a number through. */
function boundFor(operator: "Gt" | "Lt" | "Gte" | "Lte", value: string): string | undefined {
  if (!/^\d{1,15}$/.test(value)) return undefined;
  const shift = { Gt: -1, Lt: 1, Gte: 0, Lte: 0 }[operator];
  const bound = Number(value) + shift;
  return bound < 0 ? undefined : String(bound);
}

/** What settles a disagreement between a pod and a pool over a label that types do not speak of. */
export function conflictChanges(
  conflict: Conflict,
  { pod, pool, policy }: { pod: Pod; pool: Pool; policy: LabelPolicy },
): readonly Change[] {
  const { key } = conflict;
  const fromPod = podDemands(pod, policy).filter(({ requirement }) => requirement.key === key);
  const fromPool = poolDemands(pool.nodePool, policy).filter(({ requirement }) => requirement.key === key);
  const wanted = conflict.incoming.complement ? undefined : conflict.incoming.sortedValues()[0];
  const had = conflict.code === "undefined-key" || conflict.existing.complement ? [] : conflict.existing.sortedValues();
  const nearest = wanted === undefined ? undefined : closest(wanted, had);
  const value = nearest ?? had[0];
  return [
    ...(conflict.code === "undefined-key" && conflict.similarKey !== undefined
      ? renamings(fromPod, pod, conflict.similarKey)
      : []),
    ...fromPod.flatMap((demand) => podLabelChanges(demand, pod, value)).map((one) => (nearest ? lighter(one) : one)),
    ...fromPool.flatMap((demand) => poolLabelChanges(demand, pool, wanted)),
    ...(fromPool.length === 0 && !isRestrictedLabel(policy, key) && !policy.wellKnown.has(key)
      ? [labelling(pool, key, wanted ?? "true")]
      : []),
  ];
}

/** What looks like a slip of the pen is mended first. */
function lighter(one: Change): Change {
  return one.weight === weights.changeValue ? { ...one, weight: weights.fixTypo } : one;
}

function renamings(demands: readonly Demand[], pod: Pod, key: string): readonly Change[] {
  return demands.map(({ form, path, written }) => {
    const operations =
      form === "pair"
        ? [removing(path), adding(pod, [...path.slice(0, -1), key], written.values?.[0] ?? "")]
        : [replacing([...path, "key"], key)];
    return change(podObject(pod), { text: `write ${key} for ${written.key}`, weight: weights.fixTypo, operations });
  });
}

function labelling(pool: Pool, key: string, value: string): Change {
  const path = ["spec", "template", "metadata", "labels", key];
  return change(poolObject(pool), {
    text: `label the nodes of pool ${poolName(pool)} with ${key}=${value}`,
    weight: weights.labelPool,
    operations: [adding(pool.nodePool, path, value)],
  });
}

/** Every other value a pool could have of a topology key, to give its pods more room. */
export function domainChanges(
  key: string,
  { pod, pool, policy }: { pod: Pod; pool: Pool; policy: LabelPolicy },
): readonly Change[] {
  const known = new Set(
    pool.instanceTypes.flatMap(({ requirements }) =>
      requirements.has(key) && !requirements.get(key).complement ? requirements.get(key).sortedValues() : [],
    ),
  );
  const fromPool = poolDemands(pool.nodePool, policy).filter(({ requirement }) => requirement.key === key);
  const fromPod = podDemands(pod, policy).filter(({ requirement }) => requirement.key === key);
  const beyond = (demand: Demand): readonly string[] =>
    [...known].filter((value) => !demand.requirement.has(value)).sort();
  return [
    ...fromPool.flatMap((demand) => beyond(demand).flatMap((value) => poolLabelChanges(demand, pool, value))),
    ...fromPod.flatMap((demand) =>
      key === labels.hostname
        ? podLabelChanges(demand, pod, undefined)
        : [...beyond(demand), undefined].flatMap((value) => podLabelChanges(demand, pod, value)),
    ),
  ];
}
