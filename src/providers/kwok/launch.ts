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

const maxNameLength = 63;

/** Throws if the node class says that it is not ready; one without a Ready condition may be used. (02:K-7) */
export function assertKwokNodeClassReady({ metadata, status }: KwokNodeClass): void {
  const ready = getCondition({ metadata, status }, "Ready");
  if (ready?.status === "False") throw new CloudError("node-class-not-ready", ready.message ?? ready.reason ?? "");
}

/** How long after the launch the Node is created, if the class states it. (02:K-7) */
export function registrationDelayMs({ spec }: KwokNodeClass): number | undefined {
  return spec?.nodeRegistrationDelay === undefined ? undefined : parseDurationMs(spec.nodeRegistrationDelay);
}

/** `kwok-<claim>-<random>-<number>`, cut to 63 characters because it also becomes a label value. (02:K-8) */
export function newKwokNodeName(claim: NodeClaim, random: Random): string {
  const tail = `-${random.alphanumeric(5)}-${random.int(2 ** 32)}`;
  const head = `kwok-${claim.metadata.name ?? ""}`.slice(0, maxNameLength - tail.length).replace(/[-.]+$/, "");
  return `${head}${tail}`;
}

export interface KwokLaunch {
  readonly launchRequest: ClaimLaunchRequest;
  readonly offer: LaunchableOffering;
}

/** The labels of the Node: those resolved from the offering, and its price. (02:K-8) */
export function kwokNodeLabels(claim: NodeClaim, { launchRequest, offer }: KwokLaunch) {
  return {
    ...resolvedLabels(claim, launchRequest, offer),
    [kwokLabels.instancePrice]: offer.offering.price.toFixed(6),
  };
}

export interface KwokCapacityOptions {
  /** Reports requests instead of the type's capacity, as upstream does. (02 §12.2-19) */
  readonly capacityFromRequests?: boolean | undefined;
}

/** Capacity and allocatable of the Node. (02:K-8, 02 §12.2-19) */
export function kwokCapacity({ launchRequest, offer }: KwokLaunch, options: KwokCapacityOptions = {}) {
  const { capacityFromRequests = false } = options;
  const capacity = resourceListOf(capacityFromRequests ? launchRequest.requests : offer.capacity);
  return { capacity, allocatable: { ...(capacityFromRequests && capacity), ...resourceListOf(offer.allocatable) } };
}
