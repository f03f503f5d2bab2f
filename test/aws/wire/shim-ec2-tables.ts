import { type AwsRequest, filtersOf, textsOf } from "./aws-request.ts";
import { ec2Answer, ec2Refusal, type XmlValue } from "./ec2-xml.ts";
import type { ShimAnswer } from "./shim.ts";
import type { ShimImpairment, ShimTables } from "./shim-tables.ts";

type Row = Readonly<Record<string, XmlValue>>;

/** The names EC2's filters have for fields of its answers. */
const filterFields: Readonly<Record<string, string>> = {
  state: "state",
  "owner-id": "ownerId",
  "instance-match-criteria": "instanceMatchCriteria",
  "instance-type": "instanceType",
};

export function reservationsAnswer({ params }: AwsRequest, { reservations }: ShimTables): ShimAnswer {
  const ids = textsOf(params["CapacityReservationId"]);
  const missing = ids.find((id) => !reservations.some((row) => row["capacityReservationId"] === id));
  if (missing !== undefined) {
    return refused("InvalidCapacityReservationId.NotFound", `The capacity reservation '${missing}' does not exist`);
  }
  const capacityReservationSet = reservations
    .filter((row) => ids.length === 0 || ids.includes(String(row["capacityReservationId"])))
    .filter((row) => matchesFilters(row, filtersOf(params)));
  return { status: 200, body: ec2Answer("DescribeCapacityReservations", { capacityReservationSet }) };
}

export function placementGroupsAnswer({ params }: AwsRequest, { placementGroups }: ShimTables): ShimAnswer {
  const ids = textsOf(params["GroupId"]);
  const names = textsOf(params["GroupName"]);
  const placementGroupSet = placementGroups
    .filter((row) => ids.length === 0 || ids.includes(String(row["groupId"])))
    .filter((row) => names.length === 0 || names.includes(String(row["groupName"])))
    .filter((row) => matchesFilters(row, filtersOf(params)));
  const isMissing = placementGroupSet.length === 0 && ids.length + names.length > 0;
  if (isMissing) return refused("InvalidPlacementGroup.Unknown", "The placement group is unknown");
  return { status: 200, body: ec2Answer("DescribePlacementGroups", { placementGroupSet }) };
}

function matchesFilters(row: Row, filters: ReadonlyMap<string, readonly string[]>): boolean {
  return [...filters].every(([name, values]) => {
    const tags = (row["tagSet"] ?? []) as readonly { readonly key: string; readonly value: string }[];
    if (name === "tag-key") return tags.some(({ key }) => values.includes(key));
    const tag = /^tag:(.*)$/s.exec(name)?.[1];
    if (tag !== undefined) return tags.some(({ key, value }) => key === tag && values.includes(value));
    return values.includes(String(row[filterFields[name] ?? name]));
  });
}

/** Impaired instances by EC2's filters, which moto ignores. */
export function instanceStatusAnswer({ params }: AwsRequest, { impairments }: ShimTables): ShimAnswer {
  const filters = filtersOf(params);
  const wanted = impairments.filter(
    ({ kind, eventCode = "" }) =>
      (kind === "instance" && filters.has("instance-status.status")) ||
      (kind === "system" && filters.has("system-status.status")) ||
      (kind === "event" && (filters.get("event.code") ?? []).includes(eventCode)),
  );
  return { status: 200, body: ec2Answer("DescribeInstanceStatus", { instanceStatusSet: wanted.map(statusRow) }) };
}

function statusRow({ instanceId, kind, since, eventCode }: ShimImpairment): Row {
  const failed = { status: "impaired", details: [{ name: "reachability", status: "failed", impairedSince: since }] };
  const passed = { status: "ok", details: [{ name: "reachability", status: "passed" }] };
  return {
    instanceId,
    instanceState: { code: 16, name: "running" },
    instanceStatus: kind === "instance" ? failed : passed,
    systemStatus: kind === "system" ? failed : passed,
    eventsSet: kind === "event" ? [{ code: eventCode, description: "scheduled", notBefore: since }] : [],
  };
}

function refused(code: string, message: string): ShimAnswer {
  return { status: 400, body: ec2Refusal(code, message) };
}
