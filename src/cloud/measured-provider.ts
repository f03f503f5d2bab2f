import type { Clock } from "../util/clock.ts";
import { type CloudErrorCode, cloudErrorOf } from "./cloud-error.ts";
import type { CloudProvider } from "./cloud-provider.ts";

type CallLabels = Readonly<Record<"controller" | "method" | "provider", string>>;

/** The metrics of calls to the cloud. */
interface CallMeter {
  observe(name: "cloudprovider_duration_seconds", labels: CallLabels, value: number): void;
  count(name: "cloudprovider_errors_total", labels: CallLabels & { readonly error: string }): void;
}

export interface MeasuredProviderOptions {
  readonly meter: CallMeter;
  readonly clock: Pick<Clock, "now">;
  /** The controller that calls. */
  readonly controller: string;
}

/** Error label of the metric, by code; empty for others. */
const errorNames: Partial<Readonly<Record<CloudErrorCode, string>>> = {
  "insufficient-capacity": "InsufficientCapacityError",
  "not-found": "NodeClaimNotFoundError",
  "node-class-not-ready": "NodeClassNotReadyError",
};

/** The provider with its calls timed and its errors counted. (02:C-5) */
export function measuredProvider(provider: CloudProvider, options: MeasuredProviderOptions): CloudProvider {
  const { meter, clock, controller } = options;
  const timed = async <T>(method: string, call: () => Promise<T>): Promise<T> => {
    const labels = { controller, method, provider: provider.name };
    const startedAt = clock.now();
    try {
      return await call();
    } catch (error) {
      const code = cloudErrorOf(error)?.code;
      meter.count("cloudprovider_errors_total", { ...labels, error: (code && errorNames[code]) ?? "" });
      throw error;
    } finally {
      meter.observe("cloudprovider_duration_seconds", labels, (clock.now() - startedAt) / 1_000);
    }
  };
  return {
    ...provider,
    create: (claim, options) => timed("Create", () => provider.create(claim, options)),
    delete: (claim) => timed("Delete", () => provider.delete(claim)),
    get: (providerId) => timed("Get", () => provider.get(providerId)),
    list: () => timed("List", () => provider.list()),
    instanceTypes: (pool) => timed("GetInstanceTypes", () => provider.instanceTypes(pool)),
    driftReason: (claim) => timed("IsDrifted", () => provider.driftReason(claim)),
  };
}
