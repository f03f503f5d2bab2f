import { isRecord } from "../api/object.ts";
import type { ResourceType } from "./client.ts";
import { KubeError } from "./kube-error.ts";
import { type HttpClientOptions, RestClient } from "./rest-client.ts";

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
}

/** No object, but asked for like one; metrics name it so. */
const versionType: ResourceType = { group: "", version: "", kind: "Version", plural: "version", namespaced: false };

/** Asks an API server for its version. */
export async function readServerVersion(options: HttpClientOptions): Promise<ServerVersion> {
  return parseServerVersion(await new RestClient(options).json({ type: versionType, method: "GET", path: "/version" }));
}

/** Clouds append to the minor version: `35+`. */
export function parseServerVersion(body: unknown): ServerVersion {
  const { major, minor } = isRecord(body) ? body : {};
  const [first, second] = [major, minor].map((part) => Number.parseInt(String(part), 10));
  if (first === undefined || second === undefined || Number.isNaN(first) || Number.isNaN(second))
    throw new KubeError("server-error", `the API server does not report its version: ${JSON.stringify(body)}`);
  return { major: first, minor: second };
}
