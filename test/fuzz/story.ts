import type { KubeObject } from "../../src/api/object.ts";
import type { KubeletHealth } from "../../src/cloud/instance-source.ts";
import type { FeatureGates } from "../../src/controllers/settings.ts";
import type { InterruptionKind } from "../../src/providers/aws/interruption/interruption-kinds.ts";
import type { CloudFaultRates } from "../../src/providers/sim/cloud-faults.ts";
import type { OfferingPattern } from "../../src/providers/sim/offering-supply.ts";
import type { ClientFaultRates } from "../world/faults/fault-plan.ts";

/** Something that happens to a cluster. What it is about may not be there: then nothing happens. */
export type Action =
  | { readonly kind: "apply"; readonly object: KubeObject }
  | { readonly kind: "delete"; readonly object: KubeObject }
  | { readonly kind: "scale"; readonly object: KubeObject; readonly replicas: number }
  | { readonly kind: "roll"; readonly object: KubeObject; readonly image: string }
  | { readonly kind: "delete-pod" | "delete-node" | "delete-claim"; readonly at: number }
  /** The next claim that is made, so much later: it may be launched by then, and that written down, or not. */
  | { readonly kind: "delete-newest-claim"; readonly afterMs: number }
  | { readonly kind: "kubelet"; readonly at: number; readonly health: KubeletHealth }
  | { readonly kind: "vanish" | "interrupt"; readonly at: number }
  | { readonly kind: "notify"; readonly at: number; readonly notice: InterruptionKind }
  | { readonly kind: "stock"; readonly pattern: OfferingPattern; readonly count: number }
  | { readonly kind: "price"; readonly pattern: OfferingPattern; readonly usdPerHour: number }
  | { readonly kind: "kill"; readonly at: number; readonly awayMs: number }
  | { readonly kind: "nothing" };

/** An action, and how long until the next. */
export interface StoryEvent {
  readonly action: Action;
  readonly passMs: number;
}

/** How much goes wrong. */
export interface StoryFaults {
  readonly calls: ClientFaultRates;
  readonly cloud: CloudFaultRates;
  /** How likely it is that an operator process crashes at a call. */
  readonly crashes: number;
}

/** How quick server and machines are; this is no fault, and is so to the end. */
export interface StoryDelivery {
  /** How late answers and events are. */
  readonly delays: ClientFaultRates;
  /** Whether a Node is ready in the instant of its launch, and changes no more. */
  readonly joinsAtOnce: boolean;
}

/** All input of a run; everything else is drawn from the seed while it runs. */
export interface Story {
  readonly seed: number;
  readonly gates: FeatureGates;
  /** Nothing, if the story is calm: then progress is judged from its start. */
  readonly faults: StoryFaults;
  readonly isCalm: boolean;
  readonly delivery: StoryDelivery;
  /** How many operators there are; more than one elect a leader. */
  readonly operators: number;
  readonly events: readonly StoryEvent[];
  /** What happens once nothing goes wrong any more, with progress judged. */
  readonly epilogue: readonly StoryEvent[];
}
