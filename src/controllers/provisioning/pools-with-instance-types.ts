import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import { byPrecedence } from "../../api/validation/precedence.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { selectUsablePools } from "../../core/round/usable-pools.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { logReference } from "./log-text.ts";

/** Usable pools with their instance types, by weight. (02:P-33, P-34) */
export async function poolsWithInstanceTypes({ cloud, log, view }: KarpenterContext): Promise<readonly Pool[]> {
  const nodePools = view<KubeObject & NodePool>(karpenterTypes.NodePool).all();
  const { usable, unusable } = selectUsablePools(nodePools, cloud.nodeClasses);
  for (const { pool, because } of unusable) {
    if (because !== "not-ready") continue;
    log.error("ignoring nodepool, not ready", { NodePool: logReference(pool.metadata) });
  }
  const pools: Pool[] = [];
  for (const nodePool of [...usable].sort(byPrecedence)) {
    pools.push({ nodePool, instanceTypes: await instanceTypesFor(nodePool, { cloud, log }) });
  }
  return pools;
}

/** The pass drops a pool without types, which then gets an event. (02:P-34, T-6) */
export async function instanceTypesFor(
  nodePool: NodePool,
  { cloud, log }: Pick<KarpenterContext, "cloud" | "log">,
): Promise<readonly InstanceType[]> {
  const about = { NodePool: logReference(nodePool.metadata) };
  try {
    const types = await cloud.instanceTypes(nodePool);
    if (types.length === 0) log.info("skipping, no resolved instance types found", about);
    return types;
  } catch (error) {
    if (isTimeout(error)) throw new Error("getting instance types", { cause: error });
    if (isCloudError(error, "unevaluated")) log.debug("skipping, awaiting nodeoverlay evaluation", about);
    else log.error("skipping, unable to resolve instance types", { ...about, error });
    return [];
  }
}

/** The pool's types are unknown: a round without them could launch the wrong instances. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
}
