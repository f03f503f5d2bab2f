import type { Loop } from "../../kube/loop.ts";
import type { Parts } from "../parts.ts";
import { consistency } from "./consistency.ts";
import { disruptionMarkers } from "./disruption.ts";
import { expiration } from "./expiration.ts";
import { garbageCollection } from "./garbage-collection.ts";
import { hydration } from "./hydration.ts";
import { lifecycle } from "./lifecycle.ts";
import { podEvents } from "./pod-events.ts";

/** Everything that happens to NodeClaims by themselves. (03 §1.1–§1.11, Appendix A) */
export function nodeClaimLoops(parts: Parts): readonly Loop[] {
  return [
    lifecycle(parts),
    disruptionMarkers(parts),
    podEvents(parts),
    expiration(parts),
    consistency(parts),
    garbageCollection(parts),
    hydration(parts),
  ];
}
