/** What a simulation changed, so that it can be rolled back in the size of what it touched. */
export class UndoLog {
  readonly #steps: (() => void)[] = [];

  /** Steps are undone last first. */
  add(step: () => void): void {
    this.#steps.push(step);
  }

  /** What was done stays. */
  forget(): void {
    this.#steps.length = 0;
  }

  rollBack(): void {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) step();
  }
}
