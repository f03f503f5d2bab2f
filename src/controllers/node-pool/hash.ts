import { get } from "../../api/conditions/engine.ts";
import { hashStamps, nodePoolHashVersion, restamping } from "../../api/hash/drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import { claimsOfPool, indexMachines, isManaged } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, unless } from "../writes.ts";
import { itself, managedPool } from "./pools.ts";

/** Stamps pools with the hash of their template, by which claims of an older one are told. (03:P-2) */
export function poolHash({ cloud, settings }: Parts): Loop {
  return reconcileLoop({
    name: "nodepool.hash",
    concurrency: workers({ min: 10, max: 1_000 }, settings),
    triggers: [on<NodePool>(custom.NodePool, itself)],
    kinds: [custom.NodeClaim],
    prepare: indexMachines,
    reconcile: async (name, world) => {
      const pool = managedPool(name, world, cloud);
      if (pool === undefined) return undefined;
      const claims = claimsOfPool(name, world).filter((claim) => isManaged(claim, cloud));
      const stamps = restamping(hashStamps.nodePool, {
        hash: nodePoolHash(pool.spec.template),
        version: nodePoolHashVersion,
        owner: pool.metadata.annotations,
        claims: claims.map(stampOf),
      });
      // Claims first: the pool's own version says that all of them are done.
      await Promise.all(stamps.claims.map((claim) => annotate(world, custom.NodeClaim, claim)));
      if (stamps.owner) await annotate(world, custom.NodePool, { name, annotations: stamps.owner });
      return undefined;
    },
  });
}

function stampOf(claim: NodeClaim) {
  const { name = "", annotations } = claim.metadata;
  return { name, annotations, isDrifted: get(claim, "Drifted") !== undefined };
}

async function annotate(
  { client }: LoopWorld,
  type: ResourceType,
  { name, annotations }: { readonly name: string; readonly annotations: object },
): Promise<void> {
  const body = { metadata: { annotations } };
  await unless(patch(client, type, { metadata: { name } }, { body }), "not-found");
}
