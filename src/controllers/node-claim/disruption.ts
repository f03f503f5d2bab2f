import { isDeepStrictEqual } from "node:util";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type Loop, type LoopWorld, on, reconcileLoop, type Trigger } from "../../kube/loop.ts";
import { Recently } from "../../kube/recently.ts";
import { custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { quietly } from "../writes.ts";
import { markConsolidatable } from "./consolidatable.ts";
import { markDrifted } from "./drifted.ts";
import { claimsIn, claimsOfPool, indexMachines, isManaged, poolOf } from "./lookups.ts";
import { sceneOf } from "./scene.ts";
import { inSteps } from "./steps.ts";
import { ownName } from "./triggers.ts";

const controller = "nodeclaim.disruption";

/**
 * Marks claims that may be disrupted; disrupting them is others' work. (03 §1.10) No pod wakes it: what pods do reaches
 * it through the claim's `lastPodEventTime`.
 */
export function disruptionMarkers(parts: Parts): Loop {
  const foundIn = memory((world) => new Recently<true>(world.clock));
  return reconcileLoop({
    name: controller,
    triggers: [
      on<NodeClaim>(custom.NodeClaim, ownName),
      on<NodePool>(custom.NodePool, claimsOfChangedPool),
      ...parts.cloud.nodeClasses.map(claimsOfClass),
    ],
    prepare: indexMachines,
    concurrency: workers({ min: 10, max: 1_000 }, parts.settings),
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const claim = claimsIn(world).get(name);
      if (claim === undefined || !isManaged(claim, parts.cloud)) return undefined;
      const pool = poolOf(claim, world);
      if (pool === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
      const scene = { ...sceneOf(claim, { controller, world, parts }), pool, found: foundIn(world) };
      const drifted = (current: NodeClaim) => markDrifted(current, scene);
      const consolidatable = async (current: NodeClaim) => markConsolidatable(current, pool, scene);
      return inSteps(claim, { client: world.client, steps: [drifted, consolidatable] });
    }),
  });
}

/** What a pool counts in its status concerns no claim. */
function claimsOfChangedPool({ object, old }: Change<NodePool>, world: LoopWorld): readonly string[] {
  if (object === undefined) return [];
  const isSame =
    old !== undefined &&
    old.metadata.generation === object.metadata.generation &&
    isDeepStrictEqual(old.metadata.annotations, object.metadata.annotations);
  return isSame ? [] : claimsOfPool(object.metadata.name ?? "", world).map(nameOf);
}

function claimsOfClass(type: ResourceType): Trigger {
  return on<KubeObject>(type, ({ object, old }, world) => {
    const name = (object ?? old)?.metadata.name;
    return claimsIn(world)
      .all()
      .filter(
        ({ spec: { nodeClassRef: ref } }) => ref.name === name && ref.kind === type.kind && ref.group === type.group,
      )
      .map(nameOf);
  });
}

function nameOf({ metadata }: NodeClaim): string {
  return metadata.name ?? "";
}
