import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { dropUnknownFields } from "./aws-node-template.ts";
import type { ConversionOptions } from "./conversion.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";
import { renameLegacyKeys } from "./legacy-names.ts";
import { assumeDefaultClass, defaultClassKind } from "./node-class-ref.ts";
import { convertProvisionerRequirements } from "./provisioner-requirements.ts";

const copiedPaths = [
  ["spec.taints", "spec.template.spec.taints"],
  ["spec.startupTaints", "spec.template.spec.startupTaints"],
  ["spec.weight", "spec.weight"],
] as const;

const knownFields = new Set([
  ...["annotations", "labels", "taints", "startupTaints", "requirements", "weight", "limits", "consolidation"],
  ...["ttlSecondsUntilExpired", "ttlSecondsAfterEmpty", "kubeletConfiguration", "kubelet", "provider", "providerRef"],
  ...["instanceTypes", "zones", "architectures", "architecture", "operatingSystems", "operatingSystem", "cluster"],
]);

const paths = {
  classRef: fieldPath("spec.template.spec.nodeClassRef"),
  expiry: fieldPath("spec.template.spec.expireAfter"),
  disruption: fieldPath("spec.disruption"),
  limits: fieldPath("spec.limits"),
  provider: fieldPath("spec.provider"),
  providerRef: fieldPath("spec.providerRef"),
  ttlExpired: fieldPath("spec.ttlSecondsUntilExpired"),
  ttlEmpty: fieldPath("spec.ttlSecondsAfterEmpty"),
  consolidation: fieldPath("spec.consolidation.enabled"),
} as const;

/** Provisioner, v1alpha3 to v1alpha5, to a v1 NodePool; its kubelet settings and inline provider concern the class. (01 §7.6, §7.7) */
export function provisionerToNodePool(draft: ConversionDraft, options: ConversionOptions): void {
  if (draft.sourceValue(["spec"]) !== undefined && !draft.checkIsObject(["spec"])) return;
  renameLegacyKeys(draft, { from: fieldPath("spec.labels"), to: fieldPath("spec.template.metadata.labels") });
  renameLegacyKeys(draft, { from: fieldPath("spec.annotations"), to: fieldPath("spec.template.metadata.annotations") });
  convertProviderRef(draft);
  convertProvisionerRequirements(draft, options);
  for (const [from, to] of copiedPaths) draft.copyField(fieldPath(from), fieldPath(to));
  convertTtlUntilExpired(draft);
  convertDisruption(draft);
  convertLimits(draft);
  if (draft.sourceValue(fieldPath("spec.cluster")) !== undefined) warnDroppedCluster(draft);
  dropUnknownFields(draft, { base: ["spec"], knownFields });
}

function convertProviderRef(draft: ConversionDraft): void {
  const inline = draft.sourceValue(paths.provider);
  const ref = draft.sourceValue(paths.providerRef);
  if (inline !== undefined && ref !== undefined) {
    draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.6",
      path: paths.provider,
      message: "provider and providerRef cannot be used together",
      expected: "one of the two",
    });
  }
  if (isRecord(ref)) {
    draft.setField(
      paths.classRef,
      { group: groups.aws, kind: defaultClassKind, name: ref["name"] ?? "" },
      paths.providerRef,
    );
  } else if (inline !== undefined) {
    const name = draft.sourceValue(fieldPath("metadata.name")) ?? "";
    draft.setField(paths.classRef, { group: groups.aws, kind: defaultClassKind, name }, paths.provider);
  } else {
    assumeDefaultClass(draft, paths.classRef, paths.providerRef);
    draft.moves.push({ from: paths.providerRef, to: paths.classRef });
  }
}

/** v1alpha5 has no default expiry: unset means never. (01 §9.20) */
function convertTtlUntilExpired(draft: ConversionDraft): void {
  const ttl = seconds(draft, paths.ttlExpired);
  draft.setField(
    paths.expiry,
    ttl === undefined ? "Never" : `${ttl}s`,
    ttl === undefined ? undefined : paths.ttlExpired,
  );
}

function convertDisruption(draft: ConversionDraft): void {
  const ttl = seconds(draft, paths.ttlEmpty);
  const consolidates = draft.sourceValue(paths.consolidation) === true;
  if (draft.sourceValue(paths.ttlEmpty) !== undefined && consolidates) {
    draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.6",
      path: paths.ttlEmpty,
      message: "ttlSecondsAfterEmpty and consolidation.enabled cannot be used together",
      expected: "one of the two",
    });
  }
  if (consolidates) {
    draft.setField(paths.disruption, { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s" });
  } else if (ttl !== undefined) {
    draft.setField(paths.disruption, { consolidationPolicy: "WhenEmpty", consolidateAfter: `${ttl}s` });
    draft.moves.push({ from: paths.ttlEmpty, to: [...paths.disruption, "consolidateAfter"] });
  } else {
    // Neither meant "never scale down"; the v1 default would start consolidating. (01 §9.20)
    draft.setField(paths.disruption, { consolidateAfter: "Never" });
  }
}

function seconds(draft: ConversionDraft, path: FieldPath): number | undefined {
  const value = draft.sourceValue(path);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const message =
    typeof value === "number" && value < 0 ? `${value} is negative` : `${JSON.stringify(value)} is not a whole number`;
  draft.addProblem({
    code: "invalid-value",
    rule: "01 §7.6",
    path,
    message,
    expected: "a whole number of seconds, 0 or more",
  });
  return undefined;
}

/** v1alpha5 has limits under `resources`; a limit written beside it was ignored, surely by mistake. */
function convertLimits(draft: ConversionDraft): void {
  const source = draft.sourceValue(paths.limits);
  if (source === undefined || !draft.checkIsObject(paths.limits) || !isRecord(source)) return;
  const { resources, ...beside } = source;
  const nested = isRecord(resources) ? resources : {};
  if (resources !== undefined && resources !== null && !isRecord(resources))
    draft.checkIsObject([...paths.limits, "resources"]);
  for (const name of Object.keys(beside)) {
    draft.assume({
      code: "field-moved",
      path: [...paths.limits, name],
      message: `read as spec.limits.resources.${name}`,
      advice: "check the limit: alpha versions ignored it here",
      strictProblem: {
        code: "unknown-field",
        rule: "01 §7.6",
        message: `is not a known field; it belongs at spec.limits.resources.${name}`,
        expected: `spec.limits.resources.${name}`,
      },
    });
  }
  draft.setField(paths.limits, structuredClone({ ...beside, ...nested }));
  draft.moves.push({ from: [...paths.limits, "resources"], to: paths.limits });
  for (const name of Object.keys(beside))
    draft.moves.push({ from: [...paths.limits, name], to: [...paths.limits, name] });
}

function warnDroppedCluster(draft: ConversionDraft): void {
  draft.warn({
    code: "field-dropped",
    path: fieldPath("spec.cluster"),
    message: "dropped: the cluster is a setting of the controller now",
    advice: "set clusterName in the chart's values (CLUSTER_NAME)",
  });
}
