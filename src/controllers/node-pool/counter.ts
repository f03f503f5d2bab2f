import type { NodePool } from "../../api/kinds/node-pool.ts";
import { resources } from "../../api/labels.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { scaledConcurrency } from "../settings.ts";
import { ignoreKubeErrors, mergePatchObject } from "../writes.ts";
import { managedPool } from "./managed-pools.ts";

const periodMs = 5_000;
const unsyncedMs = 1_000;

/** Shown as zero rather than not at all. */
const alwaysShownResources = [
  resources.cpu,
  resources.memory,
  resources.pods,
  resources.ephemeralStorage,
  resources.nodes,
];

/** Says of every pool what its nodes hold. (03:P-1) */
export function poolCounterController({ cluster, cloud, settings }: ControllerDependencies): Controller {
  return reconcileController({
    name: "nodepool.counter",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, settings),
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, ({ object, old }) =>
        object && !old ? [object.metadata.name ?? ""] : [],
      ),
    ],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context, cloud);
      if (pool === undefined) return undefined;
      // Of half a cluster we would count too little, and limits go by the count.
      if (!cluster.isSynced) return { afterMs: unsyncedMs };
      const status = countStatusOf(cluster.poolTotals(name));
      if (!isStatusCurrent(pool, status)) {
        const body = { status: { ...status, resources: { ...clearedResources(pool), ...status.resources } } };
        await ignoreKubeErrors(
          mergePatchObject(context.client, karpenterTypes.NodePool, pool, { body, subresource: "status" }),
          "not-found",
        );
      }
      return { afterMs: periodMs };
    },
  });
}

interface PoolCountStatus {
  readonly resources: Readonly<Record<string, string>>;
  readonly nodes: number;
}

function countStatusOf(totals: Resources): PoolCountStatus {
  const names = [...new Set([...alwaysShownResources, ...Object.keys(totals)])];
  return {
    resources: Object.fromEntries(names.map((name) => [name, amountOf(totals, name).canonical()])),
    nodes: Math.ceil(amountOf(totals, resources.nodes).toNumber()),
  };
}

function isStatusCurrent({ status }: NodePool, count: PoolCountStatus): boolean {
  const known = status?.resources ?? {};
  const names = Object.keys(count.resources);
  return (
    status?.nodes === count.nodes &&
    names.length === Object.keys(known).length &&
    names.every((name) => Quantity.tryParse(known[name] ?? "")?.canonical() === count.resources[name])
  );
}

/** A merge patch keeps what it does not name: resources no node has any more must be named. */
function clearedResources({ status }: NodePool): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(status?.resources ?? {}).map((name) => [name, null]));
}
