import { mapInSteps, runSteps, type Steps } from "../../util/steps.ts";
import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { ec2NodeClassFromTemplateSpec } from "./aws-node-template.ts";
import { classifyVersion, type OlderKind } from "./classify-version.ts";
import type { Conversion, ConversionOptions, ConversionResult, ConversionWarning } from "./conversion.ts";
import { ConversionDraft, fieldPath, valueAt, valueText } from "./conversion-draft.ts";
import { ec2NodeClassFromV1beta1 } from "./ec2-node-class-from-v1beta1.ts";
import { annotateKubelet, type ClassConversion, moveKubeletToClasses, type PoolConversion } from "./kubelet.ts";
import { renameLegacyKeys } from "./legacy-names.ts";
import { legacyPodKeyWarnings } from "./legacy-pods.ts";
import { nodeClaimFromV1beta1 } from "./node-claim-from-v1beta1.ts";
import { annotateClassRef } from "./node-class-ref.ts";
import { nodePoolFromV1beta1 } from "./node-pool-from-v1beta1.ts";
import { provisionerToNodePool } from "./provisioner.ts";
import { incompletePodProblems, v1MistakeProblems } from "./unconverted-problems.ts";

/** Converts a set of objects to v1 together, because kubelet settings, expiry and inline providers involve several. (01 §7) */
export function toV1(objects: readonly unknown[], options: ConversionOptions): Conversion {
  return runSteps(toV1InSteps(objects, options));
}

/** The same in short steps: the objects of a large cluster are many. */
export function* toV1InSteps(objects: readonly unknown[], options: ConversionOptions): Steps<Conversion> {
  const started = yield* mapInSteps(objects, (object, input): readonly ObjectConversion[] =>
    startConversion({ object, options }).map((one) => ({ ...one, input, changed: false })),
  );
  const works = started.flat();
  const pools = works.filter((work) => work.role === "pool");
  resolveAcrossDocuments(works, options);
  const poolObjects = pools.map((work) => work.draft.object);
  for (const work of works) if (work.role === "claim") convertClaim(work, { pools: poolObjects, options });
  const refused = new Set(works.filter((work) => work.draft.problems.length > 0).map((work) => work.input));
  const accepted = works.filter((work) => !refused.has(work.input));
  return {
    objects: yield* mapInSteps(accepted, conversionResult),
    refused: works.filter((work) => refused.has(work.input)).map(conversionResult),
    warnings: works.flatMap(({ input, draft }) => draft.warnings.map((warning) => ({ ...warning, input }))),
    problems: works.flatMap(({ input, draft }) => draft.problems.map((problem) => ({ ...problem, input }))),
  };
}

interface ObjectConversion extends PoolConversion {
  readonly role: "pool" | "class" | "claim" | "other";
  readonly origin: ConversionResult["origin"];
  /** Whether settings were moved into an object that was v1 already. */
  changed: boolean;
}

type StartedConversion = Omit<ObjectConversion, "input" | "changed">;

interface ConversionInput {
  readonly object: unknown;
  readonly options: ConversionOptions;
}

function startConversion({ object, options }: ConversionInput): readonly StartedConversion[] {
  const identity = classifyVersion(object);
  switch (identity.is) {
    case "older":
      return startOlder(identity.kind, { object, options });
    case "current":
      return [startCurrent({ object, options })];
    case "foreign":
      return [
        startUnconverted(
          { object, options },
          { problems: incompletePodProblems(object), warnings: legacyPodKeyWarnings(object) },
        ),
      ];
    case "fragment":
      return [startUnconverted({ object, options }, { problems: [fragmentProblem], warnings: [] })];
    case "wrong":
      return [startUnconverted({ object, options }, { problems: [identity.problem], warnings: [] })];
  }
}

const fragmentProblem: Problem = {
  code: "required",
  rule: "01 §7.9",
  path: ["apiVersion"],
  message:
    "has neither apiVersion nor kind: this is a fragment, which can be merged into an object with --into KIND/NAME",
  expected: "apiVersion and kind",
};

function startOlder(kind: OlderKind, { object, options }: ConversionInput): readonly StartedConversion[] {
  const { mode } = options;
  switch (kind) {
    case "node-pool": {
      const draft = draftOfSameKind(object, `${groups.karpenter}/v1`, mode);
      nodePoolFromV1beta1(draft);
      warnLongName(draft);
      const kubelet = takeKubelet(draft, "spec.template.spec.kubelet");
      return [{ draft, role: "pool", origin: "same-kind", kubelet }];
    }
    case "node-claim": {
      const draft = draftOfSameKind(object, `${groups.karpenter}/v1`, mode);
      return [{ draft, role: "claim", origin: "same-kind", kubelet: takeKubelet(draft, "spec.kubelet") }];
    }
    case "ec2-node-class": {
      const draft = draftOfSameKind(object, `${groups.aws}/v1`, mode);
      ec2NodeClassFromV1beta1(draft, options);
      return [{ draft, role: "class", origin: "same-kind" }];
    }
    case "aws-node-template": {
      const draft = draftOfNewKind(object, { apiVersion: `${groups.aws}/v1`, kind: "EC2NodeClass", mode });
      ec2NodeClassFromTemplateSpec(draft, { base: ["spec"], options });
      return [{ draft, role: "class", origin: "new-kind" }];
    }
    case "provisioner":
      return startProvisioner({ object, options });
    case "machine":
      return [startUnconverted({ object, options }, { problems: [machineProblem], warnings: [] })];
  }
}

const machineProblem: Problem = {
  code: "not-convertible",
  rule: "01 §7.8",
  path: ["kind"],
  message: "a Machine stands for a running node of a v1alpha5 controller; it is not converted",
  expected: "its Provisioner, converted; new nodes then get NodeClaims",
};

function startProvisioner({ object, options }: ConversionInput): readonly StartedConversion[] {
  const draft = draftOfNewKind(object, { apiVersion: `${groups.karpenter}/v1`, kind: "NodePool", mode: options.mode });
  provisionerToNodePool(draft, options);
  warnLongName(draft);
  const path = [fieldPath("spec.kubeletConfiguration"), fieldPath("spec.kubelet")].find(
    (one) => draft.sourceValue(one) !== undefined,
  );
  const pool: StartedConversion = { draft, role: "pool", origin: "new-kind", kubelet: path };
  if (path !== undefined) draft.checkIsObject(path);
  if (!isRecord(draft.sourceValue(fieldPath("spec.provider")))) return [pool];
  const generated = draftOfNewKind(object, {
    apiVersion: `${groups.aws}/v1`,
    kind: "EC2NodeClass",
    mode: options.mode,
  });
  ec2NodeClassFromTemplateSpec(generated, { base: fieldPath("spec.provider"), options });
  draft.warn({
    code: "node-class-generated",
    path: fieldPath("spec.provider"),
    message: `became EC2NodeClass ${valueText(draft.sourceValue(fieldPath("metadata.name")))}: v1 pools have no inline provider`,
    advice: "apply both objects",
  });
  return [pool, { draft: generated, role: "class", origin: "generated" }];
}

/** Settings are removed from the pool now and added to a class once all documents are known. */
function takeKubelet(draft: ConversionDraft, dotted: string): FieldPath | undefined {
  const path = fieldPath(dotted);
  if (draft.sourceValue(path) === undefined || !draft.checkIsObject(path)) return undefined;
  draft.removeField(path);
  return path;
}

function startCurrent({ object, options }: ConversionInput): StartedConversion {
  const draft = draftOfSameKind(object, String(valueAt(object, ["apiVersion"])), options.mode);
  for (const problem of v1MistakeProblems(object)) draft.addProblem(problem);
  const kind = valueAt(object, ["kind"]);
  const role = kind === "NodePool" ? "pool" : kind === "EC2NodeClass" ? "class" : "other";
  return { draft, role, origin: "unchanged" };
}

function startUnconverted(
  { object, options }: ConversionInput,
  { problems, warnings }: { problems: readonly Problem[]; warnings: readonly ConversionWarning[] },
): StartedConversion {
  const draft = new ConversionDraft({ source: object, mode: options.mode, object: object as Record<string, unknown> });
  for (const problem of problems) draft.addProblem(problem);
  for (const warning of warnings) draft.warn(warning);
  return { draft, role: "other", origin: "unchanged" };
}

function draftOfSameKind(source: unknown, apiVersion: string, mode: ConversionOptions["mode"]): ConversionDraft {
  const object = structuredClone(source) as Record<string, unknown>;
  object["apiVersion"] = apiVersion;
  return new ConversionDraft({ source, mode, object });
}

/** Metadata written by the API server belongs to the old object, not to the new one. */
function draftOfNewKind(
  source: unknown,
  { apiVersion, kind, mode }: { apiVersion: string; kind: string; mode: ConversionOptions["mode"] },
): ConversionDraft {
  const draft = new ConversionDraft({ source, mode, object: { apiVersion, kind, metadata: {} } });
  for (const field of ["name", "generateName"]) draft.copyField(["metadata", field], ["metadata", field]);
  renameLegacyKeys(draft, { from: fieldPath("metadata.labels"), to: fieldPath("metadata.labels") });
  renameLegacyKeys(draft, { from: fieldPath("metadata.annotations"), to: fieldPath("metadata.annotations") });
  draft.removeField(["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"]);
  return draft;
}

/** The pool's name is a label of its nodes, and a label value has at most 63 characters. (01 §3.1.1) */
function warnLongName(draft: ConversionDraft): void {
  const name = draft.sourceValue(fieldPath("metadata.name"));
  if (typeof name !== "string" || name.length <= 63) return;
  draft.warn({
    code: "name-too-long",
    path: fieldPath("metadata.name"),
    message: `is ${name.length} characters long; it becomes a label value of the nodes, which has at most 63`,
    advice: "choose a shorter name",
  });
}

function resolveAcrossDocuments(works: readonly ObjectConversion[], options: ConversionOptions): void {
  const pools = works.filter((work) => work.role === "pool");
  const classes = new Map<string, ClassConversion>();
  for (const work of works) {
    if (work.role !== "class") continue;
    const name = valueText(work.draft.resultValue(fieldPath("metadata.name")));
    if (work.origin === "generated" && classes.has(name)) refuseTakenName(work.draft, name);
    else classes.set(name, work);
  }
  for (const pool of pools)
    if (options.roundTrip === true && pool.origin === "same-kind")
      annotateClassRef(pool.draft, fieldPath("spec.template.spec.nodeClassRef"));
  if (options.roundTrip === true) for (const pool of pools) annotateKubelet(pool);
  else moveKubeletToClasses(pools, classes);
}

function refuseTakenName(draft: ConversionDraft, name: string): void {
  draft.addProblem({
    code: "not-convertible",
    rule: "01 §7.6",
    path: fieldPath("spec.provider"),
    message: `would become EC2NodeClass ${name}, but the input already has a class of that name`,
    expected: "another name for one of the two",
  });
}

function convertClaim(
  work: ObjectConversion,
  { pools, options }: { pools: readonly unknown[]; options: ConversionOptions },
): void {
  nodeClaimFromV1beta1(work.draft, pools);
  if (options.roundTrip === true) {
    annotateClassRef(work.draft, fieldPath("spec.nodeClassRef"));
    annotateKubelet(work);
    return;
  }
  if (work.kubelet === undefined) return;
  work.draft.warn({
    code: "kubelet-left-behind",
    path: work.kubelet,
    message: "dropped: the node runs with these settings already, and v1 keeps them with the class",
    advice: "convert the pool and its class, which carry the settings for new nodes",
  });
}

function conversionResult({ input, draft, origin, changed }: ObjectConversion): ConversionResult {
  return {
    input,
    object: draft.object,
    origin: origin === "unchanged" && changed ? "same-kind" : origin,
    moves: draft.moves,
  };
}
