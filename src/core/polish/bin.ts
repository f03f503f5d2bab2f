import type { Outline } from "../scheduling/outline.ts";
import type { Claim, Entry } from "../scheduling/pass-state.ts";
import type { TopologyGroup } from "../scheduling/topology/group.ts";
import type { Ceiling, Menu } from "./menu.ts";
import type { Mover } from "./mover.ts";

/** A planned node while pods are moved about. */
export class Bin {
  /** Its place among those that are worked on. */
  index = 0;
  readonly claim: Claim;
  readonly ceiling: Ceiling;
  readonly pods = new Map<Mover, Entry[]>();
  readonly used: Float64Array;
  outline: Outline;
  signature = -1;
  menu: Menu | undefined;
  /** Where on the menu it is: the cheapest that has room. */
  choice = -1;
  price = 0;
  /** Some pod must stay: then its requirements stay as well. */
  isPinned = false;
  /** Something about it has changed. */
  isTouched = false;
  /** Nodes with the same pods have the same sum of marks. */
  #marks = 0;
  /** How many pods a group counts here, and how many are bound by it. */
  readonly #counted = new Map<TopologyGroup, number>();
  readonly #bound = new Map<TopologyGroup, number>();

  constructor(claim: Claim, ceiling: Ceiling) {
    this.claim = claim;
    this.ceiling = ceiling;
    this.outline = claim.outline;
    this.used = new Float64Array(claim.used.length);
  }

  /** Alike in all that matters for moving. */
  get kind(): number {
    return this.#marks * 4096 + this.outline.id;
  }

  get isEmpty(): boolean {
    return this.pods.size === 0;
  }

  put(mover: Mover, entries: readonly Entry[]): void {
    const here = this.pods.get(mover);
    if (here === undefined) this.pods.set(mover, [...entries]);
    else here.push(...entries);
    this.#change(mover, entries.length);
  }

  /** Takes the last few pods away. */
  take(mover: Mover, count: number): readonly Entry[] {
    const here = this.pods.get(mover) ?? [];
    const taken = here.splice(here.length - count, count);
    if (here.length === 0) this.pods.delete(mover);
    this.#change(mover, -taken.length);
    return taken;
  }

  /**
   * Whether hosts are no reason against it. The pods that come are content with those that are here, and those that are
   * here with those that come, in whichever order they arrive. (02)
   */
  welcomes({ hostRules, counted }: Mover, count: number): boolean {
    for (const { group, most } of hostRules) {
      const alike = counted.includes(group) ? count - 1 : 0;
      if ((this.#counted.get(group) ?? 0) + alike > most) return false;
    }
    for (const group of counted) {
      if ((this.#bound.get(group) ?? 0) === 0) continue;
      const { kind, maxSkew } = group.spec;
      if (kind !== "spread" || (this.#counted.get(group) ?? 0) + count > maxSkew) return false;
    }
    return true;
  }

  #change({ request, hostRules, counted, mark }: Mover, by: number): void {
    this.#marks += by * mark;
    for (let i = 0; i < request.length; i++) (this.used[i] as number) += by * (request[i] as number);
    for (const { group } of hostRules) this.#bound.set(group, (this.#bound.get(group) ?? 0) + by);
    for (const group of counted) this.#counted.set(group, (this.#counted.get(group) ?? 0) + by);
  }
}
