import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import type { StateNode } from "../core/round/cluster-snapshot.ts";
import { isInitializedNode, isNodeBeingDeleted, type NodeSize, nodeSizeOf } from "./existing-node.ts";

/** Changes of this may make consolidation possible. (02:S-40) */
export interface ConsolidationStatus {
  readonly isInitialized: boolean;
  readonly isBeingDeleted: boolean;
}

/** What depends on the pods of a node. */
export type NodeLoad = Pick<StateNode, "existing" | "usage">;

/** The claims and Nodes of one provider id, and what was computed from them. (02 §2.1) */
export class StateNodeEntry {
  readonly providerId: string;
  /** For deletion; kept in memory only. (02:S-28) */
  isMarked = false;
  nominatedUntil = 0;
  /** The state node; undefined when it is outdated. */
  cached: StateNode | undefined;
  /** Undefined when it is outdated. */
  load: NodeLoad | undefined;
  #size: NodeSize | undefined;
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

  /** Computed once for a claim and Node, as pods change far more often. */
  get size(): NodeSize {
    this.#size ??= nodeSizeOf(this);
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#claims.length + this.#nodes.length === 0;
  }

  /** Marked for deletion, or already being deleted. (02:S-28) */
  get isBeingDeleted(): boolean {
    return this.isMarked || isNodeBeingDeleted(this);
  }

  get consolidationStatus(): ConsolidationStatus | undefined {
    return this.isEmpty ? undefined : { isInitialized: isInitializedNode(this), isBeingDeleted: this.isBeingDeleted };
  }

  putClaim(claim: NodeClaim): void {
    this.#replace({ claims: newestFirst([...withoutName(this.#claims, claim.metadata.name), claim]) });
  }

  dropClaim(name: string): void {
    this.#replace({ claims: withoutName(this.#claims, name) });
  }

  putNode(node: Node): void {
    this.#replace({ nodes: newestFirst([...withoutName(this.#nodes, node.metadata.name), node]) });
  }

  dropNode(name: string): void {
    this.#replace({ nodes: withoutName(this.#nodes, name) });
  }

  #replace({
    claims = this.#claims,
    nodes = this.#nodes,
  }: {
    claims?: readonly NodeClaim[];
    nodes?: readonly Node[];
  }): void {
    [this.#claims, this.#nodes, this.#size] = [claims, nodes, undefined];
  }
}

type NodeOrClaim = NodeClaim | Node;

function withoutName<T extends NodeOrClaim>(objects: readonly T[], name: string | undefined): readonly T[] {
  return objects.filter(({ metadata }) => metadata.name !== name);
}

/** Two objects of one provider id are a mistake, or a node that rejoined under another name: the newest counts. */
function newestFirst<T extends NodeOrClaim>(objects: readonly T[]): readonly T[] {
  if (objects.length < 2) return objects;
  return [...objects].sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
}

function rank({ metadata: { creationTimestamp = "", name = "" } }: NodeOrClaim): string {
  return `${creationTimestamp} ${name}`;
}
