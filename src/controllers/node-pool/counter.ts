import type { NodePool } from "../../api/kinds/node-pool.ts";
import { resources } from "../../api/labels.ts";
import { amount, type Resources } from "../../core/resources.ts";
import { type Loop, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, unless } from "../writes.ts";
import { managedPool } from "./pools.ts";

const periodMs = 5_000;
const unsyncedMs = 1_000;

/** Shown as zero rather than not at all. */
const counted = [resources.cpu, resources.memory, resources.pods, resources.ephemeralStorage, resources.nodes];

/** Says of every pool what its nodes hold. (03:P-1) */
export function poolCounter({ cluster, cloud, settings }: Parts): Loop {
  return reconcileLoop({
    name: "nodepool.counter",
    concurrency: workers({ min: 10, max: 1_000 }, settings),
    triggers: [
      on<NodePool>(custom.NodePool, ({ object, old }) => (object && !old ? [object.metadata.name ?? ""] : [])),
    ],
    reconcile: async (name, world) => {
      const pool = managedPool(name, world, cloud);
      if (pool === undefined) return undefined;
      // Of half a cluster we would count too little, and limits go by the count.
      if (!cluster.isSynced) return { afterMs: unsyncedMs };
      const status = countOf(cluster.poolTotals(name));
      if (!isCounted(pool, status)) {
        const body = { status: { ...status, resources: { ...cleared(pool), ...status.resources } } };
        await unless(patch(world.client, custom.NodePool, pool, { body, subresource: "status" }), "not-found");
      }
      return { afterMs: periodMs };
    },
  });
}

interface Count {
  readonly resources: Readonly<Record<string, string>>;
  readonly nodes: number;
}

function countOf(totals: Resources): Count {
  const names = [...new Set([...counted, ...Object.keys(totals)])];
  return {
    resources: Object.fromEntries(names.map((name) => [name, amount(totals, name).canonical()])),
    nodes: Math.ceil(amount(totals, resources.nodes).toNumber()),
  };
}

function isCounted({ status }: NodePool, count: Count): boolean {
  const known = status?.resources ?? {};
  const names = Object.keys(count.resources);
  return (
    status?.nodes === count.nodes &&
    names.length === Object.keys(known).length &&
    names.every((name) => Quantity.tryParse(known[name] ?? "")?.canonical() === count.resources[name])
  );
}

/** A merge patch keeps what it does not name: resources no node has any more must be named. */
function cleared({ status }: NodePool): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(status?.resources ?? {}).map((name) => [name, null]));
}
