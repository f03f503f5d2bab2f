import { get, isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/error.ts";
import type { Recently } from "../../kube/recently.ts";
import { withFinding, without } from "./claim-conditions.ts";
import { catalogueCheck, driftFromPool, isDueForCatalogueCheck, isUnknownToCatalogue } from "./drift.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

/** What marking drift needs beside the claim. */
export interface DriftScene extends Scene {
  readonly pool: NodePool;
  /** Claims whose type is known to be sold still, by uid. (03:M-7) */
  readonly found: Recently<true>;
}

const recheckMs = 5 * 60_000;
/** Prices that are being worked out are there soon. (02:O-8) */
const unevaluatedMs = 10_000;

/** Marks claims whose machine is no longer what is asked for. (03:M-6) */
export async function markDrifted(claim: NodeClaim, scene: DriftScene): Promise<Step> {
  if (!isTrue(claim, "Launched")) return unmarked(claim, "removing drift status condition, isn't launched", scene);
  try {
    const reason = await driftOf(claim, scene);
    const step =
      reason === undefined
        ? unmarked(claim, "removing drifted status condition, not drifted", scene)
        : marked(claim, reason, scene);
    return { ...step, afterMs: recheckMs };
  } catch (error) {
    if (isCloudError(error, "not-found")) return { claim };
    if (isCloudError(error, "unevaluated")) return { claim, afterMs: unevaluatedMs };
    return { claim, error: new Error(`drift of nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }) };
  }
}

/** What is cheap to find out comes first. (03:M-7) */
async function driftOf(claim: NodeClaim, scene: DriftScene): Promise<string | undefined> {
  const { cloud } = scene.parts;
  return (
    driftFromPool(claim, scene.pool, cloud.labelPolicy) ??
    (await driftFromCatalogue(claim, scene)) ??
    (await cloud.driftOf(claim))
  );
}

async function driftFromCatalogue(
  claim: NodeClaim,
  { pool, found, world, parts }: DriftScene,
): Promise<string | undefined> {
  const { uid = "" } = claim.metadata;
  if (!isDueForCatalogueCheck(claim, world.clock.now()) || found.get(uid)) return undefined;
  const types = await parts.cloud.instanceTypes(pool);
  if (isUnknownToCatalogue(claim, types, parts.cloud.labelPolicy)) return "InstanceTypeNotFound";
  found.set(uid, true, catalogueCheck.foundForMs); // only good news is kept: a catalogue may be wrong for a moment
  return undefined;
}

function marked(claim: NodeClaim, reason: string, { world, log }: Scene): Step {
  const isNews = get(claim, "Drifted") === undefined;
  return {
    claim: withFinding(claim, "Drifted", { status: "True", reason, message: reason, nowMs: world.clock.now() }),
    told: () => void (isNews && log.debug("marking drifted", { reason })),
  };
}

function unmarked(claim: NodeClaim, message: string, { log }: Scene): Step {
  const after = without(claim, "Drifted");
  return { claim: after, told: () => void (after !== claim && log.debug(message)) };
}
