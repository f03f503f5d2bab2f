import type { NodePool } from "../../api/kinds/node-pool.ts";
import { resources } from "../../api/labels.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject } from "../writes.ts";
import { managedPool } from "./managed-pools.ts";

const periodMs = 5_000;
const unsyncedMs = 1_000;

/** Reported even if zero. */
const alwaysShownResources = [
  resources.cpu,
  resources.memory,
  resources.pods,
  resources.ephemeralStorage,
  resources.nodes,
];

/** Writes the resources of its nodes into the status of every pool. (03:P-1) */
export function poolCounterController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.counter",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, ({ object, old }) =>
        object && !old ? [object.metadata.name ?? ""] : [],
      ),
    ],
    reads: [{ of: "cluster state", withinMs: periodMs, because: "nodes change often and the count is for people" }],
    reconcile: async (name, context) => {
      const { cluster } = context;
      const pool = managedPool(name, context);
      if (pool === undefined) return undefined;
      // An incomplete state counts too little, and limits go by the count.
      if (!cluster.isSynced) return { afterMs: unsyncedMs };
      const status = countStatusOf(cluster.poolTotals(name));
      if (!isStatusCurrent(pool, status)) {
        const body = { status: { ...status, resources: { ...clearedResources(pool), ...status.resources } } };
        const patch = { body, subresource: "status" } as const;
        await ignoreKubeErrors(mergePatchObject(context.client, karpenterTypes.NodePool, pool, patch), "not-found");
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

/** A merge patch keeps what it does not name, so resources that no node has any more are set to null. */
function clearedResources({ status }: NodePool): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(status?.resources ?? {}).map((name) => [name, null]));
}
