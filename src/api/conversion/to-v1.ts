import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path, Problem } from "../problem.ts";
import { awsNodeTemplate, classFromTemplate } from "./aws-node-template.ts";
import { incompletePod, v1Mistakes } from "./completeness.ts";
import { at, Draft, shown, valueAt } from "./draft.ts";
import { ec2NodeClassFromBeta } from "./ec2-node-class-v1beta1.ts";
import { type ClassWork, keepKubelet, type PoolWork, settleKubelet } from "./kubelet.ts";
import { renameKeys } from "./legacy-names.ts";
import { legacyPodKeys } from "./legacy-pods.ts";
import { nodeClaimFromBeta } from "./node-claim-v1beta1.ts";
import { keepClassRef } from "./node-class-ref.ts";
import { nodePoolFromBeta } from "./node-pool-v1beta1.ts";
import type { Conversion, ConversionOptions, ConversionWarning, Converted } from "./outcome.ts";
import { provisioner } from "./provisioner.ts";
import { identify, type OlderKind } from "./versions.ts";

/** A whole set of objects to v1: together, because kubelet settings, expiry and inline providers cross documents. (01 §7) */
export function toV1(objects: readonly unknown[], options: ConversionOptions): Conversion {
  const works = objects.flatMap((object, input) => begin({ object, input, options }));
  const pools = works.filter((work) => work.role === "pool");
  settle(works, options);
  const poolObjects = pools.map((work) => work.draft.object);
  for (const work of works) if (work.role === "claim") claim(work, { pools: poolObjects, options });
  const refused = new Set(works.filter((work) => work.draft.problems.length > 0).map((work) => work.input));
  return {
    objects: works.filter((work) => !refused.has(work.input)).map(converted),
    refused: works.filter((work) => refused.has(work.input)).map(converted),
    warnings: works.flatMap(({ input, draft }) => draft.warnings.map((warning) => ({ ...warning, input }))),
    problems: works.flatMap(({ input, draft }) => draft.problems.map((problem) => ({ ...problem, input }))),
  };
}

interface Work {
  readonly input: number;
  readonly draft: Draft;
  readonly role: "pool" | "class" | "claim" | "other";
  readonly origin: Converted["origin"];
  /** Where a pool wrote its kubelet settings. */
  readonly kubelet?: Path;
  changed: boolean;
}

interface Input {
  readonly object: unknown;
  readonly input: number;
  readonly options: ConversionOptions;
}

function begin({ object, input, options }: Input): readonly Work[] {
  const identity = identify(object);
  switch (identity.is) {
    case "older":
      return beginOlder(identity.kind, { object, input, options });
    case "current":
      return [current({ object, input, options })];
    case "foreign":
      return [
        untouched({ object, input, options }, { problems: incompletePod(object), warnings: legacyPodKeys(object) }),
      ];
    case "fragment":
      return [untouched({ object, input, options }, { problems: [fragmentProblem], warnings: [] })];
    case "wrong":
      return [untouched({ object, input, options }, { problems: [identity.problem], warnings: [] })];
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

function beginOlder(kind: OlderKind, { object, input, options }: Input): readonly Work[] {
  const { mode } = options;
  switch (kind) {
    case "node-pool": {
      const draft = sameKind(object, `${groups.karpenter}/v1`, mode);
      nodePoolFromBeta(draft);
      longName(draft);
      return [
        {
          input,
          draft,
          role: "pool",
          origin: "same-kind",
          changed: true,
          ...betaKubelet(draft, "spec.template.spec.kubelet"),
        },
      ];
    }
    case "node-claim": {
      const draft = sameKind(object, `${groups.karpenter}/v1`, mode);
      return [
        { input, draft, role: "claim", origin: "same-kind", changed: true, ...betaKubelet(draft, "spec.kubelet") },
      ];
    }
    case "ec2-node-class": {
      const draft = sameKind(object, `${groups.aws}/v1`, mode);
      ec2NodeClassFromBeta(draft, options);
      return [{ input, draft, role: "class", origin: "same-kind", changed: true }];
    }
    case "aws-node-template": {
      const draft = newKind(object, { apiVersion: `${groups.aws}/v1`, kind: "EC2NodeClass", mode });
      awsNodeTemplate(draft, options);
      return [{ input, draft, role: "class", origin: "new-kind", changed: true }];
    }
    case "provisioner":
      return beginProvisioner({ object, input, options });
    case "machine":
      return [untouched({ object, input, options }, { problems: [machineProblem], warnings: [] })];
  }
}

const machineProblem: Problem = {
  code: "not-convertible",
  rule: "01 §7.8",
  path: ["kind"],
  message: "a Machine stands for a running node of a v1alpha5 controller; it is not converted",
  expected: "its Provisioner, converted; new nodes then get NodeClaims",
};

function beginProvisioner({ object, input, options }: Input): readonly Work[] {
  const draft = newKind(object, { apiVersion: `${groups.karpenter}/v1`, kind: "NodePool", mode: options.mode });
  provisioner(draft, options);
  longName(draft);
  const path = [at("spec.kubeletConfiguration"), at("spec.kubelet")].find((one) => draft.said(one) !== undefined);
  const pool: Work = { input, draft, role: "pool", origin: "new-kind", changed: true, ...(path && { kubelet: path }) };
  if (path !== undefined) draft.isObject(path);
  if (!isRecord(draft.said(at("spec.provider")))) return [pool];
  const generated = newKind(object, { apiVersion: `${groups.aws}/v1`, kind: "EC2NodeClass", mode: options.mode });
  classFromTemplate(generated, { base: at("spec.provider"), options });
  draft.note({
    code: "node-class-generated",
    path: at("spec.provider"),
    message: `became EC2NodeClass ${shown(draft.said(at("metadata.name")))}: v1 pools have no inline provider`,
    advice: "apply both objects",
  });
  return [pool, { input, draft: generated, role: "class", origin: "generated", changed: true }];
}

/** Settings leave the pool at once; where they go is settled when all documents are known. */
function betaKubelet(draft: Draft, dotted: string): { readonly kubelet?: Path } {
  const path = at(dotted);
  if (draft.said(path) === undefined || !draft.isObject(path)) return {};
  draft.omit(path);
  return { kubelet: path };
}

function current({ object, input, options }: Input): Work {
  const draft = sameKind(object, String(valueAt(object, ["apiVersion"])), options.mode);
  for (const problem of v1Mistakes(object)) draft.refuse(problem);
  const kind = valueAt(object, ["kind"]);
  const role = kind === "NodePool" ? "pool" : kind === "EC2NodeClass" ? "class" : "other";
  return { input, draft, role, origin: "unchanged", changed: false };
}

interface Remarks {
  readonly problems: readonly Problem[];
  readonly warnings: readonly ConversionWarning[];
}

function untouched({ object, input, options }: Input, { problems, warnings }: Remarks): Work {
  const draft = new Draft({ source: object, mode: options.mode, object: object as Record<string, unknown> });
  for (const problem of problems) draft.refuse(problem);
  for (const warning of warnings) draft.note(warning);
  return { input, draft, role: "other", origin: "unchanged", changed: false };
}

function sameKind(source: unknown, apiVersion: string, mode: ConversionOptions["mode"]): Draft {
  const object = structuredClone(source) as Record<string, unknown>;
  object["apiVersion"] = apiVersion;
  return new Draft({ source, mode, object });
}

/** What the API server writes into metadata belongs to the old object, not to the new one. */
function newKind(
  source: unknown,
  { apiVersion, kind, mode }: { apiVersion: string; kind: string; mode: ConversionOptions["mode"] },
): Draft {
  const draft = new Draft({ source, mode, object: { apiVersion, kind, metadata: {} } });
  for (const field of ["name", "generateName"]) draft.carry(["metadata", field], ["metadata", field]);
  renameKeys(draft, { from: at("metadata.labels"), to: at("metadata.labels") });
  renameKeys(draft, { from: at("metadata.annotations"), to: at("metadata.annotations") });
  draft.omit(["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"]);
  return draft;
}

/** Nodes carry the pool's name as a label, which has room for 63 letters. (01 §3.1.1) */
function longName(draft: Draft): void {
  const name = draft.said(at("metadata.name"));
  if (typeof name !== "string" || name.length <= 63) return;
  draft.note({
    code: "name-too-long",
    path: at("metadata.name"),
    message: `is ${name.length} letters long; nodes carry it as a label, which holds 63`,
    advice: "choose a shorter name",
  });
}

function settle(works: readonly Work[], options: ConversionOptions): void {
  const pools = works.filter((work) => work.role === "pool");
  const classes = new Map<string, ClassWork>();
  for (const work of works) {
    if (work.role !== "class") continue;
    const name = shown(work.draft.says(at("metadata.name")));
    if (work.origin === "generated" && classes.has(name)) nameTaken(work.draft, name);
    else classes.set(name, work);
  }
  for (const pool of pools)
    if (options.roundTrip === true && pool.origin === "same-kind")
      keepClassRef(pool.draft, at("spec.template.spec.nodeClassRef"));
  const asPools = pools.map((pool): PoolWork => ({ input: pool.input, draft: pool.draft, kubelet: pool.kubelet }));
  if (options.roundTrip === true) for (const pool of asPools) keepKubelet(pool);
  else settleKubelet(asPools, classes);
}

function nameTaken(draft: Draft, name: string): void {
  draft.refuse({
    code: "not-convertible",
    rule: "01 §7.6",
    path: at("spec.provider"),
    message: `would become EC2NodeClass ${name}, but the input holds a class of that name already`,
    expected: "another name for one of the two",
  });
}

function claim(work: Work, { pools, options }: { pools: readonly unknown[]; options: ConversionOptions }): void {
  nodeClaimFromBeta(work.draft, pools);
  if (options.roundTrip === true) {
    keepClassRef(work.draft, at("spec.nodeClassRef"));
    keepKubelet({ input: work.input, draft: work.draft, kubelet: work.kubelet });
    return;
  }
  if (work.kubelet === undefined) return;
  work.draft.note({
    code: "kubelet-left-behind",
    path: work.kubelet,
    message: "dropped: the node runs with these settings already, and v1 keeps them with the class",
    advice: "convert the pool and its class, which carry the settings for new nodes",
  });
}

function converted({ input, draft, origin, changed }: Work): Converted {
  return {
    input,
    object: draft.object,
    origin: origin === "unchanged" && changed ? "same-kind" : origin,
    moves: draft.moves,
  };
}
