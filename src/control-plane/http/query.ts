import { isRecord } from "../../api/object.ts";
import type { DeleteOptions, WriteOptions } from "../../kube/client.ts";
import { badRequest } from "../api/api-errors.ts";
import type { ListRequest } from "../api/list-page.ts";
import type { WatchRequest } from "../api/server-watch.ts";
import type { LogRequest } from "../api/subresources/log.ts";

export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && text !== "false" && text !== "0" && text !== "";
}

function textParameter(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) ?? undefined;
}

function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const written = query.get(name);
  if (written === null || written === "") return undefined;
  if (!/^-?\d{1,15}$/.test(written))
    throw badRequest(`${name} is not an integer: ${JSON.stringify(written.slice(0, 40))}`);
  return Number(written);
}

function selectionParameters(query: URLSearchParams, namespace: string | undefined) {
  return {
    namespace,
    labelSelector: textParameter(query, "labelSelector"),
    fieldSelector: textParameter(query, "fieldSelector"),
  };
}

const matches = ["Exact", "NotOlderThan"] as const;

export function listRequest(query: URLSearchParams, namespace: string | undefined): ListRequest {
  return {
    ...selectionParameters(query, namespace),
    limit: integerParameter(query, "limit"),
    continue: textParameter(query, "continue"),
    resourceVersion: textParameter(query, "resourceVersion"),
    resourceVersionMatch: oneOf(query, "resourceVersionMatch", matches),
  };
}

export function watchRequest(query: URLSearchParams, namespace: string | undefined): WatchRequest {
  return {
    ...selectionParameters(query, namespace),
    resourceVersion: textParameter(query, "resourceVersion"),
    allowWatchBookmarks: booleanParameter(query, "allowWatchBookmarks"),
    timeoutSeconds: integerParameter(query, "timeoutSeconds"),
    sendInitialEvents: query.has("sendInitialEvents") ? booleanParameter(query, "sendInitialEvents") : undefined,
  };
}

export function logRequest(query: URLSearchParams): LogRequest {
  const sinceTime = Date.parse(query.get("sinceTime") ?? "");
  return {
    ...(!Number.isNaN(sinceTime) && { sinceTime }),
    container: textParameter(query, "container"),
    follow: booleanParameter(query, "follow"),
    previous: booleanParameter(query, "previous"),
    timestamps: booleanParameter(query, "timestamps"),
    tailLines: integerParameter(query, "tailLines"),
    limitBytes: integerParameter(query, "limitBytes"),
    sinceSeconds: integerParameter(query, "sinceSeconds"),
  };
}

const validations = ["Ignore", "Warn", "Strict"] as const;

/** The write options of a query. */
export function writeOptions(query: URLSearchParams): Omit<WriteOptions, "subresource"> {
  return {
    dryRun: isDryRun(query.getAll("dryRun")),
    fieldManager: textParameter(query, "fieldManager"),
    fieldValidation: oneOf(query, "fieldValidation", validations),
  };
}

function isDryRun(values: readonly unknown[]): boolean {
  const requested = values.filter((value) => value !== "");
  const wrong = requested.find((value) => value !== "All");
  if (wrong !== undefined) throw badRequest(`Invalid value: ${JSON.stringify(wrong)}: dryRun: supported values: "All"`);
  return requested.length > 0;
}

function oneOf<T extends string>(query: URLSearchParams, name: string, known: readonly T[]): T | undefined {
  const written = query.get(name);
  if (written === null || written === "") return undefined;
  const found = known.find((value) => value === written);
  if (found !== undefined) return found;
  const choices = known.map((value) => JSON.stringify(value)).join(", ");
  throw badRequest(`${name}: Unsupported value: ${JSON.stringify(written.slice(0, 40))}: supported values: ${choices}`);
}

const propagations = ["Background", "Foreground", "Orphan"] as const;

/** Delete options of the body, then of the query. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const sent = isRecord(body) ? body : {};
  const policy = sent["propagationPolicy"] ?? textParameter(query, "propagationPolicy");
  const orphan =
    sent["orphanDependents"] ??
    (query.has("orphanDependents") ? booleanParameter(query, "orphanDependents") : undefined);
  const dryRun = Array.isArray(sent["dryRun"]) ? sent["dryRun"] : query.getAll("dryRun");
  return {
    dryRun: isDryRun(dryRun),
    propagation: policy === undefined ? orphaning(orphan) : propagation(policy),
    gracePeriodSeconds: gracePeriod(sent["gracePeriodSeconds"]) ?? integerParameter(query, "gracePeriodSeconds"),
    preconditions: preconditions(sent["preconditions"]),
  };
}

function orphaning(orphan: unknown): "Orphan" | "Background" | undefined {
  return orphan === undefined ? undefined : orphan === true ? "Orphan" : "Background";
}

function propagation(policy: unknown): DeleteOptions["propagation"] {
  const found = propagations.find((value) => value === policy);
  if (found !== undefined) return found;
  throw badRequest(`propagationPolicy: Unsupported value: ${JSON.stringify(policy)?.slice(0, 40)}`);
}

function gracePeriod(seconds: unknown): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && Number.isSafeInteger(seconds)) return seconds;
  throw badRequest("gracePeriodSeconds is not an integer");
}

function preconditions(sent: unknown): DeleteOptions["preconditions"] {
  if (!isRecord(sent)) return undefined;
  const { uid, resourceVersion } = sent;
  return {
    ...(typeof uid === "string" && { uid }),
    ...(typeof resourceVersion === "string" && { resourceVersion }),
  };
}
