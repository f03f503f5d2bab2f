import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { nodeClassLabel } from "../../core/scenario/complete-machines.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { claimOf, indexMachines, isManaged, type LiveNode, nodesIn, nodesOf } from "../node-claim/lookups.ts";
import { ownName } from "../node-claim/triggers.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, quietly } from "../writes.ts";

/** Gives Nodes of older versions the label that says whose they are. (03:H-1) */
export function hydration(parts: Parts): Loop {
  return reconcileLoop({
    name: "node.hydration",
    triggers: [
      on<LiveNode>(builtIn.Node, ownName),
      on<NodeClaim>(custom.NodeClaim, ({ object }, world) =>
        object === undefined ? [] : nodesOf(object, world).map(({ metadata }) => metadata.name ?? ""),
      ),
    ],
    concurrency: workers({ min: 1_000, max: 5_000 }, parts.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    prepare: indexMachines,
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const node = nodesIn(world).get(name);
      const claim = node && claimOf(node, world);
      if (node === undefined || claim === undefined || !isManaged(claim, parts.cloud)) return undefined;
      const { nodeClassRef } = claim.spec;
      const key = nodeClassLabel(nodeClassRef);
      if (node.metadata.labels?.[key] === nodeClassRef.name) return undefined;
      const body = { metadata: { labels: { [key]: nodeClassRef.name } } };
      await patch(world.client, builtIn.Node, node, { body });
      return undefined;
    }),
  });
}
