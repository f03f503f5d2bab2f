import type { PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import type { NodeSelectorTerm, Pod, PodSpec, PreferredNodeTerm, SelectorRequirement } from "../api/kubernetes/pod.ts";
import { type LabelPolicy, normalizedKey } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { namespacedName, namespaceOf } from "../api/object.ts";
import type { Problem, ProblemCode } from "../api/problem.ts";
import { reviewRequirements } from "../api/validation/requirements.ts";
import { requirementOperators } from "../api/vocabulary.ts";
import { Requirement } from "./requirement.ts";
import { csiDriverOf, type VolumeIndex, volumeClaimName } from "./volumes.ts";

/** What can be wrong with a node label requirement of a pod. (02:V-4) */
const requirementCodes = [
  "unknown-operator",
  "restricted-label",
  "unknown-value",
  "invalid-key",
  "invalid-value",
  "value-count",
] as const satisfies readonly ProblemCode[];

/** What keeps a pending pod out of scheduling. (02 §1.5) */
export const podProblemCodes = [
  "avoids-karpenter",
  "match-fields",
  ...requirementCodes,
  "claim-missing",
  "claim-deleting",
  "claim-lost",
  "volume-missing",
  "volume-deleting",
  "claim-not-bound",
  "class-unnamed",
  "class-missing",
  "class-immediate",
  "topology-key-unsupported",
  "driver-unsupported",
] as const;
export type PodProblemCode = (typeof podProblemCodes)[number];

export interface PodProblem {
  readonly code: PodProblemCode;
  /** For events and logs. */
  readonly text: string;
  /** False for a pod that excludes Karpenter's nodes on purpose. (02:V-1) */
  readonly emitsEvent: boolean;
}

export interface PodValidation {
  readonly labelPolicy: LabelPolicy;
  readonly volumes: VolumeIndex;
  /** CSI drivers the provider does not support. */
  readonly unsupportedDrivers?: ReadonlySet<string>;
  /** Topology keys of storage classes the provider's nodes never have. */
  readonly unsupportedTopologyKeys?: ReadonlySet<string>;
}

const none: readonly PodProblem[] = [];

/** Runs all checks; of the volume claims only the first problem is reported. Empty if the pod can be scheduled. (02 §1.5) */
export function podProblems(pod: Pod, validation: PodValidation): readonly PodProblem[] {
  const { nodeSelector, affinity, volumes } = pod.spec;
  if (nodeSelector === undefined && affinity?.nodeAffinity === undefined && volumes === undefined) return none;
  const { labelPolicy } = validation;
  return [
    ...(avoidsKarpenter(pod.spec, labelPolicy) ? [avoidsKarpenterProblem] : none),
    ...selectorItems(pod.spec).flatMap((item) => requirementProblems(item, labelPolicy)),
    ...requiredTerms(pod.spec).flatMap((term) => termProblems(term, labelPolicy)),
    ...claimProblems(pod, validation),
  ];
}

/** The refusal of a pod that fails validation. */
export function ignoredPodText(problems: readonly PodProblem[]): string {
  return `ignoring pod, ${podProblemsText(problems)}`;
}

/** The event's message. */
export function podProblemsText(problems: readonly PodProblem[]): string {
  return problems.map(({ text }) => text).join("; ");
}

/** None for a pod that excludes Karpenter's nodes, even if more is wrong with it. (02:V-1) */
export function deservesEvent(problems: readonly PodProblem[]): boolean {
  return problems.length > 0 && problems.every(({ emitsEvent }) => emitsEvent);
}

const avoidsKarpenterProblem: PodProblem = {
  code: "avoids-karpenter",
  text: withDetails("configured to not run on a Karpenter provisioned node", {
    requirement: `${labels.nodePool} DoesNotExist`,
  }),
  emitsEvent: false,
};

/** Whether its requirements on the pool label amount to DoesNotExist, including the preference of highest weight. (02:V-1, 02:R-21) */
function avoidsKarpenter(spec: PodSpec, policy: LabelPolicy): boolean {
  const preferences = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const asked = [
    ...selectorItems(spec),
    ...(heaviest(preferences)?.preference.matchExpressions ?? []),
    ...(requiredTerms(spec)[0]?.matchExpressions ?? []),
  ];
  let combined: Requirement | undefined;
  for (const { key, operator, values } of asked) {
    if (normalizedKey(policy, key) !== labels.nodePool) continue;
    const known = requirementOperators.find((one) => one === operator);
    if (known === undefined) continue;
    const one = Requirement.fromItem({ key, operator: known, values }, policy);
    combined = combined === undefined ? one : one.intersection(combined);
  }
  return combined?.operator === "DoesNotExist";
}

function heaviest(terms: readonly PreferredNodeTerm[]): PreferredNodeTerm | undefined {
  let best: PreferredNodeTerm | undefined;
  for (const term of terms) if (best === undefined || term.weight > best.weight) best = term;
  return best;
}

/** By key: upstream's order is random. (02 §12.1-1) */
function selectorItems({ nodeSelector }: PodSpec): readonly SelectorRequirement[] {
  if (nodeSelector === undefined) return [];
  const keys = Object.keys(nodeSelector).sort();
  return keys.map((key) => ({ key, operator: "In", values: [nodeSelector[key] ?? ""] }));
}

function requiredTerms({ affinity }: PodSpec): readonly NodeSelectorTerm[] {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** matchFields are not supported, and every expression must be valid. (02:V-2, 02:V-3) */
function termProblems({ matchFields, matchExpressions = [] }: NodeSelectorTerm, policy: LabelPolicy): PodProblem[] {
  const text = "node selector term with matchFields is not supported";
  return [
    ...(matchFields === undefined ? none : [problem("match-fields", text)]),
    ...matchExpressions.flatMap((item) => requirementProblems(item, policy)),
  ];
}

/** The requirement must be one a NodePool could have. (02:V-4) */
function requirementProblems(item: SelectorRequirement, policy: LabelPolicy): readonly PodProblem[] {
  const { problems } = reviewRequirements([item], { policy, path: [] });
  return problems.length === 0 ? none : problems.map((found) => requirementProblem(found, item, policy));
}

function requirementProblem(found: Problem, item: SelectorRequirement, policy: LabelPolicy): PodProblem {
  const code = requirementCodes.find((one) => one === found.code);
  if (code === undefined) throw new Error(`a requirement cannot have the problem ${found.code}: ${found.message}`);
  const key = normalizedKey(policy, item.key);
  if (code === "restricted-label") return problem(code, restrictedText(key, policy));
  if (code === "unknown-value") return problem(code, unknownValuesText(key, item.values ?? [], policy));
  return problem(code, `requirement on ${key} is not valid, ${found.message}`);
}

function restrictedText(key: string, { wellKnown, restrictedDomains }: LabelPolicy): string {
  return (
    `using label ${key} is not allowed as it might interfere with the internal provisioning logic; ` +
    `specify a well known label: ${bracketed([...wellKnown].sort())}, ` +
    `or a custom label that does not use a restricted domain: ${bracketed([...restrictedDomains].sort())}`
  );
}

function unknownValuesText(key: string, values: readonly string[], { knownValues }: LabelPolicy): string {
  const known = [...(knownValues[key] ?? [])].sort().map((value) => `${value}:{}`);
  const got = bracketed(values);
  return `no valid values found in ${got} for ${key}, expected one of: map${bracketed(known)}, got: ${got}`;
}

/** The first problem of the pod's volume claims. (02:V-5) */
function claimProblems(pod: Pod, validation: PodValidation): readonly PodProblem[] {
  for (const volume of pod.spec.volumes ?? []) {
    const name = volumeClaimName(pod, volume);
    if (name === undefined) continue;
    const claim = validation.volumes.claims.get(`${namespaceOf(pod.metadata)}/${name}`);
    const found = claim === undefined ? missingClaim(name) : claimProblem(claim, validation);
    if (found !== undefined) return [found];
  }
  return none;
}

function missingClaim(name: string): PodProblem {
  const text = `getting persistent volume claim, ${notFoundText("persistentvolumeclaims", name)}`;
  return problem("claim-missing", withDetails(text, { PersistentVolumeClaim: name }));
}

function claimProblem(claim: PersistentVolumeClaim, validation: PodValidation): PodProblem | undefined {
  const { volumeName = "" } = claim.spec ?? {};
  const key = namespacedName(claim.metadata);
  if (claim.metadata.deletionTimestamp !== undefined) {
    const text = "persistentvolumeclaim is being deleted";
    return problem("claim-deleting", withDetails(text, { PersistentVolumeClaim: key }));
  }
  if (claim.status?.phase === "Lost") {
    const text = "persistentvolumeclaim bound to non-existent persistentvolume";
    return problem("claim-lost", withDetails(text, { PersistentVolumeClaim: key, PersistentVolume: volumeName }));
  }
  return (
    (volumeName === "" ? unboundProblem(claim, validation) : boundProblem(claim, validation)) ??
    driverProblem(claim, validation)
  );
}

const bindCompleted = "pv.kubernetes.io/bind-completed";

function boundProblem(claim: PersistentVolumeClaim, { volumes }: PodValidation): PodProblem | undefined {
  const { volumeName = "" } = claim.spec ?? {};
  const volume = volumes.volumes.get(volumeName);
  const about = { ...claimDetails(claim), PersistentVolume: volumeName };
  if (volume === undefined) {
    const text = `failed to validate pvc, ${notFoundText("persistentvolumes", volumeName)}`;
    return problem("volume-missing", withDetails(text, about));
  }
  if (volume.metadata.deletionTimestamp !== undefined) {
    const text = "failed to validate pvc, persistentvolume is being deleted";
    return problem("volume-deleting", withDetails(text, about));
  }
  if (claim.metadata.annotations?.[bindCompleted] !== undefined) return undefined;
  const text = "pvc is considered unbound because it does not contain annotation";
  const details = { PersistentVolume: volumeName, PersistentVolumeClaim: claim.metadata.name ?? "" };
  return problem("claim-not-bound", withDetails(text, { ...details, annotation: bindCompleted }));
}

function unboundProblem(claim: PersistentVolumeClaim, validation: PodValidation): PodProblem | undefined {
  const { storageClassName = "" } = claim.spec ?? {};
  const about = claimDetails(claim);
  if (storageClassName === "") {
    return problem("class-unnamed", withDetails("unbound pvc must define a storage class", about));
  }
  const storageClass = validation.volumes.classes.get(storageClassName);
  if (storageClass === undefined) {
    const missing = notFoundText("storageclasses.storage.k8s.io", storageClassName);
    return problem(
      "class-missing",
      withDetails(`failed to validate pvc, failed to get storage class, ${missing}`, about),
    );
  }
  if (storageClass.volumeBindingMode === "Immediate") {
    const text = "failed to validate pvc, pvc with immediate volume binding mode must be bound";
    return problem("class-immediate", withDetails(text, about));
  }
  const key = unsupportedKey(storageClass, validation);
  if (key === undefined) return undefined;
  const text = "failed to validate pvc, storage class uses unsupported topology key";
  return problem("topology-key-unsupported", withDetails(text, { ...about, TopologyKey: key }));
}

function unsupportedKey(
  { allowedTopologies = [] }: StorageClass,
  { unsupportedTopologyKeys }: PodValidation,
): string | undefined {
  const keys = allowedTopologies.flatMap((term) => (term.matchLabelExpressions ?? []).map(({ key }) => key));
  return keys.find((key) => unsupportedTopologyKeys?.has(key));
}

function driverProblem(claim: PersistentVolumeClaim, validation: PodValidation): PodProblem | undefined {
  if (validation.unsupportedDrivers === undefined) return undefined;
  const driver = csiDriverOf(claim, validation.volumes) ?? "";
  if (!validation.unsupportedDrivers.has(driver)) return undefined;
  const text = "failed to validate pvc, provisioner is not supported";
  return problem("driver-unsupported", withDetails(text, { ...claimDetails(claim), Provisioner: driver }));
}

function claimDetails({ metadata, spec }: PersistentVolumeClaim): Readonly<Record<string, string>> {
  return { PersistentVolumeClaim: namespacedName(metadata), StorageClass: spec?.storageClassName ?? "" };
}

function problem(code: PodProblemCode, text: string): PodProblem {
  return { code, text, emitsEvent: true };
}

/** `message (Key=value, Key2=value)`, by key. (02 §1.5) */
export function withDetails(message: string, details: Readonly<Record<string, string>>): string {
  const keys = Object.keys(details).sort();
  return `${message} (${keys.map((key) => `${key}=${details[key]}`).join(", ")})`;
}

/** In the words of the API server. */
function notFoundText(resource: string, name: string): string {
  return `${resource} ${JSON.stringify(name)} not found`;
}

function bracketed(items: readonly string[]): string {
  return `[${items.join(" ")}]`;
}
