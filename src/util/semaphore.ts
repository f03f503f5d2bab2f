/** Limits how many pieces of work run at a time; those that wait are served in order of arrival. */
export class Semaphore {
  #free: number;
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Waits for a place and returns how to give it back. Rejects with the signal's reason when aborted before. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const serve = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.delete(serve);
        reject(signal?.reason);
      };
      this.#waiting.add(serve);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** The place goes to the caller that waits longest. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
