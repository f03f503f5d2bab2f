import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { Recently } from "../../kube/recently.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, quietly } from "../writes.ts";
import { finalize } from "./finalize.ts";
import { initialize } from "./initialization.ts";
import { type Launches, launch } from "./launch.ts";
import { checkLiveness } from "./liveness.ts";
import { claimNamesOf, claimsIn, indexMachines, isManaged, type LiveNode } from "./lookups.ts";
import { withFinalizer } from "./node-sync.ts";
import { register } from "./registration.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { inSteps, type Step } from "./steps.ts";
import { ownNameWhenMoved } from "./triggers.ts";

const controller = "nodeclaim.lifecycle";

/** From a claim to a node pods can use, and back to nothing. (03 §1.1) */
export function lifecycle(parts: Parts): Loop {
  const launchesOf = memory((world): Launches => new Recently(world.clock));
  return reconcileLoop({
    name: controller,
    triggers: [on<NodeClaim>(custom.NodeClaim, ownNameWhenMoved), on<LiveNode>(builtIn.Node, claimNamesOf)],
    kinds: [custom.NodePool],
    prepare: indexMachines,
    concurrency: workers({ min: 1_000, max: 5_000 }, parts.settings),
    backOff: { baseMs: 1_000, maxMs: 60_000 },
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const claim = claimsIn(world).get(name);
      if (claim === undefined || !isManaged(claim, parts.cloud)) return undefined;
      const scene = { ...sceneOf(claim, { controller, world, parts }), launches: launchesOf(world) };
      return claim.metadata.deletionTimestamp === undefined ? advance(claim, scene) : finalize(claim, scene);
    }),
  });
}

const phases: readonly ((claim: NodeClaim, scene: Living) => Promise<Step>)[] = [
  launch,
  register,
  initialize,
  checkLiveness,
];

type Living = Scene & { readonly launches: Launches };

/** No machine is bought before the finalizer that will see to its end is stored. (03:L-2) */
async function advance(seen: NodeClaim, scene: Living): Promise<LookAgain | undefined> {
  const { client } = scene.world;
  const claim = await finalized(seen, scene);
  return inSteps(claim, { client, steps: phases.map((phase) => (current: NodeClaim) => phase(current, scene)) });
}

async function finalized(claim: NodeClaim, { world }: Scene): Promise<NodeClaim> {
  const held = withFinalizer(claim.metadata.finalizers);
  if (held === claim.metadata.finalizers) return claim;
  const body = { metadata: { finalizers: held } };
  return patch<NodeClaim>(world.client, custom.NodeClaim, claim, { body, isLocked: true });
}
