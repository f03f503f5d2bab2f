/** A process that can die at any call: from then on none of its calls is answered. */
export class KillableProcess {
  #isDead = false;

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
  }

  /** Whatever the process calls with. What is under way when it dies takes effect, and nobody hears of it. */
  around<T extends object>(calls: T): T {
    return new Proxy(calls, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value === "object" && value !== null) return this.around(value);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (this.#isDead) return never();
          const answer: unknown = value.apply(target, args);
          return answer instanceof Promise ? this.#heard(answer) : answer;
        };
      },
    });
  }

  #heard<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => !this.#isDead && resolve(value),
        (error: unknown) => !this.#isDead && reject(error),
      );
    });
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
