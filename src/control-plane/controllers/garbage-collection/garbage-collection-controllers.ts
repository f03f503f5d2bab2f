import type { Controller } from "../../../kube/controller.ts";
import { garbageCollectorController } from "./garbage-collector.ts";
import { namespaceController } from "./namespace-controller.ts";

/** What cleans up after everything else. (05:CP-L7, CP-L8) */
export const garbageCollectionControllers: readonly Controller[] = [garbageCollectorController, namespaceController];
