import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster.ts";
import type { KubeObject } from "../api/object.ts";
import { isKubeError } from "../kube/error.ts";
import { type Loop, type LoopWorld, reconcileLoop } from "../kube/loop.ts";
import { builtIn, custom } from "../kube/resources.ts";
import { isCloudError } from "./error.ts";
import type { Instance } from "./provider.ts";

/** Where leaked instances are looked for. */
export interface Instances {
  list(): Promise<readonly Instance[]>;
  /** Begins its end; `not-found` once it is gone. */
  terminate(providerId: string): Promise<void>;
}

/** A claim's status may be this much behind its machine. (03:G-3) */
const youngMs = 30_000;
const eagerRuns = 20;
const eagerMs = 10_000;
const usualMs = 2 * 60_000;

type Claim = KubeObject & NodeClaim;
type LiveNode = KubeObject & Node;

/** Ends machines that no claim has: launches whose answer was lost, or whose claim went meanwhile. (03:G-3) */
export function instanceCollectionLoop(instances: Instances): Loop {
  let runs = 0;
  return reconcileLoop({
    name: "instance.garbagecollection",
    triggers: [],
    kinds: [custom.NodeClaim, builtIn.Node],
    initial: ["instances"],
    prepare: ({ view }) => view<LiveNode>(builtIn.Node).index("provider-id", ({ spec }) => spec?.providerID),
    reconcile: async (_, world) => {
      await collect(instances, world);
      return { afterMs: ++runs < eagerRuns ? eagerMs : usualMs };
    },
  });
}

async function collect(instances: Instances, world: LoopWorld): Promise<void> {
  const { clock, client, view } = world;
  const now = clock.now();
  const grown = (await instances.list()).filter(
    ({ isTerminating, createdAt }) => !isTerminating && now - createdAt > youngMs,
  );
  if (leaked(grown, view<Claim>(custom.NodeClaim).all()).length === 0) return;
  // What we watch may be behind, and this cannot be taken back: ask again. The cloud's list is the older of the two.
  const { items } = await client.list<Claim>(custom.NodeClaim);
  for (const { providerId } of leaked(grown, items)) await end(providerId, { instances, world });
}

/** A claim without a machine may be about to hear of the one that was launched for it. */
function leaked(grown: readonly Instance[], claims: readonly Claim[]): readonly Instance[] {
  const held = new Set(claims.map(({ status }) => status?.providerID));
  const waiting = new Set(claims.filter(({ status }) => !status?.providerID).map(({ metadata }) => metadata.name));
  return grown.filter(({ providerId, claimName }) => !held.has(providerId) && !waiting.has(claimName));
}

async function end(
  providerId: string,
  { instances, world }: { readonly instances: Instances; readonly world: LoopWorld },
): Promise<void> {
  try {
    await instances.terminate(providerId);
  } catch (error) {
    if (!isCloudError(error, "not-found")) throw error; // gone already: that was the goal
  }
  for (const { metadata } of world.view<LiveNode>(builtIn.Node).by("provider-id", providerId)) {
    const { name = "", uid } = metadata;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await world.client.delete(builtIn.Node, { name }, preconditions);
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) throw error; // another node has the name by now
    }
  }
}
