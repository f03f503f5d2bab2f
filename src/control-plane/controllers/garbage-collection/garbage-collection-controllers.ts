import type { Controller } from "../../../kube/controller.ts";
import { garbageCollectorController } from "./garbage-collector.ts";
import { namespaceController } from "./namespace-controller.ts";

/** The garbage collector and the namespace controller. (05:CP-L7, CP-L8) */
export const garbageCollectionControllers: readonly Controller[] = [garbageCollectorController, namespaceController];
