import type { RefusalReason } from "./explanation.ts";

/** The pool or node a reason is about. */
interface ReasonPlace {
  readonly kind: "pool" | "node";
  readonly name: string;
}

/** One reason as a clause that can follow “because”. */
export function describeReason(reason: RefusalReason, where: ReasonPlace): string {
  const place = `${where.kind} ${where.name}`;
  switch (reason.code) {
    case "taint":
      return `the pod does not tolerate the taint ${reason.taint} of ${place}`;
    case "requirements":
    case "volume-requirements":
      return labelText(reason, place);
    case "volume-limit":
      return `${place} can attach ${reason.limit} volumes of driver ${reason.driver}; with this pod it would have ${reason.wanted}`;
    case "host-port":
      return `host port ${reason.port}/${reason.protocol} of ${place} is taken${reason.owner === undefined ? "" : ` by ${reason.owner}`}`;
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
      return `${place} is limited to ${reason.limit} nodes and has ${reason.used}`;
    case "reserved-capacity":
      return `reserved capacity of ${place} would fit but is in use; the pod is tried again in the next round`;
    case "dynamic-resources":
      return "the pod has resource claims (Dynamic Resource Allocation), which are not supported";
    case "no-templates":
      return `the requirements of ${place} match no available instance type${reason.becauseOfMinValues ? " (because of minValues)" : ""}`;
    case "no-pools":
      return "there is no usable NodePool";
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
  const who = code === "requirements" ? "the pod requires" : "its volume requires";
  const meant = similarValue === undefined ? "" : ` (did you mean ${similarValue}?)`;
  if (has !== undefined) return `${who} ${key} ${wants}, but ${place} has ${has}${meant}`;
  const hint = similarKey === undefined ? "" : ` (did you mean ${similarKey}?)`;
  return `${who} ${key} ${wants}, a label ${place} does not have${hint}`;
}

function limitText(
  { resource, limit, used, needed, instanceType }: ReasonWithCode<"limits" | "node-limit">,
  place: string,
): string {
  const usage = `${place} is limited to ${resource} ${humanAmount(limit)} and uses ${humanAmount(used)}`;
  if (needed === undefined) return `${usage}; any new node would exceed it`;
  return `${usage}; the smallest otherwise suitable type, ${instanceType}, has ${humanAmount(needed)}`;
}

function resourceText(
  { resource, asked, available, daemons, instanceType }: ReasonWithCode<"resources">,
  place: string,
): string {
  if (instanceType === undefined)
    return `the pod requests ${resource} ${humanAmount(asked)}; ${place} has ${humanAmount(available)} left`;
  const after = daemons === undefined ? "" : ` after daemons (${humanAmount(daemons)})`;
  return `the pod requests ${resource} ${humanAmount(asked)}; the nearest otherwise suitable type of ${place}, ${instanceType}, offers ${humanAmount(available)}${after}`;
}

const domainsShown = 6;

function topologyText({ kind, key, counts }: ReasonWithCode<"topology">, place: string): string {
  const listed = Object.entries(counts).map(([domain, count]) => `${domain}: ${count}`);
  const more = listed.length > domainsShown ? `, and ${listed.length - domainsShown} more` : "";
  const shown = listed.length === 0 ? "" : ` (matching pods: ${listed.slice(0, domainsShown).join(", ")}${more})`;
  switch (kind) {
    case "spread":
      return listed.length === 0
        ? `the pod must be spread over ${key}, a label ${place} does not have`
        : `the topology spread over ${key} allows none of the values ${place} can have${shown}`;
    case "affinity":
      return `pod affinity over ${key}: none of the values ${place} can have holds a matching pod${shown}`;
    case "anti-affinity":
      return `pod anti-affinity over ${key}: every value ${place} can have holds a matching pod${shown}`;
  }
}

function typesText({ matches, fits, offered }: ReasonWithCode<"instance-types">, place: string): string {
  const lacks = [
    ...(matches ? [] : ["matches the required labels"]),
    ...(fits ? [] : ["is large enough"]),
    ...(offered ? [] : ["has an available offering in that zone and capacity type"]),
  ];
  if (lacks.length === 0) return `no instance type of ${place} satisfies labels, size and offering together`;
  return `no instance type of ${place} ${lacks.join(", and none ")}`;
}
