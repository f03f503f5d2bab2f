import { isStatusConditionTrue } from "../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import { annotations, groups, labels, taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { parseNillableDurationMs } from "../../src/util/duration.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { storages } from "../world/stored-objects.ts";
import { BudgetChecks, type StoredPod } from "./budget-checks.ts";
import type { ClusterRecord } from "./cluster-record.ts";
import { isManagedNode } from "./process-cloud.ts";

export type Claim = KubeObject & NodeClaim;
export type StoredNode = KubeObject & Node;

interface Eviction {
  readonly deleteOptions?: { readonly preconditions?: { readonly uid?: string } };
}

export interface CallChecksOptions {
  readonly record: ClusterRecord;
  readonly cloud: SimulatedCloud;
  readonly now: () => number;
  readonly complain: (what: string) => void;
}

/** Longer than watches are late, plus calls under way. */
const watchLagMs = 10_000;

/** Checks every call of the operators as it arrives at the server. */
export class CallChecks {
  readonly #options: CallChecksOptions;
  readonly #budgets: BudgetChecks;
  /** Provider ids of instances the story disturbed: there is a reason to end them. */
  readonly #troubled = new Set<string>();
  /** Claims whose creator got no answer. */
  readonly #unheard = new Set<string>();
  /** When a pool's limits last changed: watches are late, so for a while nobody need know. */
  readonly #limitsChangedAt = new Map<string, number>();
  /** When claims were created, to find too many of them. */
  readonly creations: { readonly at: number; readonly pool: string; readonly name: string }[] = [];
  writes = 0;
  #onNextClaim: ((name: string) => void) | undefined;

  constructor(options: CallChecksOptions) {
    this.#options = options;
    this.#budgets = new BudgetChecks(options.record, (what) => this.#complain(what));
    const limitsOf = (pool: KubeObject | undefined) =>
      JSON.stringify((pool as NodePool | undefined)?.spec.limits ?? {});
    options.record.onPut((storage, object, old) => {
      if (storage !== storages.pools || limitsOf(object) === limitsOf(old)) return;
      this.#limitsChangedAt.set(object.metadata.name ?? "", options.now());
    });
  }

  markDisturbed(providerId: string): void {
    this.#troubled.add(providerId);
  }

  markUnanswered(claimName: string): void {
    this.#unheard.add(claimName);
  }

  /** Tells of the next claim an operator makes, once. */
  onNextClaim(listener: (name: string) => void): void {
    this.#onNextClaim = listener;
  }

  /** Calls as the server gets them. */
  checkedClient(client: KubeClient): KubeClient {
    return {
      get: (type, key) => client.get(type, key),
      list: (type, options) => client.list(type, options),
      watch: (type, options) => client.watch(type, options),
      create: async (type, object, options) => {
        this.#wrote(type.kind);
        const evicted = options?.subresource === "eviction" ? this.#evicts(object) : undefined;
        const checkBudgets = evicted && this.#budgets.evicting(evicted);
        const made = await client.create(type, object, options);
        checkBudgets?.();
        if (type.kind === "NodeClaim") this.#makes(made as unknown as Claim);
        return made as never;
      },
      update: (type, object, options) => {
        this.#wrote(type.kind);
        this.#touches(type.kind, object.metadata.name ?? "");
        return client.update(type, object, options);
      },
      patch: (type, key, patch, options) => {
        this.#wrote(type.kind);
        this.#touches(type.kind, key.name);
        return client.patch(type, key, patch, options);
      },
      delete: (type, key, options) => {
        this.#wrote(type.kind);
        this.#touches(type.kind, key.name);
        const { uid } = options?.preconditions ?? {};
        if (type.kind === "NodeClaim") this.#deletesClaim(key.name, uid);
        else if (type.kind === "Node") this.#deletesNode(key.name, uid);
        else if (type.kind === "Pod") this.#deletesPod(`${key.namespace}/${key.name}`, uid);
        else this.#complain(`deleted ${type.kind} ${key.name}, which is not its to delete`);
        return client.delete(type, key, options);
      },
    };
  }

  /** 03:S-12, G-3: only machines whose claim is going, or that have none. */
  checkTermination(providerId: string): void {
    const { record, cloud } = this.#options;
    const machine = cloud.records().find(({ instance }) => instance.providerId === providerId);
    if (machine === undefined) return;
    const owner = record
      .all<Claim>(storages.claims)
      .find(({ metadata, status }) => metadata.uid === machine.clientToken || status?.providerID === providerId);
    if (owner !== undefined && owner.metadata.deletionTimestamp === undefined) {
      this.#complain(`ended instance ${providerId} of NodeClaim ${owner.metadata.name}, which stays`);
    }
  }

  #wrote(kind: string): void {
    if (kind !== "Event" && kind !== "Lease") this.writes++;
  }

  #touches(kind: string, name: string): void {
    const { record } = this.#options;
    if (kind === "NodeClaim" && isForeign(record.get<Claim>(storages.claims, name))) {
      this.#complain(`wrote NodeClaim ${name}, whose class is not served`);
    }
  }

  /** The check of limits goes by what is launched and stays. (02:H-4) */
  #makes(made: Claim): void {
    const { record, now } = this.#options;
    const pool = made.metadata.labels?.[labels.nodePool] ?? "";
    const { name = "" } = made.metadata;
    this.creations.push({ at: now(), pool, name });
    this.#onNextClaim?.(name);
    this.#onNextClaim = undefined;
    if (now() - (this.#limitsChangedAt.get(pool) ?? Number.NEGATIVE_INFINITY) <= watchLagMs) return; // it may not know yet
    const { limits = {} } = record.get<KubeObject & NodePool>(storages.pools, pool)?.spec ?? {};
    const others = this.#members(pool).filter(({ metadata }) => metadata.name !== name);
    for (const [resource, limit] of Object.entries(limits)) {
      const used = others
        .filter(({ metadata }) => !this.#unheard.has(metadata.name ?? ""))
        .reduce((sum, claim) => sum + amountOf(claim, resource), 0);
      const most = Quantity.parse(String(limit)).toNumber();
      if (used > most)
        this.#complain(`made ${name} while ${pool} has ${used} of ${resource}, over its limit of ${most}`);
    }
  }

  /** Those that stay and are launched. What goes of free will no longer counts once it is marked. (03:S-5) */
  #members(pool: string): readonly Claim[] {
    return this.#options.record
      .all<Claim>(storages.claims)
      .filter(({ metadata, status }) => metadata.labels?.[labels.nodePool] === pool && Boolean(status?.providerID))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .filter((claim) => !isStatusConditionTrue(claim, "DisruptionReason"));
  }

  #deletesClaim(name: string, uid: string | undefined): void {
    const { record, cloud, now } = this.#options;
    const claim = meant(record.get<Claim>(storages.claims, name), uid);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    if (!isStatusConditionTrue(claim, "Registered")) return; // given up on: liveness, or a launch that failed
    const providerId = claim.status?.providerID ?? "";
    const machine = cloud.records().find(({ instance }) => instance.providerId === providerId);
    if (machine === undefined || machine.isTerminating || this.#troubled.has(providerId)) return;
    const lifeMs = parseNillableDurationMs(claim.spec.expireAfter);
    const ageMs = now() - Date.parse(claim.metadata.creationTimestamp ?? "");
    if (typeof lifeMs === "number" && ageMs >= lifeMs) return;
    const pool = record.get<KubeObject & NodePool>(storages.pools, claim.metadata.labels?.[labels.nodePool] ?? "");
    if (pool?.spec.replicas !== undefined) return;
    const nodes = record.all<StoredNode>(storages.nodes).filter(({ spec }) => spec?.providerID === providerId);
    if (nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return;
    if (this.#isDisrupted(claim, nodes)) return;
    this.#complain(`deleted NodeClaim ${name} without a reason`);
  }

  /** What goes of free will says why on the claim, and takes no new pods. (03:D-71) */
  #isDisrupted(claim: Claim, nodes: readonly StoredNode[]): boolean {
    const isTainted = nodes.every(({ spec }) => spec?.taints?.some(({ key }) => key === taints.disrupted.key));
    return isStatusConditionTrue(claim, "DisruptionReason") && isTainted;
  }

  #deletesNode(name: string, uid: string | undefined): void {
    const { record } = this.#options;
    const node = meant(record.get<StoredNode>(storages.nodes, name), uid);
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) return;
    if (!isManagedNode(node)) this.#complain(`deleted Node ${name}, which is not managed`);
    const claim = record.all<Claim>(storages.claims).find(({ status }) => status?.providerID === node.spec?.providerID);
    if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) {
      this.#complain(`deleted Node ${name} though NodeClaim ${claim.metadata.name} stays`);
    }
  }

  /** Past budgets and protection only where a deadline says so. (03:T-50) */
  #deletesPod(key: string, uid: string | undefined): void {
    const { record } = this.#options;
    const pod = meant(record.get<StoredPod>(storages.pods, key), uid);
    if (pod === undefined) return;
    const claim = this.#leaving(pod, "deleted");
    if (claim !== undefined && claim.metadata.annotations?.[annotations.terminationTimestamp] === undefined) {
      this.#complain(`deleted Pod ${key} though its node has no deadline`);
    }
  }

  #evicts(eviction: KubeObject & Eviction): StoredPod | undefined {
    const { metadata, deleteOptions } = eviction;
    const named = this.#options.record.get<StoredPod>(storages.pods, `${metadata.namespace}/${metadata.name}`);
    const pod = meant(named, deleteOptions?.preconditions?.uid);
    if (pod !== undefined) this.#leaving(pod, "evicted");
    return pod;
  }

  /** The claim of the node a pod is on, both of which must be going. */
  #leaving(pod: StoredPod, verb: string): Claim | undefined {
    const { record } = this.#options;
    const node = record.get<StoredNode>(storages.nodes, pod.spec.nodeName ?? "");
    if (node === undefined) return undefined; // it went meanwhile
    const about = `${verb} Pod ${pod.metadata.namespace}/${pod.metadata.name} of Node ${node.metadata.name}`;
    if (node.metadata.deletionTimestamp === undefined) this.#complain(`${about}, which stays`);
    if (!isManagedNode(node)) this.#complain(`${about}, which is not managed`);
    return record.all<Claim>(storages.claims).find(({ status }) => status?.providerID === node.spec?.providerID);
  }

  #complain(what: string): void {
    this.#options.complain(what);
  }
}

/** Another by the same name is not: the server refuses. */
function meant<T extends KubeObject>(found: T | undefined, uid: string | undefined): T | undefined {
  return uid !== undefined && found?.metadata.uid !== uid ? undefined : found;
}

export function isForeign(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.spec.nodeClassRef.group !== groups.kwok;
}

function amountOf({ status }: Claim, resource: string): number {
  if (resource === "nodes") return 1;
  const value = status?.capacity?.[resource];
  return value === undefined ? 0 : Quantity.parse(String(value)).toNumber();
}
