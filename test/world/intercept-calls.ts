import type { DeleteOptions, KubeClient, ResourceType } from "../../src/kube/client.ts";

/** A call on its way to the API server. */
export interface ClientCall {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "delete";
  readonly type: ResourceType;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
  /** The object or patch that is written, or the options of a deletion. */
  readonly body?: unknown;
  readonly deletion?: DeleteOptions | undefined;
  /** Past the interception. */
  readonly client: KubeClient;
}

/** Makes the call, or does something else. */
export type Intercept = <T>(call: ClientCall, proceed: () => Promise<T>) => Promise<T>;

/** A client whose calls go through a function; watches go past it. */
export function interceptCalls(client: KubeClient, intercept: Intercept): KubeClient {
  return {
    watch: (type, options) => client.watch(type, options),
    get: (type, key) => intercept({ verb: "get", client, type, ...key }, () => client.get(type, key)),
    list: (type, options) => intercept({ verb: "list", client, type, name: "" }, () => client.list(type, options)),
    create: (type, object, options) => {
      const { name = object.metadata.name ?? "", subresource } = options ?? {};
      const call = {
        verb: "create",
        client,
        type,
        name,
        namespace: object.metadata.namespace,
        subresource,
        body: object,
      } as const;
      return intercept(call, () => client.create(type, object, options));
    },
    update: (type, object, options) => {
      const { name = "", namespace } = object.metadata;
      const call = {
        verb: "update",
        client,
        type,
        name,
        namespace,
        subresource: options?.subresource,
        body: object,
      } as const;
      return intercept(call, () => client.update(type, object, options));
    },
    patch: (type, key, patch, options) => {
      const call = {
        verb: "patch",
        client,
        type,
        ...key,
        subresource: options?.subresource,
        body: patch.body,
      } as const;
      return intercept(call, () => client.patch(type, key, patch, options));
    },
    delete: (type, key, options) =>
      intercept({ verb: "delete", client, type, ...key, body: options, deletion: options }, () =>
        client.delete(type, key, options),
      ),
  };
}

/** A client that tells of every write before it is made; what it throws fails the write. */
export function beforeWrites(
  tell: (call: ClientCall) => Promise<unknown> | unknown,
): (client: KubeClient) => KubeClient {
  return (client) =>
    interceptCalls(client, async (call, proceed) => {
      if (call.verb !== "get" && call.verb !== "list") await tell(call);
      return proceed();
    });
}
