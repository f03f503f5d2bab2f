/** A call of a process that took effect, for example `ec2:CreateFleet` or `patch NodeClaim/status`. */
export type CallListener = (call: string) => void;

/** Calls that change nothing are no moments of their own: dying after one is dying before the next. */
const reads = /^(get |list |watch )|:(describe|get|list|receive|shifted)/;

/** Whether a call changes something but a lease. */
export function isDeadlyCall(call: string): boolean {
  return !reads.test(call) && !call.endsWith(" Lease");
}

/** A process that can die at any call: from then on none of its calls is answered. */
export class KillableProcess {
  #isDead = false;
  readonly #onCall: CallListener;

  /** The listener hears of each call when it took effect and the process does not know yet: a moment to die in. */
  constructor(onCall: CallListener = () => {}) {
    this.#onCall = onCall;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
  }

  /** Whatever the process calls with. What is under way when it dies takes effect, and nobody hears of it. */
  around<T extends object>(calls: T, service = ""): T {
    return new Proxy(calls, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value === "object" && value !== null) return this.around(value, String(property));
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (this.#isDead) return never();
          const answer: unknown = value.apply(target, args);
          const name = service === "" ? clientCall(String(property), args) : `${service}:${String(property)}`;
          return answer instanceof Promise ? this.#heard(answer, name) : answer;
        };
      },
    });
  }

  #heard<T>(answer: Promise<T>, name: string): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => {
          if (!this.#isDead) this.#onCall(name);
          if (!this.#isDead) resolve(value);
        },
        (error: unknown) => !this.#isDead && reject(error),
      );
    });
  }
}

/** A call of a KubeClient by its verb, kind and subresource. */
function clientCall(verb: string, args: readonly unknown[]): string {
  const [type, ...rest] = args as readonly [{ readonly kind?: string }?, ...unknown[]];
  const options = rest.find(
    (one): one is { subresource: string } => Object(one) === one && "subresource" in Object(one),
  );
  return `${verb} ${type?.kind ?? ""}${options === undefined ? "" : `/${options.subresource}`}`;
}

function never(): Promise<never> {
  return new Promise(() => {});
}
