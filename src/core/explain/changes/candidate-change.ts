import type { Pod } from "../../../api/kubernetes/pod.ts";
import { namespaceOf } from "../../../api/object.ts";
import type { Pool, SchedulingProblem } from "../../scheduling/problem.ts";
import { applyEdits, type Edit, type EditedObject, podController } from "../edit.ts";
import type { PatchOperation } from "../json-patch.ts";

/**
 * Which changes are offered before which, whatever their size. A correction mends what was probably misspelled. A last
 * resort gives up hardware the pod was written for; it is offered apart, and only where nothing else helps.
 */
export const changePrecedences = ["correction", "ordinary", "last-resort"] as const;
export type ChangePrecedence = (typeof changePrecedences)[number];

/** A change that might help, not yet simulated. */
export interface CandidateChange {
  /** An instruction: “add a toleration …”. */
  readonly text: string;
  readonly edits: readonly Edit[];
  readonly precedence: ChangePrecedence;
  /** How many things are changed: fewer are tried first. */
  readonly steps: number;
  /** How much is changed: lighter is tried first. */
  readonly weight: number;
  /**
   * Applies it where the edits alone do not say what follows: a pool gets other instance types, or nodes that the pod did
   * not have a say in. Several problems are several ways it may come out: the pod has to be placed in each.
   */
  readonly apply?: (problem: SchedulingProblem) => readonly SchedulingProblem[];
  /** Pools whose nodes all drift, though the pool itself is not edited. */
  readonly driftedPools?: readonly string[];
}

/** The problems a change may lead to. */
export function problemsAfter(
  problem: SchedulingProblem,
  { edits, apply }: Pick<CandidateChange, "edits" | "apply">,
): readonly SchedulingProblem[] {
  return apply?.(problem) ?? [applyEdits(problem, edits)];
}

/** Of several changes made together, what their edits do not say. */
export function combinedConsequences(
  changes: readonly CandidateChange[],
): Pick<CandidateChange, "apply" | "driftedPools"> {
  const driftedPools = changes.flatMap((one) => one.driftedPools ?? []);
  if (changes.every(({ apply }) => apply === undefined)) return {};
  return {
    apply: (problem) =>
      changes.reduce<readonly SchedulingProblem[]>(
        (problems, change) => problems.flatMap((one) => problemsAfter(one, change)),
        [problem],
      ),
    ...(driftedPools.length > 0 && { driftedPools }),
  };
}

/** Weights of changes: widening is light, dropping what somebody asked for is heavy. */
export const changeWeights = {
  fixTypo: 1,
  addToleration: 1,
  widenPod: 1.5,
  widenPool: 1.8,
  raiseLimit: 2,
  enlargeVolume: 2.2,
  addReplica: 3,
  changeValue: 2,
  lowerRequest: 2,
  relaxSpread: 2,
  fixClaim: 2.5,
  makePreference: 3,
  drop: 3,
  labelPool: 3.5,
  dropConstraint: 4,
  dropPoolRule: 4,
  dropLimit: 5,
  changeOthers: 5,
} as const;

export function editedPod(pod: Pod): EditedObject {
  const controller = podController(pod);
  return {
    kind: "Pod",
    namespace: namespaceOf(pod.metadata),
    name: pod.metadata.name ?? "",
    ...(controller && { workload: { kind: controller.kind, name: controller.name } }),
  };
}

export function editedNodePool({ nodePool }: Pool): EditedObject {
  return { kind: "NodePool", name: nodePool.metadata.name ?? "" };
}

export function poolName({ nodePool }: Pool): string {
  return nodePool.metadata.name ?? "";
}

/** One change of one object. */
export function changeOf(
  object: EditedObject,
  {
    operations,
    precedence = "ordinary",
    ...change
  }: Pick<CandidateChange, "text" | "weight" | "apply" | "driftedPools"> & {
    operations: readonly PatchOperation[];
    precedence?: ChangePrecedence;
  },
): CandidateChange {
  return { ...change, precedence, steps: 1, edits: operations.map((operation) => ({ object, ...operation })) };
}

/** Of several changes made together: a last resort stays one, and what corrects a mistake comes first. */
export function combinedPrecedence(changes: readonly Pick<CandidateChange, "precedence">[]): ChangePrecedence {
  const all = changes.map(({ precedence }) => precedence);
  if (all.includes("last-resort")) return "last-resort";
  return all.includes("correction") ? "correction" : "ordinary";
}

/** Several changes as one; undefined where two of them set one field to different values. */
export function combineChanges(changes: readonly CandidateChange[]): CandidateChange | undefined {
  const byTarget = new Map<string, Edit>();
  for (const edit of changes.flatMap(({ edits }) => edits)) {
    const target = editTarget(edit);
    const known = byTarget.get(target);
    const both = known === undefined ? edit : mergeAdditions(known, edit);
    if (both === undefined) return undefined;
    byTarget.set(target, both);
  }
  const texts = [...new Set(changes.map(({ text }) => text))];
  return {
    text: texts.join("; and "),
    edits: orderEdits([...byTarget.values()]),
    precedence: combinedPrecedence(changes),
    steps: changes.reduce((sum, { steps }) => sum + steps, 0),
    weight: changes.reduce((sum, { weight }) => sum + weight, 0),
    ...combinedConsequences(changes),
  };
}

/** Where an edit takes effect. Appending to a list never conflicts. */
function editTarget({ object: { kind, namespace, name }, path, value }: Edit): string {
  return JSON.stringify([kind, namespace, name, path, ...(path.endsWith("/-") ? [value] : [])]);
}

/** Two additions of a missing parent become one. */
function mergeAdditions(a: Edit, b: Edit): Edit | undefined {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  if (a.op !== "add" || b.op !== "add") return undefined;
  if (Array.isArray(a.value) && Array.isArray(b.value)) return { ...a, value: [...a.value, ...b.value] };
  const isFlat = (value: unknown): value is Record<string, string> =>
    typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string");
  return isFlat(a.value) && isFlat(b.value) ? { ...a, value: { ...a.value, ...b.value } } : undefined;
}

/** Removals last and from the end, so that the indexes of other edits stay valid. */
function orderEdits(edits: readonly Edit[]): readonly Edit[] {
  const removals = edits.filter(({ op }) => op === "remove");
  const byTarget = (a: Edit, b: Edit): number => b.path.localeCompare(a.path, "en", { numeric: true });
  return [...edits.filter(({ op }) => op !== "remove"), ...removals.sort(byTarget)];
}
