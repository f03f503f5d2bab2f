import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import type { StateNode } from "../core/round/cluster-snapshot.ts";
import { SortedMap } from "../util/sorted-map.ts";
import { forEachInSteps, type Steps } from "../util/steps.ts";
import { trackingIdOf } from "./existing-node.ts";
import { PoolTotals } from "./pool-totals.ts";
import { type ConsolidationStatus, StateNodeEntry } from "./state-node-entry.ts";

export interface StateNodeIndexOptions {
  /** Builds the state node of an entry. */
  readonly build: (entry: StateNodeEntry) => StateNode;
  /** Called on changes that could make consolidation possible. (02:S-40) */
  readonly onConsolidationChange: () => void;
}

/** Building one takes about ten microseconds: this bounds the time of a snapshot to a few milliseconds. */
const maxStale = 256;

/** Claims and Nodes paired by provider id, in whatever order they arrive. (02:S-1 to S-6) */
export class StateNodeIndex {
  readonly #options: StateNodeIndexOptions;
  readonly #entries = new SortedMap<StateNodeEntry>();
  /** Provider id by claim name; empty until it is launched. */
  readonly #idOfClaim = new Map<string, string>();
  readonly #idOfNode = new Map<string, string>();
  readonly #totals = new PoolTotals();
  readonly #stale = new Set<StateNodeEntry>();
  #cached: readonly StateNode[] | undefined;

  constructor(options: StateNodeIndexOptions) {
    this.#options = options;
  }

  /** By provider id. */
  all(): readonly StateNode[] {
    this.#refreshAllStale();
    this.#cached ??= this.#entries.values().map((entry) => this.#refresh(entry));
    return this.#cached;
  }

  get(providerId: string | undefined): StateNode | undefined {
    const entry = this.entry(providerId);
    return entry && this.#refresh(entry);
  }

  byNodeName(name: string): StateNode | undefined {
    const found = this.get(this.#idOfNode.get(name));
    return found?.node?.metadata.name === name ? found : undefined;
  }

  byClaimName(name: string): StateNode | undefined {
    const found = this.get(this.#idOfClaim.get(name));
    return found?.claim?.metadata.name === name ? found : undefined;
  }

  entry(providerId: string | undefined): StateNodeEntry | undefined {
    return providerId === undefined ? undefined : this.#entries.get(providerId);
  }

  totals(): PoolTotals {
    this.#refreshAllStale();
    return this.#totals;
  }

  /** Builds all stale state nodes. */
  refreshStale(): Steps<void> {
    return forEachInSteps(this.#stale, (entry) => this.#refresh(entry));
  }

  /** Called after each change, when the indexes are up to date. */
  limitStale(): void {
    if (this.#stale.size > maxStale) this.#refreshAllStale();
  }

  /** Of an unlaunched claim only the name is kept. (02:S-1, S-2) */
  putClaim(claim: NodeClaim): void {
    const { name = "" } = claim.metadata;
    const id = claim.status?.providerID ?? "";
    if (this.#idOfClaim.get(name) !== id) this.#unlinkClaim(name);
    this.#idOfClaim.set(name, id);
    if (id !== "") this.#change(id, (entry) => entry.putClaim(claim));
  }

  /** Its state node goes too, unless it still has a Node. (02:S-3) */
  removeClaim(name: string): void {
    this.#unlinkClaim(name);
    if (this.#idOfClaim.delete(name)) this.#options.onConsolidationChange();
  }

  /** Returns whether the Node's provider id is known. (02:S-4, S-5) */
  putNode(node: Node): boolean {
    const { name = "" } = node.metadata;
    const id = trackingIdOf(node);
    if (this.#idOfNode.get(name) !== id) this.#unlinkNode(name);
    if (id === undefined) return false;
    this.#idOfNode.set(name, id);
    this.#change(id, (entry) => entry.putNode(node));
    return true;
  }

  removeNode(name: string): void {
    this.#unlinkNode(name);
    this.#options.onConsolidationChange();
  }

  /** No effect on unknown provider ids. */
  mark(providerId: string, { isMarked }: { readonly isMarked: boolean }): void {
    if (this.#entries.has(providerId)) this.#change(providerId, (entry) => (entry.isMarked = isMarked));
  }

  /** The Node's pods or volumes changed; perhaps not its load. */
  outdateNode(nodeName: string, { isLoadSame = false }: { readonly isLoadSame?: boolean } = {}): void {
    const entry = this.entry(this.#idOfNode.get(nodeName));
    if (entry !== undefined) this.#outdate(entry, { isLoadSame });
  }

  #unlinkClaim(name: string): void {
    const id = this.#idOfClaim.get(name) ?? "";
    if (id !== "") this.#change(id, (entry) => entry.dropClaim(name));
  }

  #unlinkNode(name: string): void {
    const id = this.#idOfNode.get(name);
    this.#idOfNode.delete(name);
    if (id !== undefined) this.#change(id, (entry) => entry.dropNode(name));
  }

  #change(providerId: string, change: (entry: StateNodeEntry) => void): void {
    const entry = this.#entries.get(providerId) ?? new StateNodeEntry(providerId);
    const before = entry.consolidationStatus;
    change(entry);
    if (!isSameConsolidationStatus(before, entry.consolidationStatus)) this.#options.onConsolidationChange();
    if (before === undefined) this.#entries.set(providerId, entry);
    if (entry.isEmpty) this.#drop(entry);
    else this.#outdate(entry, { isLoadSame: false });
  }

  #drop(entry: StateNodeEntry): void {
    this.#entries.delete(entry.providerId);
    this.#totals.remove(entry.providerId);
    this.#stale.delete(entry);
    this.#cached = undefined;
  }

  #outdate(entry: StateNodeEntry, { isLoadSame }: { readonly isLoadSame: boolean }): void {
    entry.cached = undefined;
    if (!isLoadSame) entry.load = undefined;
    this.#stale.add(entry);
    this.#cached = undefined;
  }

  #refresh(entry: StateNodeEntry): StateNode {
    if (entry.cached === undefined) {
      entry.cached = this.#options.build(entry);
      this.#totals.put(entry.cached);
      this.#stale.delete(entry);
    }
    return entry.cached;
  }

  #refreshAllStale(): void {
    for (const entry of this.#stale) this.#refresh(entry);
  }
}

function isSameConsolidationStatus(a: ConsolidationStatus | undefined, b: ConsolidationStatus | undefined): boolean {
  return a?.isInitialized === b?.isInitialized && a?.isBeingDeleted === b?.isBeingDeleted;
}
