import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import { isRecord, type KubeObject, namespaceOf } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import { nestedKindOf } from "./nested-kinds.ts";
import { eachItem, eachValue, type FoundPart, type NestedPart, type TemplateStep } from "./nested-parts.ts";
import type { ExpandableWorkload } from "./workload.ts";

/** More groups than pods can be planned are not made one by one: their number alone is enough to refuse them. */
const maxGroups = 200_000;

/** What the pods of a kind with several templates are made from; undefined for other kinds. */
export function nestedWorkloadsOf(object: KubeObject): readonly ExpandableWorkload[] | undefined {
  const kind = nestedKindOf(object);
  if (kind === undefined || !isRecord(object.spec)) return undefined;
  if (kind.suspend !== undefined && valueAt(object.spec, kind.suspend) === true) return [];
  return foundParts(object).flatMap(({ part, found }) => partWorkloads(object, part, found));
}

/** Parts from which no pod can be made. */
export function nestedTemplateProblems(object: KubeObject): readonly Problem[] {
  return foundParts(object).flatMap(({ part, found }): readonly Problem[] => {
    if (templateOf(part, found) !== undefined) return [];
    if (part.makeTemplate === undefined) {
      return [
        { code: "required", path: [...found.path, ...(part.orTemplate ?? part.template)], message: "is missing" },
      ];
    }
    const expected = "amounts of memory such as 512m or 4g";
    const message = "its memory or memoryOverhead is not an amount that Spark reads";
    return [{ code: "invalid-value", path: found.path, message, expected }];
  });
}

interface PartInObject {
  readonly part: NestedPart;
  readonly found: LocatedPart;
}

function foundParts(object: KubeObject): readonly PartInObject[] {
  const { spec, metadata } = object;
  if (!isRecord(spec)) return [];
  const { name = "" } = metadata;
  return (nestedKindOf(object)?.parts ?? []).flatMap((part) =>
    partsAt(spec, part.at).map((found) => ({ part, found: { ...found, spec, name } })),
  );
}

/** Kind, namespace and name of what may own its pods in a cluster: itself, or what it makes for a group of pods. */
export function nestedOwnerKeys(object: KubeObject, workloads: readonly ExpandableWorkload[]): readonly string[] {
  const { kind, metadata } = object;
  const { makes } = nestedKindOf(object) ?? {};
  const key = (one: string, name = ""): string => `${one}/${namespaceOf(metadata)}/${name}`;
  return [
    key(kind, metadata.name),
    ...(makes === undefined ? [] : workloads.map((one) => key(makes, one.metadata.name))),
  ];
}

interface LocatedPart extends FoundPart {
  readonly path: FieldPath;
}

/** Every value at the end of the steps. */
function partsAt(
  spec: Readonly<Record<string, unknown>>,
  steps: readonly TemplateStep[],
): readonly Omit<LocatedPart, "spec" | "name">[] {
  let found = [{ value: spec as unknown, key: "", path: ["spec"] as FieldPath }];
  for (const step of steps) {
    found = found.flatMap(({ value, key, path }) =>
      membersOf(value, step).map((member) => ({
        value: member.value,
        key: step === eachValue ? String(member.key) : key,
        path: [...path, member.key],
      })),
    );
  }
  return found.flatMap(({ value, key, path }) => (isRecord(value) ? [{ fields: value, key, path }] : []));
}

function membersOf(
  value: unknown,
  step: TemplateStep,
): readonly { readonly key: string | number; readonly value: unknown }[] {
  if (step === eachItem) return Array.isArray(value) ? value.map((one, key) => ({ key, value: one as unknown })) : [];
  if (!isRecord(value)) return [];
  if (step === eachValue) return Object.entries(value).map(([key, one]) => ({ key, value: one }));
  return Object.hasOwn(value, step) ? [{ key: step, value: value[step] }] : [];
}

function partWorkloads(
  { apiVersion, kind, metadata }: KubeObject,
  part: NestedPart,
  found: LocatedPart,
): readonly ExpandableWorkload[] {
  const template = templateOf(part, found);
  if (template === undefined) return [];
  const { name: ownName = "", uid } = metadata;
  const { name, count, groups, first = 0, labels } = part.podsOf(found);
  const one: ExpandableWorkload = {
    metadata: { ...metadata, name },
    template: { ...template, metadata: { ...template.metadata, labels: { ...labels, ...template.metadata?.labels } } },
    count,
    countPath: [...found.path, ...(part.counts[0] ?? part.template)],
    owner: { apiVersion, kind, name: ownName, uid: uid ?? ownName, controller: true },
    first,
    claimTemplates: [],
  };
  if (groups === undefined) return [one];
  if (groups * Math.max(count, 1) > maxGroups) return [{ ...one, count: groups * count }];
  return Array.from({ length: count === 0 ? 0 : groups }, (_, group) => ({
    ...one,
    metadata: { ...one.metadata, name: `${name}-${group}` },
  }));
}

function templateOf(
  { template, orTemplate = template, makeTemplate }: NestedPart,
  found: FoundPart,
): PodTemplateSpec | undefined {
  if (makeTemplate !== undefined) return makeTemplate(found);
  const written = valueAt(found.fields, template) ?? valueAt(found.fields, orTemplate);
  return isRecord(written) && isRecord(written["spec"]) ? (written as unknown as PodTemplateSpec) : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const step of path) at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  return at;
}
