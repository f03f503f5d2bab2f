import { isRecord, type KubeObject } from "../../../api/object.ts";
import type { Clock } from "../../../util/clock.ts";
import { rfc3339Micro } from "../../../util/timestamp.ts";

export const nodeLeaseNamespace = "kube-node-lease";
export const leaseDurationSeconds = 40;
export const leaseRenewIntervalMs = 10_000;

/** When each kubelet renewed its lease last, without anyone writing it down. (05:CP-L10) */
export class LeaseTimes {
  readonly #clock: Clock;
  readonly #kubelets = new Map<string, { readonly since: number; readonly until: number | undefined }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The kubelet renews from now on. */
  begin(node: string): void {
    const known = this.#kubelets.get(node);
    if (known !== undefined && known.until === undefined) return;
    this.#kubelets.set(node, { since: this.#clock.now(), until: undefined });
  }

  /** It stopped; what it renewed last stays. */
  end(node: string): void {
    const known = this.#kubelets.get(node);
    if (known === undefined || known.until !== undefined) return;
    this.#kubelets.set(node, { ...known, until: this.#clock.now() });
  }

  forget(node: string): void {
    this.#kubelets.delete(node);
  }

  /** Nodes whose kubelets renew, by name. */
  renewing(): readonly string[] {
    return [...this.#kubelets].flatMap(([node, { until }]) => (until === undefined ? [node] : [])).sort();
  }

  renewedAt(node: string): number | undefined {
    const known = this.#kubelets.get(node);
    if (known === undefined) return undefined;
    const { since, until = this.#clock.now() } = known;
    return since + Math.floor((until - since) / leaseRenewIntervalMs) * leaseRenewIntervalMs;
  }

  /** A Lease as it would be, had its kubelet written it: for `ApiServer.setOverlay`. */
  readonly overlay = (lease: KubeObject): KubeObject => {
    if (lease.metadata.namespace !== nodeLeaseNamespace || !isRecord(lease.spec)) return lease;
    const renewedAt = this.renewedAt(lease.metadata.name ?? "");
    if (renewedAt === undefined) return lease;
    return Object.freeze({ ...lease, spec: Object.freeze({ ...lease.spec, renewTime: rfc3339Micro(renewedAt) }) });
  };
}
