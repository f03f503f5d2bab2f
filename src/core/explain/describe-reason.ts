import type { RefusalReason } from "./explanation.ts";

/** Where a reason was met. */
export interface ReasonPlace {
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
      return `${place} attaches at most ${reason.limit} volumes of ${reason.driver}, and would have ${reason.wanted}`;
    case "host-port":
      return `host port ${reason.port}/${reason.protocol} of ${place} is taken${reason.owner === undefined ? "" : ` by ${reason.owner}`}`;
    case "resources":
      return resourceText(reason, place);
    case "topology":
      return topologyText(reason, where);
    case "instance-types":
      return typesText(reason, place);
    case "min-values":
      return `${place} must keep ${reason.wanted ?? "more"} values of ${reason.key} possible, and only ${reason.achieved} would be left`;
    case "limits":
      return limitText(reason, place);
    case "node-limit":
      return `${place} may hold ${reason.limit} nodes and has ${reason.used}`;
    case "reserved-capacity":
      return `reserved capacity of ${place} would suit but is in use; the pod is tried again in the next round`;
    case "dynamic-resources":
      return "the pod has resource claims (Dynamic Resource Allocation), which are not supported";
    case "no-templates":
      return `the requirements of ${place} leave no instance type that can be had${reason.becauseOfMinValues ? " (because of minValues)" : ""}`;
    case "no-pools":
      return "there is no usable pool, and without one no pod is placed";
    case "volume-unknown":
    case "invalid-pod":
      return reason.text;
  }
}

/** Thousandths read better as a fraction: 3900m is 3.9. */
export function humanAmount(written: string): string {
  const milli = /^(-?\d+)m$/.exec(written)?.[1];
  return milli === undefined ? written : String(Number(milli) / 1000);
}

type ReasonWithCode<Code extends RefusalReason["code"]> = Extract<RefusalReason, { readonly code: Code }>;

function labelText(
  { code, key, wants, has, similarKey }: ReasonWithCode<"requirements" | "volume-requirements">,
  place: string,
): string {
  const who = code === "requirements" ? "the pod wants" : "its volume needs";
  if (has !== undefined) return `${who} ${key} ${wants}, and ${place} has ${has}`;
  const hint = similarKey === undefined ? "" : ` (is ${similarKey} meant?)`;
  return `${who} ${key} ${wants}, a label ${place} does not have${hint}`;
}

function limitText(
  { resource, limit, used, needed, instanceType }: ReasonWithCode<"limits" | "node-limit">,
  place: string,
): string {
  const held = `${place} may hold ${resource} ${humanAmount(limit)} and has ${humanAmount(used)}`;
  if (needed === undefined) return `${held}, and any other node would exceed that`;
  return `${held}, and the smallest type that suits otherwise, ${instanceType}, has ${humanAmount(needed)}`;
}

function resourceText(
  { resource, asked, available, daemons, instanceType }: ReasonWithCode<"resources">,
  place: string,
): string {
  if (instanceType === undefined)
    return `the pod asks for ${resource} ${humanAmount(asked)}, and ${place} has ${humanAmount(available)} left`;
  const after = daemons === undefined ? "" : ` after daemons (${humanAmount(daemons)})`;
  return `the pod asks for ${resource} ${humanAmount(asked)}, and of the types of ${place} that suit otherwise the nearest, ${instanceType}, offers ${humanAmount(available)}${after}`;
}

const domainsShown = 6;

function topologyText({ kind, key, counts }: ReasonWithCode<"topology">, { kind: at, name }: ReasonPlace): string {
  const listed = Object.entries(counts).map(([domain, count]) => `${domain}: ${count}`);
  const more = listed.length > domainsShown ? `, and ${listed.length - domainsShown} more` : "";
  const shown = listed.length === 0 ? "" : ` (pods that count: ${listed.slice(0, domainsShown).join(", ")}${more})`;
  const place = at === "node" ? `node ${name}` : `pool ${name}`;
  switch (kind) {
    case "spread":
      return listed.length === 0
        ? `the pod is to be spread over ${key}, of which ${place} has no value`
        : `spreading over ${key} allows no value ${place} can have${shown}`;
    case "affinity":
      return `the pod must be near pods that are at no ${key} ${place} can have${shown}`;
    case "anti-affinity":
      return `every ${key} ${place} can have holds a pod this one must keep away from${shown}`;
  }
}

function typesText({ matches, fits, offered }: ReasonWithCode<"instance-types">, place: string): string {
  const lacks = [
    ...(matches ? [] : ["has the labels that are asked for"]),
    ...(fits ? [] : ["is large enough"]),
    ...(offered ? [] : ["can be bought in that zone and capacity type"]),
  ];
  if (lacks.length === 0) return `no instance type of ${place} has the labels, the size and the offering at once`;
  return `no instance type of ${place} ${lacks.join(", and none ")}`;
}
