import type { ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Timer } from "../../../util/clock.ts";
import { rfc3339Micro } from "../../../util/timestamp.ts";
import { LeaseTimes, leaseRenewIntervalMs, nodeLeaseNamespace } from "./lease-times.ts";

/**
 * `written`: every lease is written every ten seconds, for any cluster. `computed`: only while somebody watches leases;
 * otherwise reads get the time from `LeaseTimes.overlay`.
 */
export type LeaseMode =
  | { readonly kind: "written" }
  | { readonly kind: "computed"; readonly times: LeaseTimes; readonly isWatched: () => boolean };

/** At most this many nodes are reconciled, or leases written, at a time. */
export const maxConcurrentNodes = 64;

/** Renews the leases of all kubelets. */
export class LeaseRenewal {
  readonly times: LeaseTimes;
  readonly #context: ControllerContext;
  readonly #mode: LeaseMode;
  #timer: Timer | undefined;

  constructor(context: ControllerContext, mode: LeaseMode = { kind: "written" }) {
    this.#context = context;
    this.#mode = mode;
    this.times = mode.kind === "computed" ? mode.times : new LeaseTimes(context.clock);
  }

  start(signal: AbortSignal): void {
    this.#timer = this.#context.clock.setTimer(leaseRenewIntervalMs, () => {
      if (signal.aborted) return;
      const isDue = this.#mode.kind === "written" || this.#mode.isWatched();
      void (isDue ? this.#renewAll() : Promise.resolve()).then(() => signal.aborted || this.start(signal));
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Writes the lease of one node; nothing happens if it was deleted with its Node. */
  async renew(name: string): Promise<void> {
    const renewTime = rfc3339Micro(this.times.renewedAt(name) ?? this.#context.clock.now());
    const patch = { kind: "merge", body: { spec: { renewTime } } } as const;
    const renewed = this.#context.client.patch(builtInTypes.Lease, { name, namespace: nodeLeaseNamespace }, patch);
    await ignoreKubeErrors(renewed, "not-found");
  }

  async #renewAll(): Promise<void> {
    const names = this.times.renewing();
    for (let at = 0; at < names.length; at += maxConcurrentNodes) {
      await Promise.all(names.slice(at, at + maxConcurrentNodes).map((name) => this.#tryToRenew(name)));
    }
  }

  async #tryToRenew(name: string): Promise<void> {
    try {
      await this.renew(name);
    } catch (error) {
      this.#context.reportFailure({ kind: "reconcile-failed", controller: "kubelet", key: name, error });
    }
  }
}
