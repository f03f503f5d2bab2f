/**
 * Collects what asks for a round: pending pods, deleting nodes, changed buffers. A trigger before anybody listens is
 * remembered. (02:P-10 to P-12)
 */
export class ProvisioningTrigger {
  /** Objects of this window, and whether each can wait. */
  readonly #seen = new Map<string, boolean>();
  #isArmed = false;
  #isPressing = false;
  #listener: (canWait: boolean) => void = () => {};

  /** Each object triggers once in a window, and once more if it can no longer wait. (02:P-20) */
  fire(uid: string, { canWait = false } = {}): void {
    const couldWait = this.#seen.get(uid);
    if (couldWait === false || couldWait === canWait) return;
    this.#seen.set(uid, canWait);
    this.#isPressing ||= !canWait;
    this.#isArmed = true;
    this.#listener(canWait);
  }

  /** Whether there was a trigger since the last call. */
  takeArmed(): boolean {
    const wasArmed = this.#isArmed;
    this.#isArmed = false;
    return wasArmed;
  }

  /** Whether any object of this window cannot wait. */
  get isPressing(): boolean {
    return this.#isPressing;
  }

  /** Ends the window: the same object may trigger again. */
  startNextWindow(): void {
    this.#seen.clear();
    this.#isPressing = false;
  }

  /** Replaces the listener, which is called on every trigger. */
  listen(listener: (canWait: boolean) => void): void {
    this.#listener = listener;
  }
}
