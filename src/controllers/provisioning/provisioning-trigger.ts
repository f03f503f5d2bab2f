/**
 * What asks for a round of provisioning: pods that wait, nodes that leave, buffers that changed. Whoever fires before a
 * round listens is remembered. (02:P-10 to P-12)
 */
export class ProvisioningTrigger {
  readonly #seen = new Set<string>();
  #isArmed = false;
  #listener: () => void = () => {};

  /** By the uid of what asks; the same one asks once a window. (02:P-20) */
  fire(uid: string): void {
    if (this.#seen.has(uid)) return;
    this.#seen.add(uid);
    this.#isArmed = true;
    this.#listener();
  }

  /** Whether somebody asked since this was last asked. */
  takeArmed(): boolean {
    const wasArmed = this.#isArmed;
    this.#isArmed = false;
    return wasArmed;
  }

  /** The window is over: whoever asks from now on asks for the next one. */
  startNextWindow(): void {
    this.#seen.clear();
  }

  /** Hears of every one that asks; nobody else does. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }
}
