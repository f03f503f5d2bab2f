import { isRecord, type ObjectMeta, type OwnerReference } from "./object.ts";
import type { FieldPath, Problem } from "./problem.ts";
import { objectMetaSchema } from "./structural/object-meta.ts";
import { type PatternCache, validateSchema } from "./structural/validate.ts";
import {
  dnsLabelError,
  dnsSubdomainError,
  labelValueError,
  qualifiedNameError,
  shortText,
} from "./validation/names.ts";

/** What every API server checks of an object's metadata, whatever its kind. */
export function metadataProblems(object: unknown, patterns: PatternCache): readonly Problem[] {
  const metadata = (isRecord(object) ? object["metadata"] : undefined) ?? {};
  const misshapen = validateSchema(metadata, objectMetaSchema, patterns);
  if (misshapen.length > 0) return misshapen.map((problem) => ({ ...problem, path: ["metadata", ...problem.path] }));
  return contentProblems(metadata as ObjectMeta);
}

function contentProblems(metadata: ObjectMeta): readonly Problem[] {
  const { namespace, labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  const problems = [...nameProblems(metadata)];
  const check = (field: string, value: string, error: string | undefined): void => {
    if (error !== undefined) problems.push(invalidMetadata([field], value, error));
  };
  if (namespace !== undefined && namespace !== "") check("namespace", namespace, dnsLabelError(namespace));
  for (const [key, value] of Object.entries(labels)) {
    check("labels", key, qualifiedNameError(key));
    check("labels", value, labelValueError(value));
  }
  // Annotation keys may be written in capitals.
  for (const key of Object.keys(annotations)) check("annotations", key, qualifiedNameError(key.toLowerCase()));
  for (const finalizer of finalizers) check("finalizers", finalizer, qualifiedNameError(finalizer));
  return [...problems, ...annotationSizeProblems(annotations), ...ownerProblems(ownerReferences)];
}

/** A missing name is fine with a `generateName`: the API server appends five characters to it, cut at 58. */
function nameProblems({ name = "", generateName = "" }: ObjectMeta): readonly Problem[] {
  const problems: Problem[] = [];
  const prefixError = generateName === "" ? undefined : dnsSubdomainError(withoutTrailingDash(generateName));
  if (prefixError !== undefined) problems.push(invalidMetadata(["generateName"], generateName, prefixError));
  const final = name === "" && generateName !== "" ? `${generateName.slice(0, 58)}xxxxx` : name;
  if (final === "") return [{ code: "required", path: ["metadata", "name"], message: "is required" }];
  const nameError = dnsSubdomainError(final);
  if (nameError !== undefined) problems.push(invalidMetadata(["name"], final, nameError));
  return problems;
}

/** A prefix may end in one dash that a name may not. */
function withoutTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

const maxAnnotationBytes = 256 * 1024;

function annotationSizeProblems(annotations: Readonly<Record<string, string>>): readonly Problem[] {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += utf8Length(key) + utf8Length(value);
  if (bytes <= maxAnnotationBytes) return [];
  const expected = `at most ${maxAnnotationBytes} bytes in all`;
  return [{ code: "too-long", path: ["metadata", "annotations"], message: `has ${bytes} bytes`, expected }];
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function ownerProblems(owners: readonly OwnerReference[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [index, owner] of owners.entries()) {
    for (const field of ["apiVersion", "kind", "name", "uid"] as const) {
      if ((owner[field] ?? "") === "")
        problems.push(invalidMetadata(["ownerReferences", index, field], "", "it must not be empty"));
    }
    if ((owner.apiVersion ?? "").split("/").length > 2) {
      problems.push(
        invalidMetadata(["ownerReferences", index, "apiVersion"], owner.apiVersion, "it has more than one '/'"),
      );
    }
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      problems.push(invalidMetadata(["ownerReferences", index], "Event", "an Event may not own anything"));
    }
  }
  if (owners.filter(({ controller }) => controller === true).length > 1) {
    problems.push(invalidMetadata(["ownerReferences"], "controller", "only one owner may be the controller"));
  }
  return problems;
}

function invalidMetadata(path: FieldPath, value: string, error: string): Problem {
  return {
    code: "invalid-value",
    path: ["metadata", ...path],
    message: `${JSON.stringify(shortText(value))} is not valid: ${error}`,
  };
}
