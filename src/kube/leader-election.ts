import { onAbort, unlessAborted, whenAborted } from "../util/abort.ts";
import type { Clock, Timer } from "../util/clock.ts";
import type { Random } from "../util/random.ts";
import { rfc3339Micro } from "../util/timestamp.ts";
import type { KubeClient, ObjectKey } from "./client.ts";
import { isKubeError } from "./kube-error.ts";
import type { Lease, LeaseSpec } from "./lease.ts";
import { builtInTypes } from "./resources.ts";

export interface LeaderElectionOptions {
  /** A separate client, so that rate limiting of the main one cannot cost the leadership. (03 §6.5) */
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly lease: Required<ObjectKey>;
  /** Unique among all candidates. */
  readonly identity: string;
  /** How long others wait before taking over a lease that is not renewed. */
  readonly leaseDurationMs?: number;
  /**
   * A leader that has not renewed for this long stops; shorter than the lease duration, so that it stops before another
   * starts.
   */
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly onNewLeader?: (identity: string) => void;
  readonly onError?: (error: unknown) => void;
}

/** Why leading ended: stopped by the signal, the work finished, or the lease was lost. */
export type LeadershipEnd = "stopped" | "finished" | "lost";

const defaults = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
/** Spreads the attempts of waiting candidates. */
const jitter = 1.2;

/**
 * Waits for the lease, runs the work while holding it, and releases it at the end. Compatible with client-go leases.
 * After "lost" the process should exit, because another one leads. (03 §6.5)
 */
export async function runWhileLeader(
  work: (signal: AbortSignal) => Promise<void>,
  options: LeaderElectionOptions,
  signal: AbortSignal,
): Promise<LeadershipEnd> {
  const elector = new LeaderElector(options);
  if (!(await elector.acquire(signal))) return "stopped";
  const leading = new AbortController();
  const stopListening = onAbort(signal, () => leading.abort(signal.reason));
  const workEnded = new AbortController(); // after the stop signal the lease is kept until the work has shut down
  const workDone = work(leading.signal).finally(() => workEnded.abort());
  workDone.catch(() => {}); // after a loss nobody awaits it
  const isStillLeader = await elector.renew(workEnded.signal);
  stopListening();
  if (!isStillLeader) {
    leading.abort(new Error("lost the lease"));
    return "lost"; // immediately: another process may lead already
  }
  await elector.release();
  await workDone; // rethrows its error
  return signal.aborted ? "stopped" : "finished";
}

/** Acquires and renews the lease; remembers what it last observed of it. */
class LeaderElector {
  readonly #options: LeaderElectionOptions & typeof defaults;
  #observedLease: Lease | undefined;
  /** By our clock. The holder's may differ, so its times are only compared for equality. */
  #observedAt = 0;
  #leader: string | undefined;
  /** When the last successful renewal was sent, not answered: the server may have dated it then. */
  #renewSentAt = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = { ...defaults, ...options };
  }

  get #isLeader(): boolean {
    return this.#observedLease?.spec?.holderIdentity === this.#options.identity;
  }

  /** How long we may still lead without another renewal. */
  get #remainingMs(): number {
    return this.#renewSentAt + this.#options.renewDeadlineMs - this.#options.clock.now();
  }

  /** False if the signal aborted first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random, retryPeriodMs } = this.#options;
    while (!signal.aborted) {
      if ((await this.#tryAcquireOrRenew(signal)) && this.#remainingMs > 0) return true;
      await clock.sleep(retryPeriodMs * (1 + random.next() * jitter), signal).catch(() => {});
    }
    return false;
  }

  /** Renews until the signal aborts (true) or no renewal has succeeded in time (false). */
  async renew(signal: AbortSignal): Promise<boolean> {
    const lost = new AbortController();
    const ended = AbortSignal.any([signal, lost.signal]);
    const { clock } = this.#options;
    // A separate timer, so that a renewal that hangs does not keep us leading.
    const armDeadline = (): Timer => clock.setTimer(this.#remainingMs, () => lost.abort());
    let deadline = armDeadline();
    const renewals = this.#renewLoop(ended, () => {
      deadline.cancel();
      deadline = armDeadline();
    });
    await whenAborted(ended);
    deadline.cancel();
    if (!lost.signal.aborted) await renewals;
    return !lost.signal.aborted;
  }

  async #renewLoop(ended: AbortSignal, renewed: () => void): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    while (!ended.aborted) {
      await clock.sleep(retryPeriodMs, ended).catch(() => {});
      if (ended.aborted) return;
      if ((await this.#tryAcquireOrRenew(ended)) && !ended.aborted) renewed();
    }
  }

  /** Releases the lease, so that others need not wait until it expires. */
  async release(): Promise<void> {
    const { kube, clock } = this.#options;
    const lease = this.#observedLease;
    if (lease === undefined || !this.#isLeader) return;
    const now = rfc3339Micro(clock.now());
    const freed = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    try {
      await kube.update(builtInTypes.Lease, { ...lease, spec: { ...lease.spec, ...freed } });
    } catch (error) {
      if (!isKubeError(error, "conflict", "not-found")) this.#options.onError?.(error); // otherwise it is no longer ours
    }
  }

  /** Acquires or renews the lease where possible; failures are reported and retried. */
  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      const sentAt = await this.#acquireOrRenew(signal);
      if (sentAt === undefined) return false;
      this.#renewSentAt = sentAt;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!isKubeError(error, "conflict", "already-exists")) this.#options.onError?.(error); // otherwise another candidate was faster
      return false;
    }
  }

  /** When the successful request was sent; undefined if another candidate holds the lease. */
  async #acquireOrRenew(signal: AbortSignal): Promise<number | undefined> {
    const { kube, lease: key, clock } = this.#options;
    let lease: Lease;
    try {
      lease = await unlessAborted(kube.get<Lease>(builtInTypes.Lease, key), signal);
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error;
      return this.#send(() => kube.create<Lease>(builtInTypes.Lease, this.#newLease()));
    }
    this.#observe(lease);
    const { holderIdentity = "", leaseDurationSeconds = 0 } = lease.spec ?? {};
    const isHeld = holderIdentity !== "" && clock.now() < this.#observedAt + leaseDurationSeconds * 1000;
    if (isHeld && !this.#isLeader) return undefined;
    return this.#send(() => kube.update<Lease>(builtInTypes.Lease, { ...lease, spec: this.#leaseSpec(lease.spec) }));
  }

  async #send(claim: () => Promise<Lease>): Promise<number> {
    const sentAt = this.#options.clock.now();
    this.#observe(await claim());
    return sentAt;
  }

  #newLease(): Lease {
    const { name, namespace } = this.#options.lease;
    const spec = { ...this.#leaseSpec(undefined), leaseTransitions: 0 };
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec };
  }

  #leaseSpec(old: LeaseSpec | undefined): LeaseSpec {
    const { clock, identity, leaseDurationMs } = this.#options;
    const now = rfc3339Micro(clock.now());
    const isOurs = old?.holderIdentity === identity;
    return {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.round(leaseDurationMs / 1000),
      acquireTime: isOurs ? (old.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (old?.leaseTransitions ?? 0) + (isOurs ? 0 : 1),
    };
  }

  #observe(lease: Lease): void {
    const isChanged =
      this.#observedLease === undefined || JSON.stringify(lease.spec) !== JSON.stringify(this.#observedLease.spec);
    if (isChanged) this.#observedAt = this.#options.clock.now();
    this.#observedLease = lease;
    const leader = lease.spec?.holderIdentity || undefined;
    if (leader !== undefined && leader !== this.#leader) this.#options.onNewLeader?.(leader);
    this.#leader = leader;
  }
}
