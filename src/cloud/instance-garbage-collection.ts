import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import { labels } from "../api/labels.ts";
import type { KubeObject } from "../api/object.ts";
import { type Controller, type ControllerContext, reconcileController } from "../kube/controller.ts";
import { ignoreKubeErrors } from "../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../util/concurrent.ts";
import { isCloudError } from "./cloud-error.ts";
import type { Instance } from "./cloud-provider.ts";

/** Where leaked instances are looked for. */
export interface TerminableInstances {
  list(): Promise<readonly Instance[]>;
  /** Starts termination; `not-found` once it is gone. */
  terminate(providerId: string): Promise<void>;
}

/** A claim's status may lag behind its instance by this much. (03:G-3) */
const minAgeMs = 30_000;
/** How far the clocks of the cloud and of the API server may differ. */
const maxClockSkewMs = 15_000;
const frequentRuns = 20;
const frequentPeriodMs = 10_000;
const periodMs = 2 * 60_000;
/** (04 §3.8) */
const maxTerminationsInFlight = 100;

type ClaimObject = KubeObject & NodeClaim;
type NodeKubeObject = KubeObject & Node;

/** Terminates instances without a claim: the answer of a launch was lost, or the claim was deleted meanwhile. (03:G-3) */
export function instanceGarbageCollectionController(instances: TerminableInstances): Controller {
  return reconcileController({
    name: "instance.garbagecollection",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    initialKeys: ["instances"],
    reads: [karpenterTypes.NodeClaim, builtInTypes.Node, "cloud"].map((of) => ({
      of,
      withinMs: periodMs,
      because: "it looks at everything",
    })),
    start: ({ view }) => {
      view<NodeKubeObject>(builtInTypes.Node).addIndex("provider-id", ({ spec }) => spec?.providerID);
      return { runs: 0 };
    },
    reconcile: async (_, context, state) => {
      await collectLeaked(instances, context);
      return { afterMs: ++state.runs < frequentRuns ? frequentPeriodMs : periodMs };
    },
  });
}

async function collectLeaked(instances: TerminableInstances, context: ControllerContext): Promise<void> {
  const { clock, client, view } = context;
  const now = clock.now();
  const all = await instances.list();
  const oldEnough = all.filter(({ isTerminating, createdAt }) => !isTerminating && now - createdAt > minAgeMs);
  if (leakedInstances(oldEnough, view<ClaimObject>(karpenterTypes.NodeClaim).all()).length === 0) return;
  // Our view may be stale and a termination is final: list the claims again, after the cloud's list.
  const { items } = await client.list<ClaimObject>(karpenterTypes.NodeClaim);
  const errors = await forEachConcurrent(leakedInstances(oldEnough, items), {
    limit: maxTerminationsInFlight,
    run: ({ providerId }) => terminateLeaked(providerId, instances, context),
  });
  throwIfAny(errors, "cannot terminate leaked instances");
}

function leakedInstances(oldEnough: readonly Instance[], claims: readonly ClaimObject[]): readonly Instance[] {
  const claimedIds = new Set(claims.map(({ status }) => status?.providerID));
  const unlaunched = claims.filter(({ status }) => !status?.providerID);
  return oldEnough
    .filter(({ providerId }) => !claimedIds.has(providerId))
    .filter((instance) => !unlaunched.some((claim) => mayBeFor(claim, instance)));
}

/**
 * A claim without provider id may be about to be written with that of this instance, however long the write takes. Where
 * the cloud does not know the claim, it may be any of the pool that is older: those are launched or given up in minutes.
 */
function mayBeFor({ metadata }: ClaimObject, { claimName, labels: known, createdAt }: Instance): boolean {
  if (claimName !== undefined) return metadata.name === claimName;
  const isOlder = Date.parse(metadata.creationTimestamp ?? "") <= createdAt + maxClockSkewMs;
  return isOlder && metadata.labels?.[labels.nodePool] === known[labels.nodePool];
}

async function terminateLeaked(id: string, instances: TerminableInstances, context: ControllerContext): Promise<void> {
  const { client, view, log } = context;
  log.info("garbage collecting instance without a nodeclaim", { "provider-id": id });
  try {
    await instances.terminate(id);
  } catch (error) {
    if (!isCloudError(error, "not-found")) throw error; // gone already: that was the goal
  }
  for (const { metadata } of view<NodeKubeObject>(builtInTypes.Node).byIndex("provider-id", id)) {
    const { name = "", uid } = metadata;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    // A conflict: another node has the name by now.
    await ignoreKubeErrors(client.delete(builtInTypes.Node, { name }, preconditions), "not-found", "conflict");
  }
}
