import type { SelectorOwner } from "../api/kubernetes/cluster-objects.ts";
import type { LabelSelector, Pod, SelectorRequirement, TopologySpreadConstraint } from "../api/kubernetes/pod.ts";
import { isRecord, namespacedName, namespaceOf } from "../api/object.ts";
import type { FieldPath, Problem, ProblemCode } from "../api/problem.ts";
import { qualifiedNameError, shortText } from "../api/validation/names.ts";
import { type CompiledSelector, compileSelector } from "./label-selector.ts";

/** The parsed `--scheduler-config`, or what is wrong with it: the operator does not start with an invalid one. (02:X-50) */
export type SchedulerConfigReading =
  | { readonly kind: "read"; readonly constraints: readonly TopologySpreadConstraint[] }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

/** Strict: an unknown field may be a misspelt one. No configuration means no constraints. (02:X-50, 02:X-52) */
export function readSchedulerConfig(config: unknown): SchedulerConfigReading {
  const problems: Problem[] = [];
  const outer = FieldReader.open(config ?? {}, { known: ["podTopologySpread"], path: [], problems });
  const path = ["podTopologySpread"];
  const spread = FieldReader.open(outer?.get("podTopologySpread") ?? {}, {
    known: ["defaultConstraints"],
    path,
    problems,
  });
  const listed = spread?.get("defaultConstraints") ?? [];
  const constraints = constraintsOf(listed, { path: [...path, "defaultConstraints"], problems });
  return problems.length === 0 ? { kind: "read", constraints } : { kind: "refused", problems };
}

/** Services and workloads, indexed to find those that select a pod. */
export interface SelectorOwnerIndex {
  readonly services: ReadonlyMap<string, readonly SelectingService[]>;
  readonly workloads: ReadonlyMap<string, SelectorOwner>;
}

interface SelectingService {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly selector: CompiledSelector;
}

export function selectorOwnerIndex(owners: readonly SelectorOwner[]): SelectorOwnerIndex {
  const services = new Map<string, SelectingService[]>();
  const workloads = new Map<string, SelectorOwner>();
  for (const owner of owners) {
    if (owner.kind !== "Service") {
      workloads.set(`${owner.kind} ${namespacedName(owner.metadata)}`, owner);
      continue;
    }
    const matchLabels = selectorLabels(owner);
    // An empty selector matches every pod and adds nothing.
    if (Object.keys(matchLabels).length === 0) continue;
    const namespace = namespaceOf(owner.metadata);
    const service = { matchLabels, selector: compileSelector({ matchLabels }) };
    services.set(namespace, [...(services.get(namespace) ?? []), service]);
  }
  return { services, workloads };
}

export interface DefaultConstraintSources {
  readonly constraints: readonly TopologySpreadConstraint[];
  readonly owners: SelectorOwnerIndex;
}

/**
 * The pod as it is scheduled: itself if it has constraints of its own or no owner, else a copy with the defaults, each
 * with the selector of its owners. The copy must never be written back. (02:X-51)
 */
export function withDefaultConstraints(pod: Pod, { constraints, owners }: DefaultConstraintSources): Pod {
  if (constraints.length === 0 || (pod.spec.topologySpreadConstraints ?? []).length > 0) return pod;
  const labelSelector = deducedSelector(pod, owners);
  if (labelSelector === undefined) return pod;
  const topologySpreadConstraints = constraints.map((constraint) => ({ ...constraint, labelSelector }));
  return { ...pod, spec: { ...pod.spec, topologySpreadConstraints } };
}

/** The selector kube-scheduler would use for the pods that belong together with this one. (02:X-51) */
function deducedSelector(pod: Pod, owners: SelectorOwnerIndex): LabelSelector | undefined {
  const matchLabels: Record<string, string> = {};
  for (const service of owners.services.get(namespaceOf(pod.metadata)) ?? []) {
    if (service.selector.matches(pod.metadata.labels)) Object.assign(matchLabels, service.matchLabels);
  }
  const controller = controllingWorkload(pod, owners);
  if (controller?.kind === "ReplicationController") Object.assign(matchLabels, selectorLabels(controller));
  const matchExpressions = controller === undefined ? [] : selectorRequirements(controller);

  const hasLabels = Object.keys(matchLabels).length > 0;
  if (!hasLabels && matchExpressions.length === 0) return undefined;
  return { ...(hasLabels && { matchLabels }), ...(matchExpressions.length > 0 && { matchExpressions }) };
}

const workloadKinds: Readonly<Record<string, string>> = {
  ReplicationController: "v1",
  ReplicaSet: "apps/v1",
  StatefulSet: "apps/v1",
};

/** Only these workloads count, and only as controller. */
function controllingWorkload({ metadata }: Pod, { workloads }: SelectorOwnerIndex): SelectorOwner | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined || !Object.hasOwn(workloadKinds, owner.kind)) return undefined;
  if (workloadKinds[owner.kind] !== owner.apiVersion) return undefined;
  return workloads.get(`${owner.kind} ${namespacedName({ namespace: metadata.namespace, name: owner.name })}`);
}

/** The selector of a Service or ReplicationController: plain equalities. */
function selectorLabels({ spec }: SelectorOwner): Readonly<Record<string, string>> {
  const texts = Object.entries(spec?.selector ?? {}).filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  return Object.fromEntries(texts);
}

/** As expressions, so that a ReplicaSet's or StatefulSet's selector adds to those of Services instead of replacing them. */
function selectorRequirements({ kind, spec }: SelectorOwner): readonly SelectorRequirement[] {
  if (kind === "ReplicationController" || kind === "Service") return [];
  const { matchLabels = {}, matchExpressions = [] } = (spec?.selector ?? {}) as LabelSelector;
  const keys = Object.keys(matchLabels).sort();
  return [...keys.map((key) => ({ key, operator: "In", values: [matchLabels[key] ?? ""] })), ...matchExpressions];
}

interface ReadContext {
  readonly path: FieldPath;
  readonly problems: Problem[];
}

const constraintFields = [
  "maxSkew",
  "topologyKey",
  "whenUnsatisfiable",
  "minDomains",
  "nodeAffinityPolicy",
  "nodeTaintsPolicy",
  "labelSelector",
  "matchLabelKeys",
] as const;
const unsatisfiableActions = ["DoNotSchedule", "ScheduleAnyway"];

function constraintsOf(listed: unknown, { path, problems }: ReadContext): readonly TopologySpreadConstraint[] {
  if (!Array.isArray(listed)) {
    problems.push({ code: "type", path, message: "expected a list of constraints", rule });
    return [];
  }
  const seen = new Set<string>();
  return listed.flatMap((item: unknown, at) => {
    const fields = FieldReader.open(item, { known: constraintFields, path: [...path, at], problems });
    const constraint = fields && constraintOf(fields);
    if (constraint === undefined) return [];
    const pair = `${constraint.topologyKey}, ${constraint.whenUnsatisfiable}`;
    if (seen.has(pair)) fields?.addProblem("duplicate-item", { message: `${shortText(pair)} is listed twice` });
    seen.add(pair);
    return [constraint];
  });
}

/** Valid or not, as long as the required fields can be read. */
function constraintOf(fields: FieldReader): TopologySpreadConstraint | undefined {
  for (const field of ["labelSelector", "matchLabelKeys"]) {
    const message = `${field} may not be set: the selector is deduced for each pod`;
    if (fields.has(field)) fields.addProblem("invalid-value", { field, message });
  }
  const maxSkew = fields.integer("maxSkew");
  if (maxSkew !== undefined && maxSkew <= 0) {
    fields.addProblem("too-small", { field: "maxSkew", message: "maxSkew must be greater than zero" });
  }
  const topologyKey = topologyKeyOf(fields);
  const whenUnsatisfiable = fields.text("whenUnsatisfiable");
  if (whenUnsatisfiable !== undefined && !unsatisfiableActions.includes(whenUnsatisfiable)) {
    const message = `whenUnsatisfiable is ${unsatisfiableActions.join(" or ")}, not ${JSON.stringify(shortText(whenUnsatisfiable))}`;
    fields.addProblem("enum", { field: "whenUnsatisfiable", message });
  }
  const rest = {
    ...(fields.has("minDomains") && { minDomains: fields.integer("minDomains") }),
    ...(fields.has("nodeAffinityPolicy") && { nodeAffinityPolicy: fields.text("nodeAffinityPolicy") }),
    ...(fields.has("nodeTaintsPolicy") && { nodeTaintsPolicy: fields.text("nodeTaintsPolicy") }),
  };
  if (maxSkew === undefined || topologyKey === undefined || whenUnsatisfiable === undefined) return undefined;
  return { maxSkew, topologyKey, whenUnsatisfiable, ...rest };
}

function topologyKeyOf(fields: FieldReader): string | undefined {
  const key = fields.text("topologyKey");
  const error = key === undefined ? undefined : qualifiedNameError(key);
  if (error !== undefined) {
    const message = `topologyKey ${JSON.stringify(shortText(key ?? ""))} is not a qualified name: ${error}`;
    fields.addProblem("invalid-key", { field: "topologyKey", message });
  }
  return key;
}

const rule = "02:X-50";

/** Reads an object's fields and collects what is wrong with them. */
class FieldReader {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: ReadContext;

  private constructor(fields: Readonly<Record<string, unknown>>, place: ReadContext) {
    this.#fields = fields;
    this.#place = place;
  }

  static open(
    value: unknown,
    { known, path, problems }: ReadContext & { known: readonly string[] },
  ): FieldReader | undefined {
    if (!isRecord(value)) {
      problems.push({ code: "type", path, message: "expected an object", rule });
      return undefined;
    }
    const reader = new FieldReader(value, { path, problems });
    for (const field of Object.keys(value)) {
      const message = `unknown field ${JSON.stringify(shortText(field))}; known are ${known.join(", ")}`;
      if (!known.includes(field)) reader.addProblem("unknown-field", { field, message });
    }
    return reader;
  }

  /** Null counts as absent. */
  has(field: string): boolean {
    return (this.#fields[field] ?? undefined) !== undefined;
  }

  get(field: string): unknown {
    return this.#fields[field];
  }

  integer(field: string): number | undefined {
    const value = this.#fields[field];
    if (typeof value === "number" && Number.isInteger(value)) return value;
    this.#expected(field, "a whole number");
    return undefined;
  }

  text(field: string): string | undefined {
    const value = this.#fields[field];
    if (typeof value === "string") return value;
    this.#expected(field, "a text");
    return undefined;
  }

  addProblem(code: ProblemCode, { field, message }: { field?: string; message: string }): void {
    const { path, problems } = this.#place;
    problems.push({ code, path: field === undefined ? path : [...path, field], message, rule });
  }

  #expected(field: string, what: string): void {
    this.addProblem(this.has(field) ? "type" : "required", { field, message: `${field} must be ${what}` });
  }
}
