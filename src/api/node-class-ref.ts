/** Where pools and claims refer to their node class. */
export interface NodeClassRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** The label that names the node class of claims and Nodes. */
export function nodeClassLabelKey({ group, kind }: Pick<NodeClassRef, "group" | "kind">): string {
  return `${group}/${kind.toLowerCase()}`;
}
