import { resources } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import type { Conflict } from "../compatibility.ts";
import { Requirement } from "../requirement.ts";
import { amount } from "../resources.ts";
import type { Cause, TypesCause } from "../scheduling/refusal.ts";
import { formatTaint } from "../tolerations.ts";
import type { LabelReason, LimitReason, Reason } from "./explanation.ts";
import { faultsOf, type Machine, type MachineQuestion, remainingOf, type Shortage } from "./machines.ts";

/** A cause at a pool as plain data, with the figures it lacks. */
export function poolReasons(
  cause: Cause,
  question: MachineQuestion,
  machines: () => readonly Machine[],
): readonly Reason[] {
  switch (cause.code) {
    case "taint":
      return [{ code: "taint", taint: formatTaint(cause.taint) }];
    case "requirements":
    case "volume-requirements":
      return labelReasons(cause.code, cause.conflicts);
    case "topology": {
      const { code, kind, key, counts } = cause;
      return [{ code, kind, key, counts }];
    }
    case "limits":
    case "node-limit":
      return limitReasons(cause.code, question, machines());
    case "instance-types":
      return typeReasons(cause, machines());
    case "min-values":
      return [...cause.achieved].map(([key, achieved]) => ({
        code: "min-values",
        key,
        achieved,
        ...wantedOf(cause.requirements.get(key).minValues),
      }));
    case "reserved-capacity":
    case "dynamic-resources":
      return [{ code: cause.code }];
    case "volume-limit":
    case "host-port":
    case "resources":
      return []; // of nodes that exist alone
  }
}

function wantedOf(minValues: number | undefined) {
  return minValues === undefined ? {} : { wanted: minValues };
}

export function labelReasons(code: LabelReason["code"], conflicts: readonly Conflict[]): readonly LabelReason[] {
  return conflicts.map((conflict) => ({
    code,
    key: conflict.key,
    wants: said(conflict.incoming),
    ...(conflict.code === "no-intersection" && { has: said(conflict.existing) }),
    ...(conflict.code === "undefined-key" && conflict.similarKey !== undefined && { similarKey: conflict.similarKey }),
  }));
}

/** Without the key. */
function said(requirement: Conflict["incoming"]): string {
  return String(requirement).slice(requirement.key.length + 1);
}

/** What is limited and used up: too little is left for any type, or, where only several together refuse, each of them. */
function limitReasons(
  code: LimitReason["code"],
  { pass, pool, shop }: MachineQuestion,
  machines: readonly Machine[],
): readonly Reason[] {
  const limited = nearestByLimit(machines);
  if (limited !== undefined) return excessReasons(limited);
  const limits = pool.nodePool.spec.limits ?? {};
  const types = shop?.catalogue.typesIn(shop.columns) ?? [];
  const reasons = Object.entries(remainingOf(pass, shop)).map(([resource, left]) => {
    const limit = Quantity.tryParse(limits[resource] ?? "0") ?? Quantity.zero;
    const isNodes = resource === resources.nodes;
    return {
      reason: { code, resource, limit: limit.canonical(), used: limit.sub(left).canonical() },
      isNodes,
      isUsedUp: isNodes ? left.sign() <= 0 : types.every(({ capacity }) => amount(capacity, resource).cmp(left) > 0),
    };
  });
  const alone = reasons.filter(({ isUsedUp, isNodes }) => isUsedUp && (code === "limits" || isNodes));
  return (alone.length > 0 ? alone : reasons).map(({ reason }) => reason);
}

/** Where size alone is the matter, the type that comes nearest tells how far it is off. (02:F-3) */
function typeReasons({ code, matches, fits, offered }: TypesCause, machines: readonly Machine[]): readonly Reason[] {
  const limited = nearestByLimit(machines);
  if (limited !== undefined) return excessReasons(limited);
  const nearest = nearestBySize(machines);
  if (nearest === undefined) return unlikeReasons(machines) ?? [{ code, matches, fits, offered }];
  return nearest.shortages.map(({ resource, asked, left, daemons }) => ({
    code: "resources",
    resource,
    asked: asked.canonical(),
    available: left.canonical(),
    ...(daemons.sign() > 0 && { daemons: daemons.canonical() }),
    instanceType: nearest.type.name,
  }));
}

/** Where one label that the pod wants is all that is wrong, what types have of it says more than that none suits. */
function unlikeReasons(machines: readonly Machine[]): readonly Reason[] | undefined {
  const near = machines.filter((machine) => machine.podMisses.length === 1 && faultsOf(machine) === 1);
  const wanted = near[0]?.podMisses[0]?.demand.requirement;
  if (wanted === undefined) return undefined;
  const misses = near
    .flatMap(({ podMisses }) => podMisses)
    .filter(({ demand }) => demand.requirement.key === wanted.key);
  const values = misses.flatMap(({ value }) => value ?? []);
  return [
    { code: "requirements", key: wanted.key, wants: said(wanted), has: said(Requirement.in(wanted.key, values)) },
  ];
}

/** A type would do, were there no limits. */
function nearestByLimit(machines: readonly Machine[]): Machine | undefined {
  let best: Machine | undefined;
  for (const machine of machines) {
    if (machine.excesses.length === 0 || machine.excesses.length !== faultsOf(machine)) continue;
    if (best === undefined || over(machine) < over(best)) best = machine;
  }
  return best;
}

function over({ excesses }: Machine): number {
  return excesses.reduce((sum, { needed, limit }) => sum + needed.sub(limit).toNumber() / (limit.toNumber() || 1), 0);
}

function excessReasons({ excesses, type }: Machine): readonly Reason[] {
  return excesses.map(({ resource, limit, needed }) => {
    const isNodes = resource === resources.nodes;
    const own = isNodes ? Quantity.of(1) : amount(type.capacity, resource);
    const figures = { resource, limit: limit.canonical(), used: needed.sub(own).canonical() };
    if (isNodes) return { code: "node-limit", ...figures };
    return { code: "limits", ...figures, needed: own.canonical(), instanceType: type.name };
  });
}

/** Of the machines that are only too small, the one that lacks least. */
export function nearestBySize(machines: readonly Machine[]): Machine | undefined {
  let best: Machine | undefined;
  for (const machine of machines) {
    if (machine.shortages.length === 0 || machine.shortages.length !== faultsOf(machine)) continue;
    if (best === undefined || lack(machine) < lack(best)) best = machine;
  }
  return best;
}

function lack({ shortages }: Machine): number {
  return shortages.reduce((sum, one) => sum + shareLacking(one), 0);
}

/** The part of what is asked for that is not there, 0 to 1. */
export function shareLacking({ asked, left }: Shortage): number {
  const all = asked.toNumber();
  return all > 0 ? Math.min(1, (all - Math.max(0, left.toNumber())) / all) : 1;
}
