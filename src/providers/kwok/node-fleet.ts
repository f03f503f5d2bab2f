import type { Node } from "../../api/kubernetes/cluster.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/error.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import { type Loop, reconcileLoop } from "../../kube/loop.ts";
import { pages } from "../../kube/pages.ts";
import { builtIn } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";

export type FleetNode = KubeObject & Node;

/** Machines that are nothing but Node objects. (02:K-7, K-10) */
export interface Fleet {
  /** The Node appears after a while. */
  start(node: FleetNode, options: { readonly afterMs: number }): void;
  /** Those that are not on their way out, also such as are yet to appear. */
  all(): AsyncIterable<FleetNode>;
  find(name: string): Promise<FleetNode | undefined>;
  /** Not found once it is gone. */
  stop(name: string): Promise<void>;
  readonly loops: readonly Loop[];
}

const scheme = "kwok://";

export function kwokProviderId(name: string): string {
  return `${scheme}${name}`;
}

/** The name of the node a provider id means, if it is one of ours. */
export function kwokNodeName(providerId: string): string | undefined {
  return providerId.startsWith(scheme) ? providerId.slice(scheme.length) : undefined;
}

interface Pending {
  readonly node: FleetNode;
  readonly dueAt: number;
}

/** Nodes as upstream's KWOK provider makes them: the kwok controller of a cluster brings them to life. */
export function nodeFleet({ client, clock }: { readonly client: KubeClient; readonly clock: Clock }): Fleet {
  const pending = new Map<string, Pending>();
  let wake: (name: string) => void = () => {};

  const live = async (name: string): Promise<FleetNode | undefined> => {
    const node = await orUndefined(client.get<FleetNode>(builtIn.Node, { name }));
    return node !== undefined && isOurs(node) ? node : undefined;
  };
  const launch = async (name: string) => {
    const next = pending.get(name);
    if (next === undefined) return undefined;
    const leftMs = next.dueAt - clock.now();
    if (leftMs > 0) return { afterMs: leftMs };
    await unlessThere(client.create(builtIn.Node, next.node));
    pending.delete(name);
    return undefined;
  };

  return {
    start: (node, { afterMs }) => {
      const { name = "" } = node.metadata;
      pending.set(name, { node, dueAt: clock.now() + afterMs });
      wake(name);
    },
    find: async (name) => pending.get(name)?.node ?? (await live(name)),
    all: async function* () {
      const before = [...pending]; // those that appear while we list may be in none of its pages
      const listed = new Set<string | undefined>();
      for await (const page of pages<FleetNode>(client, builtIn.Node)) {
        for (const node of page) {
          listed.add(node.metadata.name);
          if (isOurs(node)) yield node;
        }
      }
      for (const [name, { node }] of new Map([...before, ...pending])) if (!listed.has(name)) yield node;
    },
    stop: async (name) => {
      const wasComing = pending.delete(name);
      const node = await live(name);
      if (node === undefined && !wasComing) throw new CloudError("not-found", `no node ${name}`);
      const { uid } = node?.metadata ?? {};
      if (node !== undefined)
        await orUndefined(client.delete(builtIn.Node, { name }, uid ? { preconditions: { uid } } : {}));
    },
    loops: [
      reconcileLoop({
        name: "kwok.nodes",
        triggers: [],
        concurrency: 10,
        wake: (enqueue) => {
          wake = enqueue;
          for (const name of pending.keys()) enqueue(name);
          return () => {
            wake = () => {};
          };
        },
        reconcile: launch,
      }),
    ],
  };
}

/** A Node on its way out counts as gone. (02:K-10) */
function isOurs({ metadata, spec }: FleetNode): boolean {
  return metadata.deletionTimestamp === undefined && kwokNodeName(spec?.providerID ?? "") !== undefined;
}

async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

async function unlessThere(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}
