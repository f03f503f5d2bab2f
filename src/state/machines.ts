import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster.ts";
import { machineIdOf } from "../core/scenario/nodes.ts";
import { SortedMap } from "../util/sorted-map.ts";
import { each, type Steps } from "../util/steps.ts";
import type { StateNode } from "./cluster.ts";
import { Entry, type Standing } from "./entry.ts";
import { PoolTotals } from "./pool-totals.ts";

export interface MachinesOptions {
  /** Makes a value of an entry. */
  readonly look: (entry: Entry) => StateNode;
  /** Hears of changes that could make consolidation possible. (02:S-40) */
  readonly onStir: () => void;
}

/** A look takes some ten microseconds: whoever asks for all of them never waits for more than a few milliseconds. */
const mostStale = 256;

/** Claims and Nodes paired by provider id. What is told in whatever order, the pairs are the same. (02:S-1 to S-6) */
export class Machines {
  readonly #options: MachinesOptions;
  readonly #entries = new SortedMap<Entry>();
  /** Empty until it is launched. */
  readonly #idOfClaim = new Map<string, string>();
  readonly #idOfNode = new Map<string, string>();
  readonly #totals = new PoolTotals();
  readonly #stale = new Set<Entry>();
  #seen: readonly StateNode[] | undefined;

  constructor(options: MachinesOptions) {
    this.#options = options;
  }

  /** By provider id. */
  all(): readonly StateNode[] {
    this.#lookAgain();
    this.#seen ??= this.#entries.values().map((entry) => this.#look(entry));
    return this.#seen;
  }

  get(providerId: string | undefined): StateNode | undefined {
    const entry = this.entry(providerId);
    return entry && this.#look(entry);
  }

  ofNode(name: string): StateNode | undefined {
    const found = this.get(this.#idOfNode.get(name));
    return found?.node?.metadata.name === name ? found : undefined;
  }

  ofClaim(name: string): StateNode | undefined {
    const found = this.get(this.#idOfClaim.get(name));
    return found?.claim?.metadata.name === name ? found : undefined;
  }

  entry(providerId: string | undefined): Entry | undefined {
    return providerId === undefined ? undefined : this.#entries.get(providerId);
  }

  totals(): PoolTotals {
    this.#lookAgain();
    return this.#totals;
  }

  /** Looks at all that changed since somebody looked. */
  warming(): Steps<void> {
    return each(this.#stale, (entry) => this.#look(entry));
  }

  /** Asked after each change, when all that belongs to it is known. */
  keepWarm(): void {
    if (this.#stale.size > mostStale) this.#lookAgain();
  }

  /** An unlaunched claim is known by name alone. (02:S-1, S-2) */
  putClaim(claim: NodeClaim): void {
    const { name = "" } = claim.metadata;
    const id = claim.status?.providerID ?? "";
    if (this.#idOfClaim.get(name) !== id) this.#unlinkClaim(name);
    this.#idOfClaim.set(name, id);
    if (id !== "") this.#change(id, (entry) => entry.putClaim(claim));
  }

  /** 02:S-3. */
  removeClaim(name: string): void {
    this.#unlinkClaim(name);
    if (this.#idOfClaim.delete(name)) this.#options.onStir();
  }

  /** Says whether it could be told which machine it is. (02:S-4, S-5) */
  putNode(node: Node): boolean {
    const { name = "" } = node.metadata;
    const id = machineIdOf(node);
    if (this.#idOfNode.get(name) !== id) this.#unlinkNode(name);
    if (id === undefined) return false;
    this.#idOfNode.set(name, id);
    this.#change(id, (entry) => entry.putNode(node));
    return true;
  }

  removeNode(name: string): void {
    this.#unlinkNode(name);
    this.#options.onStir();
  }

  /** Nothing happens to one that is not there. */
  mark(providerId: string, { isMarked }: { readonly isMarked: boolean }): void {
    if (this.#entries.has(providerId)) this.#change(providerId, (entry) => (entry.isMarked = isMarked));
  }

  /** Something about the Node's pods or volumes is not as it was; perhaps nothing that takes room. */
  touch(nodeName: string, { isLoadSame = false }: { readonly isLoadSame?: boolean } = {}): void {
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

  #change(providerId: string, change: (entry: Entry) => void): void {
    const entry = this.#entries.get(providerId) ?? new Entry(providerId);
    const before = entry.standing;
    change(entry);
    if (!isSame(before, entry.standing)) this.#options.onStir();
    if (before === undefined) this.#entries.set(providerId, entry);
    if (entry.isEmpty) this.#drop(entry);
    else this.#outdate(entry, { isLoadSame: false });
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.providerId);
    this.#totals.remove(entry.providerId);
    this.#stale.delete(entry);
    this.#seen = undefined;
  }

  #outdate(entry: Entry, { isLoadSame }: { readonly isLoadSame: boolean }): void {
    entry.seen = undefined;
    if (!isLoadSame) entry.load = undefined;
    this.#stale.add(entry);
    this.#seen = undefined;
  }

  #look(entry: Entry): StateNode {
    if (entry.seen === undefined) {
      entry.seen = this.#options.look(entry);
      this.#totals.put(entry.seen);
      this.#stale.delete(entry);
    }
    return entry.seen;
  }

  #lookAgain(): void {
    for (const entry of this.#stale) this.#look(entry);
  }
}

function isSame(a: Standing | undefined, b: Standing | undefined): boolean {
  return a?.isInitialized === b?.isInitialized && a?.isLeaving === b?.isLeaving;
}
