import type { IncomingMessage } from "node:http";

/** A request of an AWS SDK, as far as one must read it to know what it asks for. */
export interface AwsRequest {
  /** As in the scope of the signature: `ec2`, `iam`, `sqs`. */
  readonly service: string;
  readonly region: string;
  /** Empty for services that are plain REST, where the path says it. */
  readonly action: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The parameters, nested: of a form or of JSON. */
  readonly params: AwsParams;
}

/** Parameters by name. Lists of forms are objects with the keys 1, 2, ... */
export interface AwsParams {
  readonly [name: string]: AwsParam;
}
export type AwsParam = string | number | boolean | null | AwsParams | readonly AwsParam[];

export async function readAwsRequest(incoming: IncomingMessage): Promise<AwsRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString("utf8");
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(",") : (value ?? ""),
    ]),
  );
  const [, , region = "us-east-1", service = ""] =
    /Credential=([^/]*)\/[^/]*\/([^/]*)\/([^/]*)\/aws4_request/.exec(headers["authorization"] ?? "") ?? [];
  const target = headers["x-amz-target"]?.split(".").at(-1);
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") ?? false;
  const params = isForm ? nestedForm(body) : jsonParams(body);
  return {
    service,
    region,
    action: target ?? (typeof params["Action"] === "string" ? params["Action"] : ""),
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers,
    body,
    params,
  };
}

function jsonParams(body: string): AwsParams {
  try {
    return body === "" ? {} : (JSON.parse(body) as AwsParams);
  } catch {
    return {};
  }
}

/** `Filter.1.Name=x` becomes `{Filter: {1: {Name: "x"}}}`. */
function nestedForm(body: string): AwsParams {
  const root: MutableParams = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const parts = name.split(".");
    let at = root;
    for (const part of parts.slice(0, -1)) {
      const next = at[part];
      at = at[part] = typeof next === "object" ? next : {};
    }
    at[parts.at(-1) ?? ""] = value;
  }
  return root as AwsParams;
}

interface MutableParams {
  [name: string]: string | MutableParams;
}

/** Back to a form. */
export function formOf(params: AwsParams): string {
  const form = new URLSearchParams();
  const add = (value: AwsParam, name: string): void => {
    if (value === null || typeof value !== "object") form.append(name, String(value));
    else for (const [key, inner] of Object.entries(value)) add(inner, name === "" ? key : `${name}.${key}`);
  };
  add(params, "");
  return form.toString();
}

/** The entries of a list in a form, in order. */
export function listOf(value: AwsParam | undefined): readonly AwsParam[] {
  if (value === undefined || value === null || typeof value !== "object") return [];
  return Object.entries(value)
    .sort(([left], [right]) => Number(left) - Number(right))
    .map(([, entry]) => entry);
}

/** Entries as a list in a form. */
export function numbered(entries: readonly AwsParam[]): AwsParams {
  return Object.fromEntries(entries.map((entry, index) => [String(index + 1), entry]));
}

/** The texts of a list in a form: `CapacityReservationId.1`. */
export function textsOf(value: AwsParam | undefined): readonly string[] {
  return listOf(value).map(String);
}

export function textOf(params: AwsParam | undefined, name: string): string | undefined {
  const value = isParams(params) ? params[name] : undefined;
  return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
}

export function isParams(value: AwsParam | undefined): value is AwsParams {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The filters of a request to EC2: values by name. */
export function filtersOf(params: AwsParams): ReadonlyMap<string, readonly string[]> {
  return new Map(
    listOf(params["Filter"]).map((filter) => [
      textOf(filter, "Name") ?? "",
      textsOf(isParams(filter) ? filter["Value"] : undefined),
    ]),
  );
}
