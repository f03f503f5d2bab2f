import { Admission } from "../admission.ts";
import { karpenterKindOf } from "../kinds/karpenter-kinds.ts";
import type { Provider } from "../label-policy.ts";
import { findingLocation, type ManifestDocument } from "../manifest/document.ts";
import { type Finding, sortedFindings } from "../manifest/finding.ts";
import type { PrintableDocument } from "../manifest/print.ts";
import { rewriteDocument } from "../manifest/rewrite.ts";
import { isRecord } from "../object.ts";
import { type FieldPath, formatPath, type Problem } from "../problem.ts";
import {
  type ConversionMode,
  type ConversionOptions,
  type ConversionResult,
  type ConversionWarning,
  pathStartsWith,
  sourcePath,
} from "./conversion.ts";
import { withoutServerFields } from "./server-fields.ts";
import { toV1 } from "./to-v1.ts";

export interface ManifestConversionOptions extends ConversionOptions {
  /** The provider whose rules the result must pass. */
  readonly provider: Provider;
}

/** The v1 form of a set of documents; with any error among the findings, documents are missing from it. */
export interface ManifestConversion {
  readonly documents: readonly PrintableDocument[];
  readonly findings: readonly Finding[];
}

/** Converts documents to v1 and checks each result as an API server would; findings have file, line and field. */
export function convertManifests(
  given: readonly ManifestDocument[],
  { provider, ...options }: ManifestConversionOptions,
): ManifestConversion {
  const documents = given.map(withoutServerFields);
  const conversion = toV1(
    documents.map((document) => document.object),
    options,
  );
  const admission = new Admission(provider);
  const findings: Finding[] = [
    ...conversion.warnings.map((warning) => warningFinding(warning, documents[warning.input])),
    ...conversion.problems.map((problem) => problemFinding(problem, documents[problem.input])),
  ];
  const printables: PrintableDocument[] = [];
  for (const result of conversion.objects) {
    const checked = checkAdmission(result, { admission, documents, mode: options.mode });
    findings.push(...checked.findings);
    const isRewritten = documents[result.input] !== given[result.input];
    if (!checked.findings.some(isError)) printables.push(printableDocument(checked.result, { documents, isRewritten }));
  }
  // Further problems of inputs that could not be converted, so that all errors of a document are reported at once.
  for (const result of conversion.refused) {
    const known = conversion.problems
      .filter((problem) => problem.input === result.input)
      .map((problem) => problem.path);
    const more = checkAdmission(result, { admission, documents, mode: options.mode }).findings.filter(isError);
    findings.push(
      ...more.filter(({ path }) => !known.some((one) => pathStartsWith(path, one) || pathStartsWith(one, path))),
    );
  }
  return {
    documents: printables,
    findings: sortedFindings(
      distinct(findings),
      documents.map((document) => document.source),
    ),
  };
}

function isError(finding: Finding): boolean {
  return finding.severity === "error";
}

/** Checks the result by admission. Unknown fields are reported first: the API server rejects them for strict clients. (01 §0.1) */
function checkAdmission(
  result: ConversionResult,
  {
    admission,
    documents,
    mode,
  }: { admission: Admission; documents: readonly ManifestDocument[]; mode: ConversionMode },
): { result: ConversionResult; findings: readonly Finding[] } {
  const { apiVersion, kind } = isRecord(result.object) ? result.object : {};
  if (karpenterKindOf(apiVersion, kind) === undefined) return { result, findings: [] };
  const found = admission.admit(result.object, { strict: true }).problems;
  const unknown = found.filter((problem) => problem.code === "unknown-field");
  const paths = unknown.map((problem) => problem.path);
  const known = unknown.length === 0 ? result : withoutFields(result, paths);
  const problems = unknown.length === 0 ? found : admission.admit(known.object).problems;
  const place = (path: FieldPath) => {
    const { path: source, input = result.input } = sourcePath(path, result.moves);
    return { path: source, document: documents[input] };
  };
  const findings = [
    ...unknown.map((problem) => unknownField(problem, { mode, ...place(problem.path) })),
    ...problems.map((problem) =>
      problemFinding({ ...problem, path: place(problem.path).path }, place(problem.path).document),
    ),
  ];
  return { result: known, findings };
}

function unknownField(
  problem: Problem,
  about: { mode: string; path: FieldPath; document: ManifestDocument | undefined },
): Finding {
  const { path, document } = about;
  if (about.mode === "strict") return problemFinding({ ...problem, path }, document);
  const message = "dropped: it is not a field of this kind in v1";
  return warningFinding({ code: "field-dropped", path, message, advice: "remove it" }, document);
}

function withoutFields(result: ConversionResult, paths: readonly FieldPath[]): ConversionResult {
  const object = structuredClone(result.object);
  for (const path of paths) deleteAtPath(object, path);
  return { ...result, object, origin: result.origin === "unchanged" ? "same-kind" : result.origin };
}

function deleteAtPath(object: unknown, path: FieldPath): void {
  let parent = object as Record<string | number, unknown> | undefined;
  for (const step of path.slice(0, -1)) parent = parent?.[step] as Record<string | number, unknown> | undefined;
  const key = path.at(-1);
  if (parent !== undefined && key !== undefined) delete parent[key];
}

function printableDocument(
  { object, input, origin, moves }: ConversionResult,
  { documents, isRewritten }: { documents: readonly ManifestDocument[]; isRewritten: boolean },
): PrintableDocument {
  const document = documents[input];
  if (document === undefined) throw new Error(`no input ${input}: a conversion names the inputs it was given`);
  if (origin === "unchanged" && !isRewritten) return { object, yaml: document.yaml, text: document.text };
  const relocations = moves.map(({ input: other, ...move }) =>
    other === undefined ? move : { ...move, root: documents[other]?.yaml.contents ?? null },
  );
  const yaml = rewriteDocument(document.yaml, {
    target: object,
    relocations,
    inPlace: origin !== "new-kind" && origin !== "generated",
  });
  if (origin === "generated") {
    // The comment belongs to the object it was taken from.
    yaml.commentBefore = null;
    if (yaml.contents !== null) yaml.contents.commentBefore = null;
  }
  return { object, yaml, text: undefined };
}

function warningFinding(warning: ConversionWarning, document: ManifestDocument | undefined): Finding {
  const { code, path, message, advice } = warning;
  return { severity: "warning", code, path, message, advice, ...findingLocation(document, path) };
}

function problemFinding(problem: Problem, document: ManifestDocument | undefined): Finding {
  const { code, path, message, expected, rule } = problem;
  return {
    severity: "error",
    code,
    path,
    message,
    ...(expected !== undefined && { expected }),
    ...(rule !== undefined && { rule }),
    ...findingLocation(document, path),
  };
}

/** Two results of one input may have the same finding. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  const key = (finding: Finding) =>
    [finding.source, finding.position.line, finding.severity, formatPath(finding.path), finding.message].join("\n");
  return [...new Map(findings.map((finding) => [key(finding), finding])).values()];
}
