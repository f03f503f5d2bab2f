import { Admission } from "../../api/admission.ts";
import { type ConversionResult, sourcePath } from "../../api/conversion/conversion.ts";
import { toV1InSteps } from "../../api/conversion/to-v1.ts";
import { karpenterKindOf } from "../../api/kinds/karpenter-kinds.ts";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { findingLocation, type ManifestDocument } from "../../api/manifest/document.ts";
import type { Finding } from "../../api/manifest/finding.ts";
import { apiGroupOf, isRecord, type KubeObject, namespacedName } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { reviewNodePool } from "../../api/validation/node-pool.ts";
import { completeObjectsInSteps } from "../../core/scenario/complete-objects.ts";
import { completeVolumes, type VolumeCompletionOptions } from "../../core/scenario/complete-volumes.ts";
import { expandWorkloads } from "../../core/scenario/expand-workloads.ts";
import type { InputNote } from "../../core/scenario/input-note.ts";
import { misnamedKindProblem } from "../../core/scenario/misnamed-kind.ts";
import { nestedKindOf } from "../../core/scenario/nested-kinds.ts";
import { nodeClassesOf, nodeClassRefOf, withNodeClassReady } from "../../core/scenario/node-classes.ts";
import { readInputObject } from "../../core/scenario/object-form.ts";
import { PodAdmission } from "../../core/scenario/pod-admission.ts";
import { hasHiddenPodTemplate, isTemplatedKind } from "../../core/scenario/pod-template.ts";
import type { ReplicaChoice } from "../../core/scenario/replica-range.ts";
import { isNamespaced, type ScenarioKind, scenarioKind } from "../../core/scenario/scenario-kind.ts";
import { withoutNulls } from "../../core/scenario/without-nulls.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { isDeviceObject } from "../../state/scenario-devices.ts";
import { forEachInSteps, mapInSteps, runSteps, type Steps } from "../../util/steps.ts";
import { defaultPool } from "./default-pool.ts";
import { planProviders } from "./plan-choices.ts";
import { type CatalogueRequest, type ProviderCatalogue, servedNodeClasses } from "./provider-catalogue.ts";

/** The documents as valid v1 objects, before completion. */
export interface ConvertedInput {
  readonly objects: readonly LocatedObject[];
  readonly findings: readonly Finding[];
  /** Kinds a plan ignores, and how many objects of each were given. */
  readonly ignoredKinds: ReadonlyMap<string, number>;
  readonly notes: readonly InputNote[];
  /** Services matter to default topology constraints alone. (02:X-51) */
  readonly services: readonly KubeObject[];
  /** ResourceSlices, claims and classes matter only if requests for devices are not ignored. (02:D-3) */
  readonly deviceObjects: readonly KubeObject[];
}

/** An object and where it was written. */
export interface LocatedObject {
  readonly object: KubeObject;
  readonly findingFor: (problem: Problem) => Finding;
}

/** Step 1: converts documents to v1 and checks their shape. */
export function convertDocuments(documents: readonly ManifestDocument[]): ConvertedInput {
  return runSteps(convertDocumentsInSteps(documents));
}

/** The same in short steps, for whoever has other things to do meanwhile. */
export function* convertDocumentsInSteps(documents: readonly ManifestDocument[]): Steps<ConvertedInput> {
  const given = yield* mapInSteps(documents, ({ object }) => withoutNulls(object));
  const conversion = yield* toV1InSteps(given, { mode: "lenient" });
  const findings: Finding[] = [
    ...conversion.warnings.map(
      ({ input, ...warning }): Finding => ({
        ...warning,
        severity: "warning",
        ...findingLocation(documents[input], warning.path),
      }),
    ),
    ...conversion.problems.map(({ input, ...problem }) => errorFinding(problem, documents[input])),
  ];
  const fields = new BuiltInFields();
  const objects: LocatedObject[] = [];
  const ignoredKinds = new Map<string, number>();
  const notes: InputNote[] = [];
  const services: KubeObject[] = [];
  const deviceObjects: KubeObject[] = [];
  const review = (converted: ConversionResult): void => {
    const written = converted.object as KubeObject;
    const misnamed = scenarioKind(written) === undefined ? misnamedKindProblem(written, fields) : undefined;
    if (misnamed !== undefined) findings.push(asWarning(locatedFinding(misnamed, converted, documents)));
    if (scenarioKind(written) === undefined && !isTemplatedKind(written) && nestedKindOf(written) === undefined) {
      if (isService(written)) services.push(written);
      if (isDeviceObject(written)) deviceObjects.push(written);
      if (hasHiddenPodTemplate(written)) notes.push(hiddenTemplateNote(written));
      ignoredKinds.set(written.kind, (ignoredKinds.get(written.kind) ?? 0) + 1);
      return;
    }
    const { object, problems } = readInputObject(written, fields);
    const one: LocatedObject = { object, findingFor: (problem) => locatedFinding(problem, converted, documents) };
    findings.push(...problems.map((problem) => unknownFieldAsWarning(one.findingFor(problem))));
    if (problems.every(({ code }) => code === "unknown-field")) objects.push(one);
  };
  yield* forEachInSteps(conversion.objects, review);
  return { objects, findings, ignoredKinds, notes, services, deviceObjects };
}

function isService({ apiVersion, kind, metadata }: KubeObject): boolean {
  return apiVersion === "v1" && kind === "Service" && isRecord(metadata);
}

function hiddenTemplateNote({ kind, metadata }: KubeObject): InputNote {
  return { code: "pods-not-planned", workload: `${kind} ${namespacedName(metadata)}`, because: "hidden-template" };
}

export interface PreparedInput {
  /** Completed, and valid if no finding is an error. */
  readonly objects: readonly KubeObject[];
  /** The workloads that were expanded to pods. */
  readonly workloads: readonly KubeObject[];
  readonly findings: readonly Finding[];
  /** The input has no NodePool, so the default one is used. */
  readonly hasDefaultPool: boolean;
  readonly notes: readonly InputNote[];
}

/**
 * What the input is for. Nodes of a pool that is not there cannot be disrupted, so disruption adds no default pool, nor
 * does an explanation of a cluster with NodeClaims.
 */
export type PlanPurpose = "scheduling" | "disruption" | "explanation";

export interface PreparationContext {
  readonly catalogue: ProviderCatalogue;
  readonly nowMs: number;
  readonly purpose: PlanPurpose;
  readonly replicas: ReplicaChoice;
  /** Objects of a cluster are among the input: a live one's, or a snapshot's. */
  readonly hasCluster: boolean;
  /** What the cluster's controllers do about volumes first; undefined: nothing, as in a single pass of upstream's. */
  readonly volumes: VolumeCompletionOptions | undefined;
}

/** Step 2: completes the objects as a cluster would, then validates them. */
export function* prepareInputInSteps(
  converted: readonly LocatedObject[],
  { catalogue, nowMs, purpose, replicas, hasCluster, volumes }: PreparationContext,
): Steps<PreparedInput> {
  const review = new InputReview(catalogue, purpose);
  const admitted: LocatedObject[] = [];
  yield* forEachInSteps(converted, (one) => {
    if (review.checkBeforeCompletion(one)) admitted.push(one);
  });
  const isGiven = (kind: string): boolean => converted.some(({ object }) => scenarioKind(object) === kind);
  const mayAddPool = purpose === "scheduling" || (purpose === "explanation" && !isGiven("NodeClaim"));
  const hasDefaultPool = mayAddPool && !isGiven("NodePool");
  const given = withNodeClassReady(admitted.map(({ object }) => object));
  const {
    objects: expanded,
    workloads,
    problems,
    notes,
  } = expandWorkloads(hasDefaultPool ? [...given, defaultPool(catalogue.provider)] : given, { replicas });
  for (const { problem, sourceIndex } of problems) {
    const one = admitted[sourceIndex];
    if (one !== undefined) review.findings.push(one.findingFor(problem));
  }
  yield;
  const sources = expanded.map(({ object }) => object);
  const admission = new PodAdmission(sources);
  yield;
  const completed = yield* completeObjectsInSteps(
    sources,
    {
      typesFor: catalogue.typesFor,
      nowMs,
      hasNewPods: hasCluster || given.some(isOfCluster),
      defaultNodeClass: { ...servedNodeClasses[catalogue.provider], name: "default" },
      otherNodeClasses: catalogue.served.map((one) => ({ ...one, name: "default" })),
    },
    admission,
  );
  yield;
  const withVolumes = volumes === undefined ? undefined : completeVolumes(completed, volumes);
  const objects = withVolumes?.objects ?? completed;
  yield* forEachInSteps(expanded, ({ sourceIndex }, index) => {
    const object = objects[index];
    const one = admitted[sourceIndex];
    if (object !== undefined && one !== undefined) review.checkAfterCompletion(object, one);
  });
  return {
    objects,
    workloads,
    findings: review.findings,
    hasDefaultPool,
    notes: [...notes, ...runtimeClassNotes(admission), ...(withVolumes?.notes ?? [])],
  };
}

/** A pod as an API server returns it, such as one of `kubectl get -o yaml`. */
function isOfCluster(object: KubeObject): boolean {
  const { uid, creationTimestamp } = object.metadata;
  return scenarioKind(object) === "Pod" && uid !== undefined && creationTimestamp !== undefined;
}

function runtimeClassNotes({ missingRuntimeClasses }: PodAdmission): readonly InputNote[] {
  return [...missingRuntimeClasses].map((runtimeClass) => ({ code: "runtime-class-missing", runtimeClass }));
}

/** Collects what an API server or our own controllers would reject. */
class InputReview {
  readonly findings: Finding[] = [];
  readonly #admission: Admission;
  readonly #catalogue: ProviderCatalogue;
  readonly #purpose: PlanPurpose;
  /** Objects that lack a required field completion may fill in. */
  readonly #incomplete = new Set<LocatedObject>();
  readonly #seen = new Map<string, LocatedObject>();

  constructor(catalogue: ProviderCatalogue, purpose: PlanPurpose) {
    this.#catalogue = catalogue;
    this.#purpose = purpose;
    this.#admission = new Admission(catalogue.admission);
  }

  /** Checks everything but missing fields. */
  checkBeforeCompletion(one: LocatedObject): boolean {
    if (karpenterKindOf(one.object.apiVersion, one.object.kind) === undefined) return true;
    const { problems } = this.#admission.admit(one.object, { strict: true });
    const isTolerated = (problem: Problem): boolean =>
      (problem.code === "rule" && isStatic(one.object)) || this.#isBrokenBudget(problem);
    this.findings.push(...problems.filter(isTolerated).map((problem) => asWarning(one.findingFor(problem))));
    const wrong = problems.filter((problem) => problem.code !== "required" && !isTolerated(problem));
    if (problems.some(({ code }) => code === "required")) this.#incomplete.add(one);
    this.findings.push(...wrong.map(one.findingFor));
    return wrong.length === 0;
  }

  /** Checks that nothing is missing, that names are unique, and that NodePools are usable. */
  checkAfterCompletion(object: KubeObject, one: LocatedObject): void {
    this.#checkUniqueName(object, one);
    const missing = this.#incomplete.has(one) ? this.#admission.admit(object, { strict: true }).problems : [];
    this.findings.push(...missing.map(one.findingFor));
    const [pool] = new ObjectsByKind([object]).ofKind("NodePool");
    if (missing.length > 0 || pool === undefined) return;
    const { problems, notices } = reviewNodePool(pool, this.#catalogue.labelPolicy);
    this.findings.push(...problems.map(one.findingFor), ...notices.map((notice) => asWarning(one.findingFor(notice))));
  }

  /** What disruption does about such a budget is worth knowing: it blocks the pool. (03:D-23) */
  #isBrokenBudget({ path }: Problem): boolean {
    return this.#purpose !== "scheduling" && path.slice(0, 3).join(".") === "spec.disruption.budgets";
  }

  #checkUniqueName(object: KubeObject, one: LocatedObject): void {
    const kind = scenarioKind(object);
    const isClusterScoped = kind !== undefined && !isNamespaced(kind);
    const name = isClusterScoped ? object.metadata.name : namespacedName(object.metadata);
    const key = `${kind ?? object.apiVersion} ${object.kind} ${name}`;
    if (this.#seen.has(key)) {
      const message = `${object.kind} ${name} is defined twice; rename or remove one`;
      this.findings.push(one.findingFor({ code: "duplicate-item", path: ["metadata", "name"], message }));
    }
    this.#seen.set(key, one);
  }
}

function locatedFinding(
  problem: Problem,
  { input, moves }: ConversionResult,
  documents: readonly ManifestDocument[],
): Finding {
  const { path, input: from = input } = sourcePath(problem.path, moves);
  return errorFinding({ ...problem, path }, documents[from]);
}

function errorFinding(problem: Problem, document: ManifestDocument | undefined): Finding {
  return { ...problem, severity: "error", ...findingLocation(document, problem.path) };
}

/** Unknown fields of built-in kinds may be newer than we are, so they are only warnings. */
function unknownFieldAsWarning(finding: Finding): Finding {
  return finding.code === "unknown-field" ? asWarning(finding) : finding;
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: "warning" };
}

/** A static pool is not used for a plan, so violated rules of it are only warnings. (02:P-33) */
function isStatic({ kind, spec }: KubeObject): boolean {
  return kind === "NodePool" && isRecord(spec) && spec["replicas"] !== undefined;
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/**
 * The providers whose node classes NodePools and NodeClaims refer to: they are served side by side. Without a NodePool
 * those of the given node classes count too; kwok if there are none.
 */
export function inferPlanProviders(converted: readonly LocatedObject[]): CatalogueRequest["providers"] {
  const objects = converted.map(({ object }) => object);
  const ofKind = (kind: ScenarioKind) => objects.filter((object) => scenarioKind(object) === kind);
  const referring = [...ofKind("NodePool"), ...ofKind("NodeClaim")];
  const given = ofKind("NodePool").length === 0 ? nodeClassesOf(objects) : [];
  const groups = new Set([
    ...referring.map((object) => nodeClassRefOf(object)?.group),
    ...given.map(({ apiVersion }) => apiGroupOf(apiVersion)),
  ]);
  const [first, ...others] = planProviders.filter((one) => groups.has(servedNodeClasses[one].group));
  return first === undefined ? ["kwok"] : [first, ...others];
}
