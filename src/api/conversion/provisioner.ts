import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { dropUnknown } from "./aws-node-template.ts";
import { at, type Draft } from "./draft.ts";
import { renameKeys } from "./legacy-names.ts";
import { assumeDefaultClass, defaultClassKind } from "./node-class-ref.ts";
import type { ConversionOptions } from "./outcome.ts";
import { provisionerRequirements } from "./provisioner-requirements.ts";

const carried = [
  ["spec.taints", "spec.template.spec.taints"],
  ["spec.startupTaints", "spec.template.spec.startupTaints"],
  ["spec.weight", "spec.weight"],
] as const;

const known = new Set([
  ...["annotations", "labels", "taints", "startupTaints", "requirements", "weight", "limits", "consolidation"],
  ...["ttlSecondsUntilExpired", "ttlSecondsAfterEmpty", "kubeletConfiguration", "kubelet", "provider", "providerRef"],
  ...["instanceTypes", "zones", "architectures", "architecture", "operatingSystems", "operatingSystem", "cluster"],
]);

const paths = {
  classRef: at("spec.template.spec.nodeClassRef"),
  expiry: at("spec.template.spec.expireAfter"),
  disruption: at("spec.disruption"),
  limits: at("spec.limits"),
  provider: at("spec.provider"),
  providerRef: at("spec.providerRef"),
  ttlExpired: at("spec.ttlSecondsUntilExpired"),
  ttlEmpty: at("spec.ttlSecondsAfterEmpty"),
  consolidation: at("spec.consolidation.enabled"),
} as const;

/** Provisioner, v1alpha3 to v1alpha5, to a v1 NodePool; its kubelet settings and inline provider concern the class. (01 §7.6, §7.7) */
export function provisioner(draft: Draft, options: ConversionOptions): void {
  if (draft.said(["spec"]) !== undefined && !draft.isObject(["spec"])) return;
  renameKeys(draft, { from: at("spec.labels"), to: at("spec.template.metadata.labels") });
  renameKeys(draft, { from: at("spec.annotations"), to: at("spec.template.metadata.annotations") });
  classReference(draft);
  provisionerRequirements(draft, options);
  for (const [from, to] of carried) draft.carry(at(from), at(to));
  expiry(draft);
  disruption(draft);
  limits(draft);
  if (draft.said(at("spec.cluster")) !== undefined) droppedCluster(draft);
  dropUnknown(draft, { base: ["spec"], known });
}

function classReference(draft: Draft): void {
  const inline = draft.said(paths.provider);
  const ref = draft.said(paths.providerRef);
  if (inline !== undefined && ref !== undefined) {
    draft.refuse({
      code: "not-convertible",
      rule: "01 §7.6",
      path: paths.provider,
      message: "provider and providerRef exclude each other",
      expected: "one of the two",
    });
  }
  if (isRecord(ref)) {
    draft.put(
      paths.classRef,
      { group: groups.aws, kind: defaultClassKind, name: ref["name"] ?? "" },
      paths.providerRef,
    );
  } else if (inline !== undefined) {
    const name = draft.said(at("metadata.name")) ?? "";
    draft.put(paths.classRef, { group: groups.aws, kind: defaultClassKind, name }, paths.provider);
  } else {
    assumeDefaultClass(draft, paths.classRef, paths.providerRef);
    draft.moves.push({ from: paths.providerRef, to: paths.classRef });
  }
}

/** Alpha had no default expiry: unset means never. (01 trap 20) */
function expiry(draft: Draft): void {
  const ttl = seconds(draft, paths.ttlExpired);
  draft.put(paths.expiry, ttl === undefined ? "Never" : `${ttl}s`, ttl === undefined ? undefined : paths.ttlExpired);
}

function disruption(draft: Draft): void {
  const ttl = seconds(draft, paths.ttlEmpty);
  const consolidates = draft.said(paths.consolidation) === true;
  if (draft.said(paths.ttlEmpty) !== undefined && consolidates) {
    draft.refuse({
      code: "not-convertible",
      rule: "01 §7.6",
      path: paths.ttlEmpty,
      message: "ttlSecondsAfterEmpty and consolidation.enabled exclude each other",
      expected: "one of the two",
    });
  }
  if (consolidates) {
    draft.put(paths.disruption, { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s" });
  } else if (ttl !== undefined) {
    draft.put(paths.disruption, { consolidationPolicy: "WhenEmpty", consolidateAfter: `${ttl}s` });
    draft.moves.push({ from: paths.ttlEmpty, to: [...paths.disruption, "consolidateAfter"] });
  } else {
    // Neither meant "never scale down"; the v1 default would start consolidating. (01 trap 20)
    draft.put(paths.disruption, { consolidateAfter: "Never" });
  }
}

function seconds(draft: Draft, path: Path): number | undefined {
  const value = draft.said(path);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const message =
    typeof value === "number" && value < 0 ? `${value} is negative` : `${JSON.stringify(value)} is no whole number`;
  draft.refuse({
    code: "invalid-value",
    rule: "01 §7.6",
    path,
    message,
    expected: "a whole number of seconds, 0 or more",
  });
  return undefined;
}

/** Alpha nested limits under `resources`; a limit written beside it was ignored, which nobody can have meant. */
function limits(draft: Draft): void {
  const source = draft.said(paths.limits);
  if (source === undefined || !draft.isObject(paths.limits) || !isRecord(source)) return;
  const { resources, ...beside } = source;
  const nested = isRecord(resources) ? resources : {};
  if (resources !== undefined && resources !== null && !isRecord(resources))
    draft.isObject([...paths.limits, "resources"]);
  for (const name of Object.keys(beside)) {
    draft.assume({
      code: "field-moved",
      path: [...paths.limits, name],
      message: `read as spec.limits.resources.${name}`,
      advice: "check the limit: alpha versions ignored it here",
      instead: {
        code: "unknown-field",
        rule: "01 §7.6",
        message: `is not a known field; it belongs at spec.limits.resources.${name}`,
        expected: `spec.limits.resources.${name}`,
      },
    });
  }
  draft.put(paths.limits, structuredClone({ ...beside, ...nested }));
  draft.moves.push({ from: [...paths.limits, "resources"], to: paths.limits });
  for (const name of Object.keys(beside))
    draft.moves.push({ from: [...paths.limits, name], to: [...paths.limits, name] });
}

function droppedCluster(draft: Draft): void {
  draft.note({
    code: "field-dropped",
    path: at("spec.cluster"),
    message: "dropped: the cluster is a setting of the controller now",
    advice: "set clusterName in the chart's values (CLUSTER_NAME)",
  });
}
