import { isTrue } from "../../api/conditions/engine.ts";
import { isSettled, launchFailure } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels } from "../../api/labels.ts";
import { cloudErrorOf } from "../../cloud/error.ts";
import type { Instance } from "../../cloud/provider.ts";
import type { Recently } from "../../kube/recently.ts";
import { restamped, withFinding, withTrue } from "./claim-conditions.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

/** Machines bought for claims, by uid: a status that could not be written must not buy a second one. (03:L-5) */
export type Launches = Recently<Instance>;

const rememberedMs = 60 * 60_000;

/** Buys the machine. (03 §1.2) */
export async function launch(claim: NodeClaim, scene: Scene & { readonly launches: Launches }): Promise<Step> {
  const { world, launches } = scene;
  const { uid = "" } = claim.metadata;
  if (isSettled(claim, "Launched")) {
    if (isTrue(claim, "Launched")) launches.delete(uid);
    return { claim: restamped(claim, "Launched", world.clock.now()) };
  }
  const known = launches.get(uid);
  if (known !== undefined) return launched(claim, known, scene);
  try {
    const instance = await scene.parts.cloud.create(claim);
    launches.set(uid, instance, rememberedMs);
    logLaunch(instance, scene);
    return launched(claim, instance, scene);
  } catch (error) {
    return refused(claim, error, scene);
  }
}

function launched(claim: NodeClaim, instance: Instance, { world }: Scene): Step {
  return { claim: withTrue(populated(claim, instance), "Launched", world.clock.now()) };
}

/** What people said of the claim counts over what the cloud says, and the cloud's annotations over the claim's. (03:L-7) */
export function populated(claim: NodeClaim, instance: Instance): NodeClaim {
  const { providerId, imageId, capacity, allocatable } = instance;
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels: { ...instance.labels, ...claim.metadata.labels },
      annotations: { ...claim.metadata.annotations, ...instance.annotations },
    },
    status: {
      ...claim.status,
      providerID: providerId,
      ...(imageId !== undefined && { imageID: imageId }),
      capacity,
      allocatable,
    },
  };
}

function logLaunch({ providerId, labels: told, allocatable }: Instance, { log }: Scene): void {
  log.info("launched nodeclaim", {
    "provider-id": providerId,
    "instance-type": told[labels.instanceType],
    zone: told[labels.zone],
    "capacity-type": told[labels.capacityType],
    allocatable,
  });
}

/** Nothing can be had, or nothing may be: another claim may ask for something else. The rest is tried again. (03:L-6) */
async function refused(claim: NodeClaim, error: unknown, scene: Scene): Promise<Step> {
  const refusal = cloudErrorOf(error);
  switch (refusal?.code) {
    case "insufficient-capacity":
      tellShortage(claim, refusal, scene);
      return abandoned(claim, { error, reason: "insufficient_capacity", scene });
    case "node-class-not-ready":
      return abandoned(claim, { error, reason: "nodeclass_not_ready", scene });
    default:
      return failed(claim, error, scene);
  }
}

interface Abandonment {
  readonly error: unknown;
  readonly reason: DisruptionCause;
  readonly scene: Scene;
}

async function abandoned(claim: NodeClaim, { error, reason, scene }: Abandonment): Promise<Step> {
  scene.log.error("failed launching nodeclaim", { error });
  await disruptClaim(claim, { ...scene, reason });
  return { claim, isGone: true };
}

function tellShortage(claim: NodeClaim, { message }: Error, { world }: Scene): void {
  const { name = "", uid = "" } = claim.metadata;
  world.tell(claim, {
    type: "Warning",
    reason: "InsufficientCapacityError",
    message: `NodeClaim ${name} event: ${launchFailure({ message }).message}`,
    dedupe: { values: [uid] },
  });
}

function failed(claim: NodeClaim, error: unknown, { world }: Scene): Step {
  const said = cloudErrorOf(error, "create-failed");
  const finding =
    said === undefined
      ? launchFailure({ message: error instanceof Error ? error.message : String(error) })
      : launchFailure({ ...(said.reason && { reason: said.reason }), message: said.detail });
  return {
    claim: withFinding(claim, "Launched", { ...finding, nowMs: world.clock.now() }),
    error: new Error(`launching nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }),
  };
}
