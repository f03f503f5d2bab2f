import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { ResourceList } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import type { InstanceType } from "../core/instance-type.ts";
import type { ResourceType } from "../kube/client.ts";
import type { Controller } from "../kube/controller.ts";

/** A machine as the cloud tells of it. (02 §7) */
export interface Instance {
  readonly providerId: string;
  readonly imageId?: string | undefined;
  /** What is now certain: type, zone, capacity type and the like. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Asked to end, and not gone yet. */
  readonly isTerminating: boolean;
  /** The claim it was launched for, where the cloud knows. */
  readonly claimName?: string | undefined;
}

/** A node in this state for this long is replaced. (03:R-1) */
export interface RepairPolicy {
  readonly conditionType: string;
  readonly conditionStatus: "True" | "False" | "Unknown";
  readonly tolerationMs: number;
}

/** Something that must have happened before a node counts as registered. (03:L-12) */
export interface RegistrationHook {
  readonly name: string;
  /** May ask for labels on claim and node. */
  registered(claim: NodeClaim): Promise<HookResult>;
}

export interface HookResult {
  readonly isPending: boolean;
  /** When to ask again; with the next change unless said. */
  readonly afterMs?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** What a launch goes by beside its claim. */
export interface CreateInstanceOptions {
  /** The provider's types as the claim was planned with: overlays may price or size them otherwise. (02:O-9) */
  readonly plannedInstanceTypes?: ((types: readonly InstanceType[]) => readonly InstanceType[]) | undefined;
}

/**
 * A seller of machines. Refusals are `CloudError`s; any other error means that nobody knows what happened, and nothing
 * may be concluded from it. Every call may be repeated. (02 §7, docs/designs/interfaces.md)
 */
export interface CloudProvider {
  readonly name: string;
  /** The node classes it serves, the default one first. */
  readonly nodeClasses: readonly ResourceType[];
  readonly labelPolicy: LabelPolicy;
  /** Launches one machine for a claim; the machine may still be on its way. Throws every code but `not-found`. */
  create(claim: NodeClaim, options?: CreateInstanceOptions): Promise<Instance>;
  /** Begins its end; `not-found` once it is gone. */
  delete(claim: NodeClaim): Promise<void>;
  /** `not-found` where there is none. */
  get(providerId: string): Promise<Instance>;
  /** Every machine of this cluster, all or an error. */
  list(): Promise<readonly Instance[]>;
  /** All types there are, also those sold out. `unevaluated` while its prices are worked out. */
  instanceTypes(pool: NodePool): Promise<readonly InstanceType[]>;
  /** Why the machine is no longer what its class asks for; the provider's side of drift only. */
  driftReason(claim: NodeClaim): Promise<string | undefined>;
  readonly repairPolicies: readonly RepairPolicy[];
  readonly registrationHooks?: readonly RegistrationHook[] | undefined;
  /** For claims whose pool sets none. (03:L-36) */
  readonly defaultTerminationGracePeriod?: string | undefined;
  /** Drivers and topology keys of volumes it cannot serve. (02:V-5) */
  readonly unsupportedVolumes?: { readonly drivers: readonly string[]; readonly topologyKeys: readonly string[] };
  /** Hears when prices may have moved, of any pool. Returns how to stop hearing. */
  readonly onPricesChanged?: ((listener: () => void) => () => void) | undefined;
  /** What it does by itself: node class status, leaked instances, interruptions. */
  readonly controllers: readonly Controller[];
}
