import type { LaunchReason } from "../../api/conditions/node-claim.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { Random } from "../../util/random.ts";

/** The calls a provider makes. */
const cloudCalls = ["create", "delete", "get", "list"] as const;
export type CloudCall = (typeof cloudCalls)[number];

/** A fault of one call. */
export type CloudFault =
  /** Nothing happens; the call fails with an unknown error. */
  | { readonly kind: "failed"; readonly message?: string | undefined }
  /** It happens, but the answer is lost. */
  | { readonly kind: "lost" }
  /** It takes this much longer. */
  | { readonly kind: "slow"; readonly ms: number }
  /** The cloud refuses with this error. */
  | { readonly kind: "refused"; readonly error: CloudError }
  /** The launched instance's kubelet stays silent. */
  | { readonly kind: "silent-kubelet" };
export type CloudFaultKind = CloudFault["kind"];

/** The probability of each fault, from 0 to 1. */
export type CloudFaultRates = Readonly<Partial<Record<CloudFaultKind, number>>>;

const launchOnlyKinds: readonly CloudFaultKind[] = ["refused", "silent-kubelet"];
/** In a fixed order, so that the same random draw gives the same fault. */
const faultKinds = ["failed", "lost", "slow", "refused", "silent-kubelet"] as const satisfies readonly CloudFaultKind[];
const slowMs = 45_000;
const refusalReasons: readonly LaunchReason[] = ["RequestLimitExceeded", "InternalError", "Unauthorized"];

/** Decides which calls fail: planned ones, and random ones by rate. */
export class CloudFaults {
  readonly #planned = new Map<CloudCall, CloudFault[]>();
  readonly #random: Random;
  #rates: CloudFaultRates;

  constructor({ random, rates }: { readonly random: Random; readonly rates: CloudFaultRates }) {
    this.#random = random;
    this.#rates = rates;
  }

  setRates(rates: CloudFaultRates): void {
    this.#rates = rates;
  }

  failNext(call: CloudCall, fault: CloudFault, times: number): void {
    const planned = this.#planned.get(call) ?? [];
    this.#planned.set(call, [...planned, ...Array.from({ length: times }, () => fault)]);
  }

  /** The fault of the next call of this kind. */
  next(call: CloudCall): CloudFault | undefined {
    const planned = this.#planned.get(call)?.shift();
    return planned ?? this.#randomFault(call);
  }

  #randomFault(call: CloudCall): CloudFault | undefined {
    for (const kind of faultKinds) {
      const rate = this.#rates[kind] ?? 0;
      if (rate === 0 || (launchOnlyKinds.includes(kind) && call !== "create")) continue;
      if (this.#random.next() < rate) return this.#fault(kind);
    }
    return undefined;
  }

  #fault(kind: CloudFaultKind): CloudFault {
    if (kind === "slow") return { kind, ms: this.#random.int(slowMs) };
    if (kind !== "refused") return { kind };
    const reason = this.#random.pick(refusalReasons);
    return { kind, error: new CloudError("create-failed", `simulated error ${reason}`, { reason }) };
  }
}
