import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster.ts";
import { isInitialized, isLeaving, type Size, sizeOf } from "../core/scenario/nodes.ts";
import type { StateNode } from "./cluster.ts";
import type { NodeLoad } from "./state-node.ts";

/** What consolidation wants to hear of when it changes. (02:S-40) */
export interface Standing {
  readonly isInitialized: boolean;
  readonly isLeaving: boolean;
}

/** What is known of one machine. (02 §2.1) */
export class Entry {
  readonly providerId: string;
  /** In memory only. (02:S-28) */
  isMarked = false;
  nominatedUntil = 0;
  /** As it was when somebody last looked; undefined when that is no longer true. */
  seen: StateNode | undefined;
  /** What is worked out from claim, Node, pods and volumes; undefined when that is no longer true. */
  load: NodeLoad | undefined;
  #size: Size | undefined;
  #claims: readonly NodeClaim[] = [];
  #nodes: readonly Node[] = [];

  constructor(providerId: string) {
    this.providerId = providerId;
  }

  get claim(): NodeClaim | undefined {
    return this.#claims[0];
  }

  get node(): Node | undefined {
    return this.#nodes[0];
  }

  /** Worked out once for as long as claim and Node stay as they are: pods come and go far more often. */
  get size(): Size {
    this.#size ??= sizeOf(this);
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#claims.length + this.#nodes.length === 0;
  }

  /** Marked, or on its way out. (02:S-28) */
  get isLeaving(): boolean {
    return this.isMarked || isLeaving(this);
  }

  get standing(): Standing | undefined {
    return this.isEmpty ? undefined : { isInitialized: isInitialized(this), isLeaving: this.isLeaving };
  }

  putClaim(claim: NodeClaim): void {
    this.#have({ claims: newestFirst([...without(this.#claims, claim.metadata.name), claim]) });
  }

  dropClaim(name: string): void {
    this.#have({ claims: without(this.#claims, name) });
  }

  putNode(node: Node): void {
    this.#have({ nodes: newestFirst([...without(this.#nodes, node.metadata.name), node]) });
  }

  dropNode(name: string): void {
    this.#have({ nodes: without(this.#nodes, name) });
  }

  #have({
    claims = this.#claims,
    nodes = this.#nodes,
  }: {
    claims?: readonly NodeClaim[];
    nodes?: readonly Node[];
  }): void {
    [this.#claims, this.#nodes, this.#size] = [claims, nodes, undefined];
  }
}

type Named = NodeClaim | Node;

function without<T extends Named>(objects: readonly T[], name: string | undefined): readonly T[] {
  return objects.filter(({ metadata }) => metadata.name !== name);
}

/** Two of one machine are a mistake or a machine that came back under another name: the newer speaks for it. */
export function newestFirst<T extends Named>(objects: readonly T[]): readonly T[] {
  if (objects.length < 2) return objects;
  return [...objects].sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
}

function rank({ metadata: { creationTimestamp = "", name = "" } }: Named): string {
  return `${creationTimestamp} ${name}`;
}
