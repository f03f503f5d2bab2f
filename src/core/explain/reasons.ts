import { resources } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import type { RequirementConflict } from "../compatibility.ts";
import { hostPortConflict, hostPortsOf } from "../host-ports.ts";
import { Requirement } from "../requirement.ts";
import { amountOf } from "../resources.ts";
import type { InstanceTypesCause, RefusalCause } from "../scheduling/refusal.ts";
import { formatTaint } from "../tolerations.ts";
import { meantKey } from "./changes/label-changes.ts";
import type { LabelReason, LimitReason, RefusalReason } from "./explanation.ts";
import {
  faultCount,
  instanceTypeValues,
  type LaunchOption,
  type LaunchOptionQuery,
  remainingLimitsOf,
} from "./launch-options.ts";
import { likelyMeantValue } from "./likely-typo.ts";
import { missingShare } from "./refusal-distance.ts";
import { topologyReason } from "./topology-reason.ts";

/** The cause of a refusal as plain data, with the figures the cause itself lacks. */
export function poolReasons(
  cause: RefusalCause,
  query: LaunchOptionQuery,
  launchOptions: () => readonly LaunchOption[],
): readonly RefusalReason[] {
  switch (cause.code) {
    case "taint":
      return [{ code: "taint", taint: formatTaint(cause.taint) }];
    case "requirements":
    case "volume-requirements":
      return labelReasons(cause.code, cause.conflicts).map((reason) => withMeant(reason, query));
    case "topology":
      return [topologyReason(cause, query.pod)];
    case "limits":
    case "node-limit":
      return limitReasons(cause.code, query, launchOptions());
    case "instance-types":
      return typeReasons(cause, query, launchOptions());
    case "min-values":
      return [...cause.achieved].map(([key, achieved]) => ({
        code: "min-values",
        key,
        achieved,
        ...wantedMinValues(cause.requirements.get(key).minValues),
      }));
    case "reserved-capacity":
      return [{ code: cause.code }];
    case "dynamic-resources":
      return [{ code: cause.code, devices: cause.devices }];
    case "volume-limit":
    case "host-port":
    case "resources":
      return []; // only of existing nodes
  }
}

function wantedMinValues(minValues: number | undefined) {
  return minValues === undefined ? {} : { wanted: minValues };
}

export function labelReasons(
  code: LabelReason["code"],
  conflicts: readonly RequirementConflict[],
): readonly LabelReason[] {
  return conflicts.map((conflict) => ({
    code,
    key: conflict.key,
    wants: requirementText(conflict.incoming),
    ...(conflict.code === "no-intersection" && { has: requirementText(conflict.existing) }),
    ...(conflict.code === "undefined-key" && conflict.similarKey !== undefined && { similarKey: conflict.similarKey }),
  }));
}

/** Adds the label or value that was probably meant. */
function withMeant(reason: LabelReason, { pass, pool }: LaunchOptionQuery): LabelReason {
  if (reason.code !== "requirements") return reason;
  const similarKey =
    reason.has === undefined ? meantKey(reason, { pool, policy: pass.problem.labelPolicy }) : undefined;
  const [wanted, ...others] = valuesIn(reason.wants);
  const similarValue =
    wanted === undefined || others.length > 0 || reason.has === undefined
      ? undefined
      : likelyMeantValue(reason.key, wanted, valuesIn(reason.has));
  return { ...reason, ...(similarKey && { similarKey }), ...(similarValue && { similarValue }) };
}

/** The values of a requirement that allows only these. */
function valuesIn(requirement: string): readonly string[] {
  return /^In \[(.*)\]$/.exec(requirement)?.[1]?.split(" ") ?? [];
}

function requirementText(requirement: RequirementConflict["incoming"]): string {
  return String(requirement).slice(requirement.key.length + 1);
}

/** Limits that no instance type fits into; where only several together refuse, all of them. */
function limitReasons(
  code: LimitReason["code"],
  { pass, pool, poolTemplate }: LaunchOptionQuery,
  launchOptions: readonly LaunchOption[],
): readonly RefusalReason[] {
  const limited = nearestByLimit(launchOptions);
  if (limited !== undefined) return excessReasons(limited);
  const limits = pool.nodePool.spec.limits ?? {};
  const types = poolTemplate?.typeTable.typesIn(poolTemplate.columns) ?? [];
  const reasons = Object.entries(remainingLimitsOf(pass, poolTemplate)).map(([resource, left]) => {
    const limit = Quantity.tryParse(limits[resource] ?? "0") ?? Quantity.zero;
    const isNodes = resource === resources.nodes;
    return {
      reason: { code, resource, limit: limit.canonical(), used: limit.sub(left).canonical() },
      isNodes,
      isUsedUp: isNodes ? left.sign() <= 0 : types.every(({ capacity }) => amountOf(capacity, resource).cmp(left) > 0),
    };
  });
  const alone = reasons.filter(({ isUsedUp, isNodes }) => isUsedUp && (code === "limits" || isNodes));
  return (alone.length > 0 ? alone : reasons).map(({ reason }) => reason);
}

/** If only size is missing, the nearest type says how much. (02:F-3) */
function typeReasons(
  { code, matches, fits, offered }: InstanceTypesCause,
  query: LaunchOptionQuery,
  launchOptions: readonly LaunchOption[],
): readonly RefusalReason[] {
  const ports = daemonPortReasons(query);
  if (ports.length > 0) return ports;
  const limited = nearestByLimit(launchOptions);
  if (limited !== undefined) return excessReasons(limited);
  const nearest = nearestBySize(launchOptions);
  if (nearest === undefined) {
    const labels = labelMismatchReasons(launchOptions) ?? volumePlaceReasons(query, launchOptions);
    return labels ?? [{ code, matches, fits, offered }];
  }
  return nearest.shortages.map(({ resource, asked, left, daemons }) => ({
    code: "resources",
    resource,
    asked: asked.canonical(),
    available: left.canonical(),
    ...(daemons.sign() > 0 && { daemons: daemons.canonical() }),
    ...storageField(resource, query.pool),
    instanceType: nearest.type.name,
  }));
}

/** Where daemons of every instance type use a host port of the pod, no node of the pool has it free. */
function daemonPortReasons({ pod, poolTemplate }: LaunchOptionQuery): readonly RefusalReason[] {
  const wanted = hostPortsOf(pod);
  const groups = poolTemplate?.daemonGroups ?? [];
  const conflicts = groups.flatMap(({ hostPorts }) => hostPortConflict(wanted, hostPorts) ?? []);
  const [first] = conflicts;
  if (first === undefined || conflicts.length < groups.length) return [];
  const { port, protocol } = first.wanted;
  return [{ code: "host-port", port, protocol, owner: first.existing.owner }];
}

/** A node of EC2 has the ephemeral storage of its block devices. */
function storageField(resource: string, { nodePool }: LaunchOptionQuery["pool"]): { readonly setBy?: string } {
  const { kind, name } = nodePool.spec.template.spec.nodeClassRef;
  const isFromClass = resource === resources.ephemeralStorage && kind === "EC2NodeClass";
  return isFromClass ? { setBy: `spec.blockDeviceMappings of ${kind} ${name}` } : {};
}

/** If the place of its volumes is all that is wrong, names it and where nodes can be. */
function volumePlaceReasons(
  { pool, volumeAlternatives }: LaunchOptionQuery,
  launchOptions: readonly LaunchOption[],
): readonly RefusalReason[] | undefined {
  if (!launchOptions.some((one) => one.missesVolumes && faultCount(one) === 1)) return undefined;
  const [wanted] = [...(volumeAlternatives.at(-1) ?? [])];
  if (wanted === undefined) return undefined;
  const values = instanceTypeValues(pool, wanted.key);
  const has = values.length === 0 ? {} : { has: requirementText(Requirement.in(wanted.key, values)) };
  return [{ code: "volume-requirements", key: wanted.key, wants: requirementText(wanted), ...has }];
}

/** If one label is all that is wrong, names the values the types have. */
function labelMismatchReasons(launchOptions: readonly LaunchOption[]): readonly RefusalReason[] | undefined {
  const near = launchOptions.filter(
    (launchOption) => launchOption.podMismatches.length === 1 && faultCount(launchOption) === 1,
  );
  const wanted = near[0]?.podMismatches[0]?.writtenRequirement.requirement;
  if (wanted === undefined) return undefined;
  const mismatches = near
    .flatMap(({ podMismatches }) => podMismatches)
    .filter(({ writtenRequirement }) => writtenRequirement.requirement.key === wanted.key);
  const values = mismatches.flatMap(({ value }) => value ?? []);
  return [
    {
      code: "requirements",
      key: wanted.key,
      wants: requirementText(wanted),
      has: requirementText(Requirement.in(wanted.key, values)),
    },
  ];
}

/** Of the options that only limits refuse, the one with the smallest excess. */
function nearestByLimit(launchOptions: readonly LaunchOption[]): LaunchOption | undefined {
  let best: LaunchOption | undefined;
  for (const launchOption of launchOptions) {
    if (launchOption.limitExcesses.length === 0 || launchOption.limitExcesses.length !== faultCount(launchOption))
      continue;
    if (best === undefined || limitOvershoot(launchOption) < limitOvershoot(best)) best = launchOption;
  }
  return best;
}

function limitOvershoot({ limitExcesses }: LaunchOption): number {
  return limitExcesses.reduce(
    (sum, { needed, limit }) => sum + needed.sub(limit).toNumber() / (limit.toNumber() || 1),
    0,
  );
}

function excessReasons({ limitExcesses, type }: LaunchOption): readonly RefusalReason[] {
  return limitExcesses.map(({ resource, limit, needed }) => {
    const isNodes = resource === resources.nodes;
    const own = isNodes ? Quantity.of(1) : amountOf(type.capacity, resource);
    const figures = { resource, limit: limit.canonical(), used: needed.sub(own).canonical() };
    if (isNodes) return { code: "node-limit", ...figures };
    return { code: "limits", ...figures, needed: own.canonical(), instanceType: type.name };
  });
}

/** Of the options that are only too small, the one that lacks least. */
function nearestBySize(launchOptions: readonly LaunchOption[]): LaunchOption | undefined {
  let best: LaunchOption | undefined;
  for (const launchOption of launchOptions) {
    if (launchOption.shortages.length === 0 || launchOption.shortages.length !== faultCount(launchOption)) continue;
    if (best === undefined || totalShortage(launchOption) < totalShortage(best)) best = launchOption;
  }
  return best;
}

function totalShortage({ shortages }: LaunchOption): number {
  return shortages.reduce((sum, { asked, left }) => sum + missingShare(asked, left), 0);
}
