import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { nodeClassLabel } from "../../core/scenario/complete-machines.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, quietly } from "../writes.ts";
import { claimsIn, isManaged } from "./lookups.ts";
import { ownName } from "./triggers.ts";

/** Gives claims of older versions the label that says whose they are. (03:H-1) */
export function hydration(parts: Parts): Loop {
  return reconcileLoop({
    name: "nodeclaim.hydration",
    triggers: [on<NodeClaim>(custom.NodeClaim, ownName)],
    concurrency: workers({ min: 1_000, max: 5_000 }, parts.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const claim = claimsIn(world).get(name);
      if (claim === undefined || !isManaged(claim, parts.cloud)) return undefined;
      const { nodeClassRef } = claim.spec;
      const key = nodeClassLabel(nodeClassRef);
      if (claim.metadata.labels?.[key] === nodeClassRef.name) return undefined;
      const body = { metadata: { labels: { [key]: nodeClassRef.name } } };
      await patch(world.client, custom.NodeClaim, claim, { body });
      return undefined;
    }),
  });
}
