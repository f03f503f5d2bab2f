import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Controller, reconcileController } from "../../kube/controller.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { listAllPages } from "../../kube/list-all-pages.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";

export type KwokNode = KubeObject & Node;

/** KWOK instances: plain Node objects. (02:K-7, K-10) */
export interface KwokNodes {
  /** The Node is created after a delay. */
  create(node: KwokNode, options: { readonly afterMs: number }): void;
  /** Includes Nodes yet to be created; leaves out those being deleted. */
  list(): AsyncIterable<KwokNode>;
  find(name: string): Promise<KwokNode | undefined>;
  /** Throws not-found if there is none; a Node of this name with another provider id is none. */
  delete(name: string): Promise<void>;
  readonly controllers: readonly Controller[];
}

export const kwokScheme = "kwok://";

export function kwokProviderId(name: string): string {
  return `${kwokScheme}${name}`;
}

/** The node name in a provider id; undefined if it is not KWOK's. */
export function kwokNodeName(providerId: string): string | undefined {
  return providerId.startsWith(kwokScheme) ? providerId.slice(kwokScheme.length) : undefined;
}

interface PendingNode {
  readonly node: KwokNode;
  readonly dueAt: number;
}

/** Creates Nodes as upstream's KWOK provider does: the cluster's kwok controller plays their kubelets. */
export function kwokNodes({ client, clock }: { readonly client: KubeClient; readonly clock: Clock }): KwokNodes {
  const pending = new Map<string, PendingNode>();
  let enqueueNode: (name: string) => void = () => {};

  const findExisting = async (name: string): Promise<KwokNode | undefined> => {
    const node = await ignoreKubeErrors(client.get<KwokNode>(builtInTypes.Node, { name }), "not-found");
    return node !== undefined && isInstance(node, name) ? node : undefined;
  };
  const createWhenDue = async (name: string) => {
    const next = pending.get(name);
    if (next === undefined) return undefined;
    const leftMs = next.dueAt - clock.now();
    if (leftMs > 0) return { afterMs: leftMs };
    await ignoreKubeErrors(client.create(builtInTypes.Node, next.node), "already-exists");
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
      const before = [...pending]; // a Node created while we list may be in none of its pages
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
      if (node === undefined) return;
      const { uid } = node.metadata;
      const deleted = client.delete(builtInTypes.Node, { name }, uid ? { preconditions: { uid } } : {});
      await ignoreKubeErrors(deleted, "not-found");
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

/** A Node of the same name that someone else created is not our instance. (02:K-10) */
function isInstance(node: KwokNode, name: string): boolean {
  return isKwokNode(node) && node.spec?.providerID === kwokProviderId(name);
}

/** A Node being deleted counts as gone. (02:K-10) */
function isKwokNode({ metadata, spec }: KwokNode): boolean {
  return metadata.deletionTimestamp === undefined && kwokNodeName(spec?.providerID ?? "") !== undefined;
}
