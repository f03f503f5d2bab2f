import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { ResourceList } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import type { InstanceType } from "../core/instance-type.ts";
import type { ResourceType } from "../kube/client.ts";
import type { Controller } from "../kube/controller.ts";

/** An instance as the cloud reports it. (02 §7) */
export interface Instance {
  readonly providerId: string;
  readonly imageId?: string | undefined;
  /** Known after the launch: instance type, zone, capacity type and so on. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Termination was requested, and it is not gone yet. */
  readonly isTerminating: boolean;
  /** The claim it was launched for, if the cloud knows. */
  readonly claimName?: string | undefined;
}

/** A node in this state for this long is replaced. (03:R-1) */
export interface RepairPolicy {
  readonly conditionType: string;
  readonly conditionStatus: "True" | "False" | "Unknown";
  readonly tolerationMs: number;
}

/** Must have succeeded before a node counts as registered. (03:L-12) */
export interface RegistrationHook {
  readonly name: string;
  /** May ask for labels on claim and node. */
  registered(claim: NodeClaim): Promise<HookResult>;
}

export interface HookResult {
  readonly isPending: boolean;
  /** When to ask again; by default with the next change. */
  readonly afterMs?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** What a launch needs beside its claim. */
interface CreateInstanceOptions {
  /** The provider's types as the claim was planned with: overlays may change prices and capacity. (02:O-9) */
  readonly plannedInstanceTypes?: ((types: readonly InstanceType[]) => readonly InstanceType[]) | undefined;
}

/**
 * A cloud. Expected refusals are `CloudError`s; any other error says nothing about what happened. Every call can be
 * repeated. (02 §7, docs/designs/interfaces.md)
 */
export interface CloudProvider {
  readonly name: string;
  /** The node classes it serves, the default one first. */
  readonly nodeClasses: readonly ResourceType[];
  readonly labelPolicy: LabelPolicy;
  /** Launches one instance for a claim; it may still be pending. Throws every code but `not-found`. */
  create(claim: NodeClaim, options?: CreateInstanceOptions): Promise<Instance>;
  /** Starts termination; `not-found` once it is gone. */
  delete(claim: NodeClaim): Promise<void>;
  /** Whether nothing is left of an instance once `delete` has returned, so that nobody waits for its end. */
  readonly deletesAtOnce?: boolean | undefined;
  /** `not-found` if there is none. */
  get(providerId: string): Promise<Instance>;
  /** All instances of this cluster, or an error. */
  list(): Promise<readonly Instance[]>;
  /** All instance types, also unavailable ones. `unevaluated` while overlays are evaluated. */
  instanceTypes(pool: NodePool): Promise<readonly InstanceType[]>;
  /** Why the instance no longer matches its node class; the provider's part of drift only. */
  driftReason(claim: NodeClaim): Promise<string | undefined>;
  readonly repairPolicies: readonly RepairPolicy[];
  readonly registrationHooks?: readonly RegistrationHook[] | undefined;
  /** For claims whose pool sets none. (03:L-36) */
  readonly defaultTerminationGracePeriod?: string | undefined;
  /** Drivers and topology keys of volumes it cannot serve. (02:V-5) */
  readonly unsupportedVolumes?: { readonly drivers: readonly string[]; readonly topologyKeys: readonly string[] };
  /** Calls the listener when prices of any pool may have changed. Returns how to stop. */
  readonly onPricesChanged?: ((listener: () => void) => () => void) | undefined;
  /** The provider's own controllers: node class status, leaked instances, interruption. */
  readonly controllers: readonly Controller[];
}
