import type { ExistingNodeState } from "./pass-state.ts";

/** What a simulation changed, so that it can be rolled back in the size of what it touched. */
export class UndoLog {
  readonly #steps: (() => void)[] = [];
  /** Existing nodes that got pods. */
  readonly touchedNodes = new Set<ExistingNodeState>();

  /** Steps are undone last first. */
  add(step: () => void): void {
    this.#steps.push(step);
  }

  /** Called before a pod is added to the node. */
  saveExistingNode(existingNode: ExistingNodeState): void {
    if (this.touchedNodes.has(existingNode)) return; // what it was before its first pod is saved
    this.touchedNodes.add(existingNode);
    const { requirementState, hostPorts, volumes } = existingNode;
    const remainingResources = existingNode.remainingResources.slice();
    this.add(() => {
      Object.assign(existingNode, { requirementState, hostPorts, volumes });
      existingNode.remainingResources.set(remainingResources);
      existingNode.pods.length = 0;
    });
  }

  rollBack(): void {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) step();
    this.touchedNodes.clear();
  }
}
