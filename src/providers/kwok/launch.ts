import { getCondition } from "../../api/conditions/set-condition.ts";
import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { kwokLabels } from "../../api/labels.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import {
  type ClaimLaunchRequest,
  type LaunchableOffering,
  resolvedLabels,
  resourceListOf,
} from "../../cloud/launchable-offerings.ts";
import { parseDurationMs } from "../../util/duration.ts";
import type { Random } from "../../util/random.ts";

/** A node name ends up in a label. */
const maxNameLength = 63;

/** 02:K-7. */
export function assertKwokNodeClassReady({ metadata, status }: KwokNodeClass): void {
  const ready = getCondition({ metadata, status }, "Ready");
  if (ready?.status === "False") throw new CloudError("node-class-not-ready", ready.message ?? ready.reason ?? "");
}

/** How long after its launch the Node appears, where the class says. (02:K-7) */
export function registrationDelayMs({ spec }: KwokNodeClass): number | undefined {
  return spec?.nodeRegistrationDelay === undefined ? undefined : parseDurationMs(spec.nodeRegistrationDelay);
}

/** 02:K-8. */
export function newKwokNodeName(claim: NodeClaim, random: Random): string {
  const tail = `-${random.alphanumeric(5)}-${random.int(2 ** 32)}`;
  const head = `kwok-${claim.metadata.name ?? ""}`.slice(0, maxNameLength - tail.length).replace(/[-.]+$/, "");
  return `${head}${tail}`;
}

/** 02:K-8. */
export function kwokNodeLabels(
  claim: NodeClaim,
  { launchRequest, offer }: { launchRequest: ClaimLaunchRequest; offer: LaunchableOffering },
) {
  return {
    ...resolvedLabels(claim, launchRequest, offer),
    [kwokLabels.instancePrice]: offer.offering.price.toFixed(6),
  };
}

export interface KwokCapacityOptions {
  /** Says what was asked for instead of what the type has, as upstream does. (02 §12.2-19) */
  readonly capacityFromRequests?: boolean | undefined;
}

/** What the node has. (02:K-8, 02 §12.2-19) */
export function kwokCapacity(
  { launchRequest, offer }: { launchRequest: ClaimLaunchRequest; offer: LaunchableOffering },
  options: KwokCapacityOptions = {},
) {
  const { capacityFromRequests = false } = options;
  const capacity = resourceListOf(capacityFromRequests ? launchRequest.requests : offer.capacity);
  return { capacity, allocatable: { ...(capacityFromRequests && capacity), ...resourceListOf(offer.allocatable) } };
}
