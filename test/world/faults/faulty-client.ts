import { setMaxListeners } from "node:events";
import type { KubeObject } from "../../../src/api/object.ts";
import { apiError, expiredVersion } from "../../../src/control-plane/api/api-errors.ts";
import type {
  CreateOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectKey,
  ObjectList,
  Patch,
  ResourceType,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../../../src/kube/client.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { onAbort } from "../../../src/util/abort.ts";
import type { Clock } from "../../../src/util/clock.ts";
import { CrashError } from "./crash-error.ts";
import { delayedEvents } from "./delayed-events.ts";
import type { CallFault, FaultPlan } from "./fault-plan.ts";

export interface FaultyClientOptions {
  readonly client: KubeClient;
  readonly plan: FaultPlan;
  readonly clock: Clock;
  /** Called once; the test then drops whatever used the client. */
  readonly onCrash?: ((crash: CrashError) => void) | undefined;
  /** Called for every fault, so that a test can see which it met. */
  readonly onFault?: ((fault: string) => void) | undefined;
}

/** A client that fails as the fault plan says. (05:CP-T4) */
export class FaultyClient implements KubeClient {
  readonly #options: FaultyClientOptions;
  readonly #crashed = new AbortController();
  #crash: CrashError | undefined;

  constructor(options: FaultyClientOptions) {
    this.#options = options;
    setMaxListeners(0, this.#crashed.signal); // one for every watch
  }

  get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T> {
    return this.#call({ isWrite: false, what: `get of ${type.plural}` }, (client) => client.get<T>(type, key));
  }

  async list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<ObjectList<T>> {
    const { plan, clock } = this.#options;
    return this.#call({ isWrite: false, what: `list of ${type.plural}` }, async (client) => {
      const delayMs = plan.listDelayMs();
      if (delayMs > 0) await clock.sleep(delayMs);
      return client.list<T>(type, options);
    });
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    const { client, clock, plan } = this.#options;
    await this.#call({ isWrite: false, what: `watch of ${type.plural}` }, async () => {});
    const own = plan.forWatch(type.kind);
    const stop = new AbortController();
    const stopListening = [options.signal, this.#crashed.signal].map((signal) => onAbort(signal, () => stop.abort()));
    try {
      const events = client.watch<T>(type, { ...options, signal: stop.signal });
      for await (const event of delayedEvents(events, { clock, delayMs: () => own.delayMs(), signal: stop.signal })) {
        const fault = own.next();
        if (fault !== undefined) this.#options.onFault?.(`watch ${fault}`);
        if (fault === "cut") return;
        if (fault === "expired") throw expiredVersion("too old resource version: the fault plan says so");
        if (this.#crash !== undefined) throw this.#crash;
        yield event;
      }
      if (this.#crash !== undefined) throw this.#crash;
    } finally {
      stop.abort();
      for (const unlisten of stopListening) unlisten();
    }
  }

  create<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: CreateOptions): Promise<T> {
    const what = `create of ${type.plural}`;
    return this.#call({ isWrite: true, what }, (client) => client.create<T>(type, object, options));
  }

  update<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: WriteOptions): Promise<T> {
    const what = `update of ${type.plural}`;
    return this.#call({ isWrite: true, what }, (client) => client.update<T>(type, object, options));
  }

  patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T> {
    const what = `patch of ${type.plural}`;
    return this.#call({ isWrite: true, what }, (client) => client.patch<T>(type, key, patch, options));
  }

  delete<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined> {
    const what = `delete of ${type.plural}`;
    return this.#call({ isWrite: true, what }, (client) => client.delete<T>(type, key, options));
  }

  async #call<T>(
    { isWrite, what }: { readonly isWrite: boolean; readonly what: string },
    run: (client: KubeClient) => Promise<T>,
  ): Promise<T> {
    const { client, clock, plan } = this.#options;
    if (this.#crash !== undefined) throw this.#crash;
    const moment = plan.crashNow();
    if (moment !== undefined) {
      const underWay = moment === "after" ? run(client).catch(() => {}) : undefined; // nobody hears how it went
      const crash = this.#crashNow();
      await underWay;
      throw crash;
    }
    const fault = plan.forCall({ isWrite });
    if (fault !== undefined) this.#options.onFault?.(`call ${fault}`);
    if (fault !== undefined && fault !== "lost-answer") throw this.#refusal(fault, what);
    const halfMs = Math.ceil(plan.callDelayMs() / 2);
    if (halfMs > 0) await clock.sleep(halfMs);
    if (this.#crash !== undefined) throw this.#crash; // it never left
    const answer = await run(client);
    if (halfMs > 0) await clock.sleep(halfMs);
    if (this.#crash !== undefined) throw this.#crash; // the answer came too late
    if (fault === "lost-answer") throw new KubeError("timeout", `${what}: no answer in time`);
    return answer;
  }

  #refusal(fault: Exclude<CallFault, "lost-answer">, what: string): KubeError {
    switch (fault) {
      case "conflict":
        return apiError(
          "conflict",
          `${what}: the object has been modified; please apply your changes to the latest version`,
        );
      case "too-many-requests":
        return apiError("too-many-requests", `${what}: too many requests, please try again later`, {
          retryAfterSeconds: this.#options.plan.retryAfterSeconds(),
        });
      case "server-error":
        return apiError("server-error", `${what}: an error on the server has prevented the request from succeeding`);
    }
  }

  /** The process dies now, between two calls. */
  kill(): void {
    if (this.#crash === undefined) this.#crashNow();
  }

  #crashNow(): CrashError {
    const crash = new CrashError(this.#options.plan.calls);
    this.#crash = crash;
    this.#options.onFault?.("crash");
    this.#crashed.abort(crash);
    this.#options.onCrash?.(crash);
    return crash;
  }
}
