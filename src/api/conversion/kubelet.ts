import { canonicalJson } from "../../util/canonical-json.ts";
import { compatibilityAnnotations, groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ConversionDraft, fieldPath, valueAt, valueText } from "./conversion-draft.ts";
import { defaultClassKind } from "./node-class-ref.ts";

/** Kubelet settings were part of pools; in v1 they are part of the class, which several pools may share. (01 §7.5) */

export interface PoolConversion {
  readonly input: number;
  readonly draft: ConversionDraft;
  /** The path of the settings in the source, if it has any. */
  readonly kubelet?: FieldPath | undefined;
}

export interface ClassConversion {
  readonly draft: ConversionDraft;
  /** Set once settings were moved in. */
  changed: boolean;
}

const classKubelet = fieldPath("spec.kubelet");
const kubeletAnnotationPath = ["metadata", "annotations", compatibilityAnnotations.kubelet];

/** Settings of the source, without those kubelets no longer accept. */
function kubeletSettings(pool: PoolConversion): Record<string, unknown> | undefined {
  const settings = pool.kubelet === undefined ? undefined : pool.draft.sourceValue(pool.kubelet);
  if (!isRecord(settings)) return undefined;
  const { containerRuntime: _gone, ...rest } = settings;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Keeps the settings in an annotation, as the conversion webhook of v1.0 did. (01 §7.3) */
export function annotateKubelet(pool: PoolConversion): void {
  const settings = kubeletSettings(pool);
  if (settings !== undefined) pool.draft.setField(kubeletAnnotationPath, JSON.stringify(settings), pool.kubelet);
}

/** Moves the settings of pools to the classes they reference. */
export function moveKubeletToClasses(
  pools: readonly PoolConversion[],
  classes: ReadonlyMap<string, ClassConversion>,
): void {
  for (const pool of pools) warnContainerRuntime(pool);
  for (const [name, sharing] of poolsByClass(pools)) {
    const asking = sharing.filter((pool) => kubeletSettings(pool) !== undefined);
    if (asking.length === 0) continue;
    const target = name === undefined ? undefined : classes.get(name);
    if (target === undefined) for (const pool of asking) keepAsAnnotation(pool, name);
    else if (new Set(sharing.map((pool) => canonicalJson(kubeletSettings(pool)))).size > 1)
      refuseConflictingSettings(sharing, String(name));
    else moveToClass(asking, { name: String(name), target });
  }
}

/** Pools by the EC2NodeClass they refer to; under undefined those of other kinds of class. */
function poolsByClass(pools: readonly PoolConversion[]): ReadonlyMap<string | undefined, readonly PoolConversion[]> {
  const groupsOfPools = new Map<string | undefined, PoolConversion[]>();
  for (const pool of pools) {
    const ref = pool.draft.resultValue(fieldPath("spec.template.spec.nodeClassRef"));
    const isEc2 = isRecord(ref) && ref["group"] === groups.aws && ref["kind"] === defaultClassKind;
    const name = isEc2 ? valueText(ref["name"]) : undefined;
    groupsOfPools.set(name, [...(groupsOfPools.get(name) ?? []), pool]);
  }
  return groupsOfPools;
}

function moveToClass(
  asking: readonly PoolConversion[],
  { name, target }: { name: string; target: ClassConversion },
): void {
  const [first] = asking;
  if (first?.kubelet === undefined) return;
  const settings = kubeletSettings(first);
  const own = target.draft.resultValue(classKubelet);
  if (own !== undefined && canonicalJson(own) !== canonicalJson(settings)) {
    refuseConflictingSettings(asking, name);
    return;
  }
  target.draft.setField(classKubelet, structuredClone(settings));
  target.draft.moves.push({ from: first.kubelet, to: classKubelet, input: first.input });
  target.changed = true;
  for (const pool of asking) {
    if (pool.kubelet === undefined) continue;
    pool.draft.warn({
      code: "kubelet-moved",
      path: pool.kubelet,
      message: `moved to spec.kubelet of EC2NodeClass ${name}: in v1 it belongs to the class`,
      advice: "note that every NodePool using that class gets these settings",
    });
  }
}

function refuseConflictingSettings(pools: readonly PoolConversion[], name: string): void {
  const names = pools.map((pool) => valueText(valueAt(pool.draft.object, fieldPath("metadata.name")))).join(", ");
  for (const pool of pools) {
    if (pool.kubelet === undefined || kubeletSettings(pool) === undefined) continue;
    pool.draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.5",
      path: pool.kubelet,
      message: `pools of EC2NodeClass ${name} (${names}) and the class itself do not agree on kubelet settings, and v1 has one set for each class`,
      expected: "one node class for each kubelet setting",
    });
  }
}

function keepAsAnnotation(pool: PoolConversion, name: string | undefined): void {
  if (pool.kubelet === undefined) return;
  annotateKubelet(pool);
  const where = name === undefined ? "its node class" : `EC2NodeClass ${name}`;
  pool.draft.assume({
    code: "kubelet-left-behind",
    path: pool.kubelet,
    message: `in v1 kubelet settings belong to ${where}, which is not in the input; kept only as the annotation ${compatibilityAnnotations.kubelet}`,
    advice: "convert pool and class together, or copy the settings to spec.kubelet of the class",
    strictProblem: {
      code: "not-convertible",
      rule: "01 §7.5",
      message: `in v1 kubelet settings belong to ${where}, which is not in the input`,
      expected: "pool and class converted together",
    },
  });
}

function warnContainerRuntime(pool: PoolConversion): void {
  if (pool.kubelet === undefined) return;
  const path = [...pool.kubelet, "containerRuntime"];
  if (pool.draft.sourceValue(path) === undefined) return;
  pool.draft.warn({
    code: "field-dropped",
    path,
    message: "dropped: containerd is the only runtime left",
    advice: "remove it",
  });
}
