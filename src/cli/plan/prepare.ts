import { Admission } from "../../api/admission.ts";
import { type Converted, sourcePath } from "../../api/conversion/outcome.ts";
import { toV1 } from "../../api/conversion/to-v1.ts";
import { kindOf } from "../../api/kinds/registry.ts";
import type { ManifestDocument } from "../../api/manifest/document.ts";
import type { Finding } from "../../api/manifest/finding.ts";
import { isRecord, type KubeObject, namespacedName } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { type ReviewedPool, reviewNodePool } from "../../api/validation/node-pool.ts";
import { complete } from "../../core/scenario/complete.ts";
import { expandWorkloads } from "../../core/scenario/expand.ts";
import { isNamespaced, scenarioKind } from "../../core/scenario/kinds.ts";
import { withClassReadiness } from "../../core/scenario/node-classes.ts";
import { withoutNulls } from "../../core/scenario/nulls.ts";
import { shapeProblems } from "../../core/scenario/shapes.ts";
import { type Catalogue, servedClasses } from "./catalogue.ts";
import { defaultPool } from "./default-pool.ts";

/** Documents as objects of v1 that have the right shape. */
export interface Drafts {
  readonly objects: readonly Draft[];
  readonly findings: readonly Finding[];
  /** Kinds a plan does not look at, and how many of each were given. */
  readonly passedBy: ReadonlyMap<string, number>;
}

/** An object and where it was written. */
export interface Draft {
  readonly object: KubeObject;
  readonly at: (problem: Problem) => Finding;
}

/** First half: what the documents say, in words of today. */
export function draft(documents: readonly ManifestDocument[]): Drafts {
  const conversion = toV1(
    documents.map(({ object }) => withoutNulls(object)),
    { mode: "lenient" },
  );
  const findings: Finding[] = [
    ...conversion.warnings.map(({ input, ...warning }) => ({
      ...placed(warning, documents[input]),
      severity: "warning" as const,
    })),
    ...conversion.problems.map(({ input, ...problem }) => placed(problem, documents[input])),
  ];
  const objects: Draft[] = [];
  const passedBy = new Map<string, number>();
  for (const converted of conversion.objects) {
    const object = converted.object as KubeObject;
    const one: Draft = { object, at: (problem) => locate(problem, converted, documents) };
    if (scenarioKind(object) === undefined) {
      passedBy.set(object.kind, (passedBy.get(object.kind) ?? 0) + 1);
      continue;
    }
    const problems = shapeProblems(object);
    findings.push(...problems.map((problem) => softened(one.at(problem))));
    if (problems.every(({ code }) => code === "unknown-field")) objects.push(one);
  }
  return { objects, findings, passedBy };
}

export interface Prepared {
  /** Complete and valid, if no finding is an error. */
  readonly objects: readonly KubeObject[];
  /** Workloads that became pods. */
  readonly workloads: readonly KubeObject[];
  readonly findings: readonly Finding[];
  /** No pool was given, so that one of ours is planned with. */
  readonly hasDefaultPool: boolean;
}

/** Second half: what a cluster would have made of them, completed first and validated then. */
export function prepare(
  drafts: readonly Draft[],
  { catalogue, nowMs }: { catalogue: Catalogue; nowMs: number },
): Prepared {
  const review = new Review(catalogue);
  const admitted = drafts.filter((one) => review.admits(one));
  const hasDefaultPool = drafts.every(({ object }) => scenarioKind(object) !== "NodePool");
  const given = withClassReadiness(admitted.map(({ object }) => object));
  const { objects: expanded, workloads } = expandWorkloads(
    hasDefaultPool ? [...given, defaultPool(catalogue.provider)] : given,
  );
  const objects = complete(
    expanded.map(({ object }) => object),
    {
      typesFor: catalogue.typesFor,
      nowMs,
      defaultNodeClass: { ...servedClasses[catalogue.provider], name: "default" },
    },
  );
  for (const [index, { from }] of expanded.entries()) {
    const object = objects[index];
    const one = admitted[from];
    if (object !== undefined && one !== undefined) review.accepts(object, one);
  }
  return { objects, workloads, findings: review.findings, hasDefaultPool };
}

/** What an API server and our own controllers would object to. */
class Review {
  readonly findings: Finding[] = [];
  readonly #admission: Admission;
  readonly #catalogue: Catalogue;
  /** Objects that lacked something completion may bring. */
  readonly #incomplete = new Set<Draft>();
  readonly #seen = new Map<string, Draft>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
    this.#admission = new Admission(catalogue.provider);
  }

  /** Before completion: whether it is right as far as it goes. */
  admits(one: Draft): boolean {
    if (kindOf(one.object.apiVersion, one.object.kind) === undefined) return true;
    const { problems } = this.#admission.admit(one.object, { strict: true });
    const isRuleOfIdlePool = ({ code }: Problem): boolean => code === "rule" && isStatic(one.object);
    this.findings.push(...problems.filter(isRuleOfIdlePool).map((problem) => asWarning(one.at(problem))));
    const wrong = problems.filter((problem) => problem.code !== "required" && !isRuleOfIdlePool(problem));
    if (problems.some(({ code }) => code === "required")) this.#incomplete.add(one);
    this.findings.push(...wrong.map(one.at));
    return wrong.length === 0;
  }

  /** After completion: nothing is missing, nobody else has its name, and pools make sense. */
  accepts(object: KubeObject, one: Draft): void {
    this.#isAlone(object, one);
    const missing = this.#incomplete.has(one) ? this.#admission.admit(object, { strict: true }).problems : [];
    this.findings.push(...missing.map(one.at));
    if (missing.length > 0 || scenarioKind(object) !== "NodePool") return;
    const { problems, notices } = reviewNodePool(object as unknown as ReviewedPool, this.#catalogue.labelPolicy);
    this.findings.push(...problems.map(one.at), ...notices.map((notice) => asWarning(one.at(notice))));
  }

  #isAlone(object: KubeObject, one: Draft): void {
    const kind = scenarioKind(object);
    const name = kind !== undefined && isNamespaced(kind) ? namespacedName(object.metadata) : object.metadata.name;
    const key = `${kind} ${name}`;
    if (this.#seen.has(key)) {
      const message = `there are two of ${kind} ${name}: names are unique in a cluster`;
      this.findings.push(one.at({ code: "duplicate-item", path: ["metadata", "name"], message }));
    }
    this.#seen.set(key, one);
  }
}

function locate(problem: Problem, { input, moves }: Converted, documents: readonly ManifestDocument[]): Finding {
  const { path, input: from = input } = sourcePath(problem.path, moves);
  return placed({ ...problem, path }, documents[from]);
}

function placed<T extends Pick<Problem, "path" | "message"> & { readonly code: string }>(
  problem: T,
  document: ManifestDocument | undefined,
): T & Pick<Finding, "severity" | "source" | "position"> {
  const { source, line, column } = document?.placeOf(problem.path) ?? { source: "-", line: 1, column: 1 };
  return { ...problem, severity: "error", source, position: { line, column } };
}

/** Fields of foreign kinds that we do not know may be new ones. */
function softened(finding: Finding): Finding {
  return finding.code === "unknown-field" ? asWarning(finding) : finding;
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: "warning" };
}

/** A static pool has no part in a plan, so that its rules need not be kept for one. (02:P-33) */
function isStatic({ kind, spec }: KubeObject): boolean {
  return kind === "NodePool" && isRecord(spec) && spec["replicas"] !== undefined;
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** Whose node classes the pools refer to: EC2's if any does, else KWOK's. */
export function providerOf(drafts: readonly Draft[]): Catalogue["provider"] {
  const isEc2 = ({ object }: Draft): boolean => {
    const spec =
      isRecord(object.spec) && isRecord(object.spec["template"]) ? object.spec["template"]["spec"] : undefined;
    const ref = isRecord(spec) ? spec["nodeClassRef"] : undefined;
    return scenarioKind(object) === "NodePool" && isRecord(ref) && ref["group"] === servedClasses.aws.group;
  };
  return drafts.some(isEc2) ? "aws" : "kwok";
}
