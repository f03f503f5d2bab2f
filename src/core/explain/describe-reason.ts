import { describeDeviceRefusal } from "../devices/device-refusal.ts";
import { comparableAmounts } from "./comparable-amounts.ts";
import type { LimitReason, RefusalReason } from "./explanation.ts";

/** The pool or node a reason is about. */
interface ReasonPlace {
  readonly kind: "pool" | "node";
  readonly name: string;
}

/** One reason as a clause that can follow “because”. */
export function describeReason(reason: RefusalReason, where: ReasonPlace): string {
  const place = `${where.kind === "pool" ? "NodePool" : where.kind} ${where.name}`;
  switch (reason.code) {
    case "taint":
      return `the pod does not tolerate the taint ${reason.taint} of ${place}`;
    case "requirements":
    case "volume-requirements":
      return labelText(reason, place);
    case "volume-limit":
      return `${place} can attach ${reason.limit} volumes of driver ${reason.driver}; with this pod it would have ${reason.wanted}`;
    case "host-port":
      return portText(reason, where, place);
    case "resources":
      return resourceText(reason, place);
    case "topology":
      return topologyText(reason, place);
    case "instance-types":
      return typesText(reason, place);
    case "min-values":
      return `${place} requires ${reason.wanted ?? "more"} values of ${reason.key} (minValues); only ${reason.achieved} would be left`;
    case "limits":
      return limitText(reason, place);
    case "node-limit":
      return `${place} is limited to ${reason.limit} ${reason.limit === "1" ? "node" : "nodes"} (spec.limits.nodes) and has ${reason.used}`;
    case "reserved-capacity":
      return `reserved capacity of ${place} would fit but is in use; the pod is tried again in the next round`;
    case "dynamic-resources":
      return reason.devices === undefined
        ? "the pod has resource claims (Dynamic Resource Allocation), which are not supported"
        : `${place}: ${describeDeviceRefusal(reason.devices)}`;
    case "no-templates":
      return `the requirements of ${place} match no available instance type${reason.becauseOfMinValues ? " (because of minValues)" : ""}`;
    case "no-pools":
      return "there is no NodePool that could launch a node for it";
    case "pool-unusable":
      return `${place} ${reason.text}`;
    case "volume-unknown":
    case "invalid-pod":
      return reason.text;
  }
}

/** Shows thousandths as a fraction: 3900m is 3.9. */
export function humanAmount(written: string): string {
  const milli = /^(-?\d+)m$/.exec(written)?.[1];
  return milli === undefined ? written : String(Number(milli) / 1000);
}

type ReasonWithCode<Code extends RefusalReason["code"]> = Extract<RefusalReason, { readonly code: Code }>;

function labelText(
  { code, key, wants, has, similarKey, similarValue }: ReasonWithCode<"requirements" | "volume-requirements">,
  place: string,
): string {
  const meant = similarKey ?? similarValue;
  const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  if (code === "volume-requirements") {
    if (wants === "DoesNotExist") return `its volumes are in different places: no value of ${key} suits all of them`;
    const there = has === undefined ? `${place} does not have that label` : `${place} has ${labelCondition(key, has)}`;
    return `its volume is in ${labelCondition(key, wants)}, but ${there}`;
  }
  if (has === undefined) return `the pod asks for ${labelCondition(key, wants)}, a label ${place} does not have${hint}`;
  return `the pod asks for ${labelCondition(key, wants)}, but ${place} has ${labelCondition(key, has)}${hint}`;
}

const comparisons: Readonly<Record<string, string>> = { Gt: ">", Lt: "<", Gte: ">=", Lte: "<=" };

/** `In [a]` of a key as people write it: `key=a`. */
function labelCondition(key: string, condition: string): string {
  const bound = /^Exists ([<>]=?)(\S+)$/.exec(condition);
  if (bound !== null) return `${key} ${bound[1]} ${bound[2]}`;
  const [, operator = "", written = ""] = /^(\w+)(?: \[?(.*?)\]?)?$/.exec(condition) ?? [];
  const list = written.replace(/ and (\d+) others$/, "");
  const others = /and (\d+) others$/.exec(written)?.[1];
  const values = [...list.split(" "), ...(others === undefined ? [] : [`${others} more`])];
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${list}` : `${key} in (${values.join(", ")})`;
    case "NotIn":
      return values.length === 1 ? `${key} other than ${list}` : `${key} not in (${values.join(", ")})`;
    case "Exists":
      return `the label ${key}`;
    case "DoesNotExist":
      return `no label ${key}`;
    default:
      return comparisons[operator] === undefined ? `${key} ${condition}` : `${key} ${comparisons[operator]} ${list}`;
  }
}

function limitText({ resource, limit, used, needed, instanceType }: LimitReason, place: string): string {
  const [most = "", taken = "", own] = comparableAmounts(resource, [
    limit,
    used,
    ...(needed === undefined ? [] : [needed]),
  ]);
  const usage = `${place} is limited to ${resource} ${most} (spec.limits) and uses ${taken}`;
  if (own === undefined) return `${usage}; any new node would exceed it`;
  return `${usage}; the smallest type that would do, ${instanceType}, has ${own}`;
}

function resourceText(
  { resource, asked, available, daemons, instanceType, setBy }: ReasonWithCode<"resources">,
  place: string,
): string {
  const amounts = [asked, available, ...(daemons === undefined ? [] : [daemons])];
  const [wanted = "", left = "", taken] = comparableAmounts(resource, amounts);
  if (instanceType === undefined) return `the pod requests ${resource} ${wanted}; ${place} has ${left} left`;
  const daemonText = taken === undefined ? "" : ` beside its daemons (${taken})`;
  const after = `${daemonText}${setBy === undefined ? "" : `, which ${setBy} sets`}`;
  return `the pod requests ${resource} ${wanted}; the nearest type of ${place}, ${instanceType}, offers ${left}${after}`;
}

function portText(
  { port, protocol, owner }: ReasonWithCode<"host-port">,
  { kind }: ReasonPlace,
  place: string,
): string {
  if (kind === "node")
    return `host port ${port}/${protocol} of ${place} is taken${owner === undefined ? "" : ` by ${owner}`}`;
  return `host port ${port}/${protocol} of every node of ${place} is taken${owner === undefined ? " by a DaemonSet" : ` by the daemon ${owner}`}`;
}

const domainsShown = 6;

function topologyText(reason: ReasonWithCode<"topology">, place: string): string {
  const { kind, key, counts, minDomains, maxSkew, selector, isOfOthers } = reason;
  const listed = Object.entries(counts).map(([domain, count]) => `${domain}: ${count}`);
  const more = listed.length > domainsShown ? `, and ${listed.length - domainsShown} more` : "";
  const shown = listed.length === 0 ? "" : ` (matching pods: ${listed.slice(0, domainsShown).join(", ")}${more})`;
  const pods = selector === undefined ? "the pods it selects" : `pods with ${selector}`;
  switch (kind) {
    case "spread":
      if (listed.length === 0) return `the pod is spread over ${key}, a label ${place} does not have`;
      if (minDomains !== undefined)
        return `the pod's spread over ${key} asks for ${minDomains} domains (minDomains), and ${place} can use ${listed.length}${shown}`;
      return `the pod's spread over ${key}${maxSkew === undefined ? "" : ` (maxSkew ${maxSkew})`} allows no domain that ${place} can use${shown}`;
    case "affinity":
      return `the pod must run beside ${pods} (pod affinity over ${key}), and none runs where ${place} can launch nodes${shown}`;
    case "anti-affinity":
      return isOfOthers === true
        ? `other pods refuse to run beside this one (their pod anti-affinity over ${key}), and they are wherever ${place} can launch nodes${shown}`
        : `the pod must not run beside ${pods} (pod anti-affinity over ${key}), and they are wherever ${place} can launch nodes${shown}`;
  }
}

function typesText({ matches, fits, offered }: ReasonWithCode<"instance-types">, place: string): string {
  const lacks = [
    ...(matches ? [] : ["matches the required labels"]),
    ...(fits ? [] : ["is large enough"]),
    ...(offered ? [] : ["is available in that zone and capacity type"]),
  ];
  if (lacks.length === 0) return `no instance type of ${place} has the labels, the size and an offering at once`;
  return `no instance type of ${place} ${lacks.join(", and none ")}`;
}
