import type { Admission } from "../../../api/admission.ts";
import type { FieldPath } from "../../../api/problem.ts";
import { estimatedCostLimits } from "../../../api/structural/cel-estimate.ts";
import type { StructuralSchema } from "../../../api/structural/schema.ts";
import { dnsLabelError, dnsSubdomainError } from "../../../api/validation/names.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import {
  forbiddenField,
  invalidObject,
  invalidValue,
  requiredValue,
  type StatusCause,
  unsupportedValue,
} from "../../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, type ObjectDraft, setDefaults } from "../object-draft.ts";
import type { AdmissionContext } from "../served-kind.ts";
import type { KindTraits } from "./built-in-behaviour.ts";
import { immutableCauses } from "./workload-traits.ts";

const definitionResource = {
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
};

export const customResourceDefinitionTraits: KindTraits = {
  countsGenerations: true,
  hasStatus: true,
  needsVersionToUpdate: true,
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    const names = ensureRecord(spec, "names");
    const kind = textAt(names, "kind");
    setDefaults(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
    setDefaults(ensureRecord(spec, "conversion"), { strategy: "None" });
  },
  admitCreate: (draft, { isBuiltIn }) => {
    const [group, name] = [textAt(draft.spec, "group"), draft.metadata.name ?? ""];
    const causes = (["plural", "kind"] as const).flatMap((field) => {
      const written = textAt(draft.spec, "names", field);
      const path = ["spec", "names", field];
      return isBuiltIn(group, written)
        ? [invalidValue(path, written, `${group} has a built-in kind of this name`)]
        : [];
    });
    if (causes.length > 0) throw invalidObject(definitionResource, name, causes);
  },
  prepareCreate: (draft, context) => {
    draft.status = acceptance(draft, context);
  },
  prepareUpdate: (draft, old, context) => {
    const status = ensureRecord(draft, "status");
    const stored = storedVersion(draft);
    const known = Array.isArray(status["storedVersions"]) ? status["storedVersions"] : [];
    if (!known.includes(stored)) status["storedVersions"] = [...known, stored];
    if (draft.metadata.deletionTimestamp !== undefined) return;
    const isRefused = listAt(old.status, "conditions").some(({ status }) => status === "False");
    if (isRefused) draft.status = acceptance(draft, context);
    else status["acceptedNames"] = { ...recordAt(draft.spec, "names") };
  },
  check: (draft, old, admission) => [
    ...namesCauses(draft),
    ...versionsCauses(draft, admission),
    ...immutableCauses(draft, old, ["spec", "group"]),
    ...immutableCauses(draft, old, ["spec", "scope"]),
    ...immutableCauses(draft, old, ["spec", "names", "plural"]),
    ...immutableCauses(draft, old, ["spec", "names", "kind"]),
  ],
};

/** The first CRD to use a name gets it; a CRD whose names conflict is not served. */
function acceptance(draft: ObjectDraft, { now, list }: AdmissionContext): JsonObject {
  const taken = takenName(draft, list);
  const at = rfc3339(now);
  const accepted = {
    type: "NamesAccepted",
    status: taken === undefined ? "True" : "False",
    lastTransitionTime: at,
    reason: taken === undefined ? "NoConflicts" : "NameConflict",
    message: taken === undefined ? "no conflicts found" : `${JSON.stringify(taken)} is already in use`,
  };
  const established = {
    type: "Established",
    status: accepted.status,
    lastTransitionTime: at,
    reason: taken === undefined ? "InitialNamesAccepted" : "NotAccepted",
    message: taken === undefined ? "the initial names have been accepted" : "not all names are accepted",
  };
  return {
    conditions: [accepted, established],
    acceptedNames: taken === undefined ? { ...recordAt(draft.spec, "names") } : { plural: "", kind: "" },
    storedVersions: [storedVersion(draft)],
  };
}

function storedVersion(draft: ObjectDraft): string {
  return textAt(
    listAt(draft.spec, "versions").find(({ storage }) => storage === true),
    "name",
  );
}

function takenName(draft: ObjectDraft, list: AdmissionContext["list"]): string | undefined {
  const namesOf = (names: JsonObject | undefined): readonly string[] => {
    const shortNames = names?.["shortNames"];
    const short = Array.isArray(shortNames) ? shortNames.map(String) : [];
    return [
      textAt(names, "plural"),
      textAt(names, "singular"),
      textAt(names, "kind"),
      textAt(names, "listKind"),
      ...short,
    ];
  };
  const others = list("customresourcedefinitions.apiextensions.k8s.io")
    .filter(
      ({ metadata, spec }) =>
        metadata.name !== draft.metadata.name && textAt(spec, "group") === textAt(draft.spec, "group"),
    )
    .flatMap(({ spec }) => namesOf(recordAt(spec, "names")));
  return namesOf(recordAt(draft.spec, "names")).find((name) => others.includes(name));
}

function namesCauses(draft: ObjectDraft): readonly StatusCause[] {
  const spec = draft.spec ?? {};
  const [group, plural, kind] = [textAt(spec, "group"), textAt(spec, "names", "plural"), textAt(spec, "names", "kind")];
  const causes: StatusCause[] = [];
  if (group === "") causes.push(requiredValue(["spec", "group"]));
  else {
    const error =
      dnsSubdomainError(group) ?? (group.includes(".") ? undefined : "should be a domain with at least one dot");
    if (error !== undefined) causes.push(invalidValue(["spec", "group"], group, error));
  }
  if (plural === "") causes.push(requiredValue(["spec", "names", "plural"]));
  else if (dnsLabelError(plural) !== undefined) {
    causes.push(invalidValue(["spec", "names", "plural"], plural, dnsLabelError(plural) ?? ""));
  }
  if (kind === "") causes.push(requiredValue(["spec", "names", "kind"]));
  const scope = textAt(spec, "scope");
  if (scope !== "Cluster" && scope !== "Namespaced") {
    causes.push(unsupportedValue(["spec", "scope"], scope, ["Cluster", "Namespaced"]));
  }
  const expected = `${plural}.${group}`;
  if (causes.length === 0 && draft.metadata.name !== expected) {
    const because = 'must be spec.names.plural+"."+spec.group';
    causes.push(invalidValue(["metadata", "name"], draft.metadata.name, because));
  }
  return causes;
}

function versionsCauses(draft: ObjectDraft, admission: Admission): readonly StatusCause[] {
  const versions = listAt(draft.spec, "versions");
  const path: FieldPath = ["spec", "versions"];
  if (versions.length === 0) return [requiredValue(path)];
  const stored = versions.filter((version) => version["storage"] === true);
  const causes: StatusCause[] = [];
  if (stored.length !== 1) {
    causes.push(invalidValue(path, "", "must have exactly one version marked as storage version"));
  }
  for (const [index, version] of versions.entries()) {
    causes.push(...versionCauses(version, { path: [...path, index], admission }));
  }
  return causes;
}

interface SchemaCheck {
  readonly path: FieldPath;
  readonly admission: Admission;
}

function versionCauses(version: JsonObject, { path, admission }: SchemaCheck): readonly StatusCause[] {
  const name = textAt(version, "name");
  const error = name === "" ? undefined : dnsLabelError(name);
  if (name === "") return [requiredValue([...path, "name"])];
  if (error !== undefined) return [invalidValue([...path, "name"], name, error)];
  const schema = recordAt(version, "schema", "openAPIV3Schema");
  const at = [...path, "schema", "openAPIV3Schema"];
  if (schema === undefined) return [requiredValue(at, "schemas are required")];
  if (textAt(schema, "type") !== "object")
    return [invalidValue([...at, "type"], schema["type"], "must be object at the root")];
  const tooExpensive = ruleCostCauses(schema as StructuralSchema, { path: at, admission });
  if (tooExpensive.length > 0) return tooExpensive;
  const scale = recordAt(version, "subresources", "scale");
  if (scale === undefined) return [];
  return ["specReplicasPath", "statusReplicasPath"].flatMap((field) => {
    const text = textAt(scale, field);
    const where = [...path, "subresources", "scale", field];
    if (text === "") return [requiredValue(where)];
    return /^(\.[A-Za-z0-9_-]+)+$/.test(text)
      ? []
      : [invalidValue(where, text, "must be a json path under .spec or .status")];
  });
}

/** Rules that could cost too much are refused with the definition, in the words of Kubernetes. (05:CP-S3) */
function ruleCostCauses(schema: StructuralSchema, { path, admission }: SchemaCheck): readonly StatusCause[] {
  const { perRule, perSchema } = estimatedCostLimits;
  const estimates = admission.ruleEstimates(schema);
  const causes = estimates
    .filter(({ cost }) => cost > perRule)
    .map((rule) => forbiddenField([...path, ...rule.path], exceeded("estimated rule cost", rule.cost / perRule)));
  const total = estimates.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= perSchema) return causes;
  const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
  return [...causes, forbiddenField(path, exceeded(what, total / perSchema))];
}

function exceeded(what: string, factor: number): string {
  const times = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${times} (${advice})`;
}
