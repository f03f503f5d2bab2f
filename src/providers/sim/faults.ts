import type { LaunchReason } from "../../api/conditions/node-claim.ts";
import { CloudError } from "../../cloud/error.ts";
import type { Random } from "../../util/random.ts";

/** The calls a provider makes. */
export const cloudCalls = ["create", "delete", "get", "list"] as const;
export type CloudCall = (typeof cloudCalls)[number];

/** What may go wrong with one call. */
export type Fault =
  /** Nothing happens, and the answer is an error nobody can make sense of. */
  | { readonly kind: "failed"; readonly message?: string | undefined }
  /** It happens, but the answer never arrives. */
  | { readonly kind: "lost" }
  /** It takes this much longer. */
  | { readonly kind: "slow"; readonly ms: number }
  /** The cloud says no, and why. */
  | { readonly kind: "refused"; readonly error: CloudError }
  /** A launch that gives a machine whose kubelet never says a word. */
  | { readonly kind: "dud" };
export type FaultKind = Fault["kind"];

/** How often each happens, from 0 to 1. */
export type FaultRates = Readonly<Partial<Record<FaultKind, number>>>;

const launchOnly: readonly FaultKind[] = ["refused", "dud"];
/** In this order, so that a draw means the same fault wherever it is made. */
const kinds = ["failed", "lost", "slow", "refused", "dud"] as const satisfies readonly FaultKind[];
const slowMs = 45_000;
const reasons: readonly LaunchReason[] = ["RequestLimitExceeded", "InternalError", "Unauthorized"];

/** Decides which calls go wrong: those a test names, and seeded ones. */
export class Faults {
  readonly #planned = new Map<CloudCall, Fault[]>();
  readonly #random: Random;
  #rates: FaultRates;

  constructor({ random, rates }: { readonly random: Random; readonly rates: FaultRates }) {
    this.#random = random;
    this.#rates = rates;
  }

  setRates(rates: FaultRates): void {
    this.#rates = rates;
  }

  failNext(call: CloudCall, fault: Fault, times: number): void {
    const planned = this.#planned.get(call) ?? [];
    this.#planned.set(call, [...planned, ...Array.from({ length: times }, () => fault)]);
  }

  /** What goes wrong with the next call of the kind. */
  next(call: CloudCall): Fault | undefined {
    const planned = this.#planned.get(call)?.shift();
    return planned ?? this.#drawn(call);
  }

  #drawn(call: CloudCall): Fault | undefined {
    for (const kind of kinds) {
      const rate = this.#rates[kind] ?? 0;
      if (rate === 0 || (launchOnly.includes(kind) && call !== "create")) continue;
      if (this.#random.next() < rate) return this.#fault(kind);
    }
    return undefined;
  }

  #fault(kind: FaultKind): Fault {
    if (kind === "slow") return { kind, ms: this.#random.int(slowMs) };
    if (kind !== "refused") return { kind };
    const reason = this.#random.pick(reasons);
    return { kind, error: new CloudError("create-failed", `the simulated cloud says ${reason}`, { reason }) };
  }
}
