import { Agent, request as httpsRequest } from "node:https";
import { isRecord, type KubeObject } from "../../src/api/object.ts";
import { eventually } from "./eventually.ts";

/** Where an API server is and how to be let in. */
export interface Connection {
  readonly url: string;
  /** PEM of the authority that signed its certificate. */
  readonly ca: string;
  readonly token: string;
}

export interface Reply {
  readonly status: number;
  /** The parsed JSON, or the text when it is not JSON. */
  readonly body: unknown;
}

interface RequestOptions {
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A small JSON client over HTTPS for tests, with kept-alive sockets; any status is a reply, only the network throws. */
export interface Kube {
  readonly request: (method: Method, path: string, body?: unknown, options?: RequestOptions) => Promise<Reply>;
  readonly close: () => void;
}

export function connect({ url, ca, token }: Connection): Kube {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca });
  return {
    request: (method, path, body, options = {}) => {
      const target = new URL(path, url);
      for (const [name, value] of Object.entries(options.query ?? {})) target.searchParams.set(name, String(value));
      return exchange({ agent, method, target, token, body, contentType: options.contentType ?? "application/json" });
    },
    close: () => agent.destroy(),
  };
}

interface Exchange {
  readonly agent: Agent;
  readonly method: Method;
  readonly target: URL;
  readonly token: string;
  readonly body: unknown;
  readonly contentType: string;
}

function exchange({ agent, method, target, token, body, contentType }: Exchange): Promise<Reply> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    ...(payload === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
  };
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(target, { agent, method, headers, timeout: 30_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString("utf8")) }),
      );
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`${method} ${target.pathname}: no response within 30 s`)));
    sent.on("error", reject);
    sent.end(payload);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The fields of a CustomResourceDefinition that name where its objects are served. */
export interface Crd {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates the definitions, or replaces those that exist, and waits until every served version answers. */
export async function applyCrds(connection: Connection, crds: readonly Crd[]): Promise<void> {
  await withKube(connection, async (kube) => {
    await Promise.all(crds.map((crd) => createOrReplace(kube, crd)));
    await Promise.all(crds.map((crd) => untilServed(kube, crd)));
  });
}

async function createOrReplace(kube: Kube, crd: Crd): Promise<void> {
  const created = await kube.request("POST", crdsPath, crd);
  if (created.status !== 409) return succeeded(created, `creating ${crd.metadata.name}`);
  const path = `${crdsPath}/${crd.metadata.name}`;
  // The API server writes the status meanwhile: read and replace again when it was quicker.
  const replaced = await eventually(`replacing ${crd.metadata.name}`, async () => {
    const { metadata } = (await kube.request("GET", path)).body as KubeObject;
    const resourceVersion = metadata.resourceVersion;
    const reply = await kube.request("PUT", path, { ...crd, metadata: { ...crd.metadata, resourceVersion } });
    return reply.status === 409 ? undefined : reply;
  });
  succeeded(replaced, `replacing ${crd.metadata.name}`);
}

async function untilServed(kube: Kube, { metadata, spec }: Crd): Promise<void> {
  await eventually(`${metadata.name} is established`, async () => {
    const { body } = await kube.request("GET", `${crdsPath}/${metadata.name}`);
    return hasCondition(body, "Established") || undefined;
  });
  for (const version of spec.versions.filter(({ served }) => served)) {
    const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}`;
    await eventually(`${path} is served`, async () => (await kube.request("GET", path)).status === 200 || undefined);
  }
}

/** True when the object's status carries the condition with status "True". */
function hasCondition(object: unknown, type: string): boolean {
  const status = isRecord(object) ? object.status : undefined;
  const conditions = isRecord(status) ? status.conditions : undefined;
  if (!Array.isArray(conditions)) return false;
  return conditions.some((one: unknown) => isRecord(one) && one.type === type && one.status === "True");
}

/**
 * Deletes every object of a collection, in all namespaces when the path names none, and waits until it is empty.
 * Finalizers are taken off: the controller that would honour them need not be running.
 */
export async function deleteAll(connection: Connection, collection: string): Promise<void> {
  await withKube(connection, (kube) =>
    eventually(`${collection} is empty`, async () => {
      const left = itemsOf((await kube.request("GET", collection)).body);
      await Promise.all(left.map((object) => remove(kube, pathOf(object, collection), object)));
      return left.length === 0 || undefined;
    }),
  );
}

async function remove(kube: Kube, path: string, { metadata }: KubeObject): Promise<void> {
  // Also what is on its way out: a pod may be waiting for a kubelet that is no more.
  await kube.request("DELETE", path, undefined, { query: { gracePeriodSeconds: 0 } });
  if (metadata.deletionTimestamp !== undefined && metadata.finalizers !== undefined) {
    const bare = { metadata: { finalizers: null } };
    await kube.request("PATCH", path, bare, { contentType: "application/merge-patch+json" });
  }
}

/** The items of a list reply. */
export function itemsOf(list: unknown): readonly KubeObject[] {
  if (!isRecord(list) || !Array.isArray(list.items)) throw new Error(`not a list: ${JSON.stringify(list)}`);
  return list.items as readonly KubeObject[];
}

function pathOf({ metadata }: KubeObject, collection: string): string {
  if (metadata.namespace === undefined || collection.includes("/namespaces/")) return `${collection}/${metadata.name}`;
  const plural = collection.slice(collection.lastIndexOf("/"));
  return `${collection.slice(0, -plural.length)}/namespaces/${metadata.namespace}${plural}/${metadata.name}`;
}

function succeeded({ status, body }: Reply, what: string): void {
  if (status >= 300) throw new Error(`${what}: ${status} ${isRecord(body) ? body.message : body}`);
}

async function withKube<T>(connection: Connection, work: (kube: Kube) => Promise<T>): Promise<T> {
  const kube = connect(connection);
  try {
    return await work(kube);
  } finally {
    kube.close();
  }
}
