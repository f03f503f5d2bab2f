import type { KubeObject } from "../api/object.ts";

/** `coordination.k8s.io/v1` Lease. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly acquireTime?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly leaseTransitions?: number | undefined;
}

/** Leases tell time to the microsecond. */
export function leaseTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
