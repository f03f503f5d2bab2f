import type { Controller } from "../../../kube/controller.ts";
import { eventExpiryController } from "./event-expiry.ts";
import { garbageCollectorController } from "./garbage-collector.ts";
import { namespaceController } from "./namespace-controller.ts";

/** What removes objects nobody needs any more. (05:CP-L7, CP-L8) */
export const garbageCollectionControllers: readonly Controller[] = [
  garbageCollectorController,
  namespaceController,
  eventExpiryController,
];
