import type { Loop } from "../../../kube/loop.ts";
import { garbageCollectorLoop } from "./collector.ts";
import { namespaceLoop } from "./namespace.ts";

/** What cleans up after everything else. (05:CP-L7, CP-L8) */
export const garbageLoops: readonly Loop[] = [garbageCollectorLoop, namespaceLoop];
