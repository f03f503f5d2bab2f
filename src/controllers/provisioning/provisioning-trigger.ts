/**
 * Collects what asks for a round: pending pods, deleting nodes, changed buffers. A trigger before anybody listens is
 * remembered. (02:P-10 to P-12)
 */
export class ProvisioningTrigger {
  readonly #seen = new Set<string>();
  #isArmed = false;
  #listener: () => void = () => {};

  /** Each object triggers once in a window. (02:P-20) */
  fire(uid: string): void {
    if (this.#seen.has(uid)) return;
    this.#seen.add(uid);
    this.#isArmed = true;
    this.#listener();
  }

  /** Whether there was a trigger since the last call. */
  takeArmed(): boolean {
    const wasArmed = this.#isArmed;
    this.#isArmed = false;
    return wasArmed;
  }

  /** Ends the window: the same object may trigger again. */
  startNextWindow(): void {
    this.#seen.clear();
  }

  /** Replaces the listener, which is called on every trigger. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }
}
