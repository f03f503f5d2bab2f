import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Controller, reconcileController } from "../../kube/controller.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { listAllPages } from "../../kube/list-all-pages.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";

export type KwokNode = KubeObject & Node;

/** Machines that are nothing but Node objects. (02:K-7, K-10) */
export interface KwokNodes {
  /** The Node appears after a while. */
  create(node: KwokNode, options: { readonly afterMs: number }): void;
  /** Those that are not on their way out, also such as are yet to appear. */
  list(): AsyncIterable<KwokNode>;
  find(name: string): Promise<KwokNode | undefined>;
  /** Not found once it is gone. */
  delete(name: string): Promise<void>;
  readonly controllers: readonly Controller[];
}

const scheme = "kwok://";

export function kwokProviderId(name: string): string {
  return `${scheme}${name}`;
}

/** The name of the node a provider id means, if it is one of ours. */
export function kwokNodeName(providerId: string): string | undefined {
  return providerId.startsWith(scheme) ? providerId.slice(scheme.length) : undefined;
}

interface PendingNode {
  readonly node: KwokNode;
  readonly dueAt: number;
}

/** Nodes as upstream's KWOK provider makes them: the kwok controller of a cluster brings them to life. */
export function kwokNodes({ client, clock }: { readonly client: KubeClient; readonly clock: Clock }): KwokNodes {
  const pending = new Map<string, PendingNode>();
  let enqueueNode: (name: string) => void = () => {};

  const findExisting = async (name: string): Promise<KwokNode | undefined> => {
    const node = await ignoreNotFound(client.get<KwokNode>(builtInTypes.Node, { name }));
    return node !== undefined && isKwokNode(node) ? node : undefined;
  };
  const createWhenDue = async (name: string) => {
    const next = pending.get(name);
    if (next === undefined) return undefined;
    const leftMs = next.dueAt - clock.now();
    if (leftMs > 0) return { afterMs: leftMs };
    await ignoreAlreadyExists(client.create(builtInTypes.Node, next.node));
    pending.delete(name);
    return undefined;
  };

  return {
    create: (node, { afterMs }) => {
      const { name = "" } = node.metadata;
      pending.set(name, { node, dueAt: clock.now() + afterMs });
      enqueueNode(name);
    },
    find: async (name) => pending.get(name)?.node ?? (await findExisting(name)),
    list: async function* () {
      const before = [...pending]; // those that appear while we list may be in none of its pages
      const listed = new Set<string | undefined>();
      for await (const page of listAllPages<KwokNode>(client, builtInTypes.Node)) {
        for (const node of page) {
          listed.add(node.metadata.name);
          if (isKwokNode(node)) yield node;
        }
      }
      for (const [name, { node }] of new Map([...before, ...pending])) if (!listed.has(name)) yield node;
    },
    delete: async (name) => {
      const wasPending = pending.delete(name);
      const node = await findExisting(name);
      if (node === undefined && !wasPending) throw new CloudError("not-found", `no node ${name}`);
      const { uid } = node?.metadata ?? {};
      if (node !== undefined)
        await ignoreNotFound(client.delete(builtInTypes.Node, { name }, uid ? { preconditions: { uid } } : {}));
    },
    controllers: [
      reconcileController({
        name: "kwok.nodes",
        triggers: [],
        concurrency: 10,
        subscribe: (enqueue) => {
          enqueueNode = enqueue;
          for (const name of pending.keys()) enqueue(name);
          return () => {
            enqueueNode = () => {};
          };
        },
        reconcile: createWhenDue,
      }),
    ],
  };
}

/** A Node on its way out counts as gone. (02:K-10) */
function isKwokNode({ metadata, spec }: KwokNode): boolean {
  return metadata.deletionTimestamp === undefined && kwokNodeName(spec?.providerID ?? "") !== undefined;
}

async function ignoreNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

async function ignoreAlreadyExists(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}
