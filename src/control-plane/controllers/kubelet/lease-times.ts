import { isRecord, type KubeObject } from "../../../api/object.ts";
import type { Clock } from "../../../util/clock.ts";
import { rfc3339Micro } from "../../../util/timestamp.ts";

export const nodeLeaseNamespace = "kube-node-lease";
export const leaseDurationSeconds = 40;
export const leaseRenewIntervalMs = 10_000;

/** When each kubelet last renewed its lease, computed instead of written. (05:CP-L10) */
export class LeaseTimes {
  readonly #clock: Clock;
  readonly #kubelets = new Map<string, { readonly since: number; readonly until: number | undefined }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The kubelet renews its lease from now on. */
  begin(node: string): void {
    const known = this.#kubelets.get(node);
    if (known !== undefined && known.until === undefined) return;
    this.#kubelets.set(node, { since: this.#clock.now(), until: undefined });
  }

  /** The kubelet stopped; its last renewal time stays. */
  end(node: string): void {
    const known = this.#kubelets.get(node);
    if (known === undefined || known.until !== undefined) return;
    this.#kubelets.set(node, { ...known, until: this.#clock.now() });
  }

  forget(node: string): void {
    this.#kubelets.delete(node);
  }

  /** Names of the nodes whose kubelets renew their lease. */
  renewing(): readonly string[] {
    return [...this.#kubelets].flatMap(([node, { until }]) => (until === undefined ? [node] : [])).sort();
  }

  renewedAt(node: string): number | undefined {
    const known = this.#kubelets.get(node);
    if (known === undefined) return undefined;
    const { since, until = this.#clock.now() } = known;
    return since + Math.floor((until - since) / leaseRenewIntervalMs) * leaseRenewIntervalMs;
  }

  /** The Lease as its kubelet would have written it; see `ApiServer.setOverlay`. */
  readonly overlay = (lease: KubeObject): KubeObject => {
    if (lease.metadata.namespace !== nodeLeaseNamespace || !isRecord(lease.spec)) return lease;
    const renewedAt = this.renewedAt(lease.metadata.name ?? "");
    if (renewedAt === undefined) return lease;
    return Object.freeze({ ...lease, spec: Object.freeze({ ...lease.spec, renewTime: rfc3339Micro(renewedAt) }) });
  };
}
