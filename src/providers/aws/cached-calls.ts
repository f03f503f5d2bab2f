import type { Clock } from "../../util/clock.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";

/** Answers of calls, kept for a while. Callers that ask at the same time share one call; failures are not kept. */
export class CachedCalls<V> {
  readonly #answers: ExpiringMap<V>;
  readonly #running = new Map<string, Promise<V>>();
  readonly #forMs: number;

  constructor(clock: Clock, { forMs }: { readonly forMs: number }) {
    this.#answers = new ExpiringMap(clock);
    this.#forMs = forMs;
  }

  async get(key: string, call: () => Promise<V>): Promise<V> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const running = this.#running.get(key) ?? this.#start(key, call);
    return running;
  }

  #start(key: string, call: () => Promise<V>): Promise<V> {
    const running = call()
      .then((answer) => {
        this.#answers.set(key, answer, this.#forMs);
        return answer;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }
}
