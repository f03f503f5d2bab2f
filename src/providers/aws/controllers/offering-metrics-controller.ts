import type { NodePool } from "../../../api/kinds/node-pool.ts";
import { capacityTypes } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type InstanceType, offeringCapacityType, offeringZone } from "../../../core/instance-type.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import { throwIfAny } from "../../../util/concurrent.ts";
import type { AwsMetrics } from "../aws-metrics.ts";
import type { InstanceTypeDiscovery } from "../instance-types/instance-type-discovery.ts";

const periodMs = 60_000;
const retry = { baseMs: periodMs, maxMs: periodMs };

export interface OfferingMetricsOptions {
  readonly metrics: Pick<AwsMetrics, "collect">;
  readonly discovery: Pick<InstanceTypeDiscovery, "known">;
  readonly instanceTypes: (pool: NodePool) => Promise<readonly InstanceType[]>;
  /** The gate ReservedCapacity. */
  readonly usesReservations: boolean;
}

/** One series of each of the two gauges of offerings. */
interface OfferingRow {
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly isAvailable: boolean;
  readonly price: number;
}

/** By type, capacity type and zone. */
type OfferingRows = ReadonlyMap<string, OfferingRow>;

/** What the gauges show until the next look. */
interface OfferingMetricsState {
  rows: OfferingRows;
}

/**
 * The gauges of instance types and of their offerings. An offering is available if it is for any pool. Series are computed
 * when metrics are read, so those of types, zones and pools that are gone end with them. (04 §5.5)
 */
export function offeringMetricsController(options: OfferingMetricsOptions): Controller {
  return reconcileController<ControllerContext, OfferingMetricsState>({
    name: "cloudprovider.metrics",
    triggers: [],
    kinds: [karpenterTypes.NodePool],
    initialKeys: ["all"],
    backOff: retry,
    reads: [karpenterTypes.NodePool, "cloud"].map((of) => ({ of, withinMs: periodMs, because: "gauges are renewed" })),
    start: () => ({ rows: new Map() }),
    subscribe: (_, __, state) => collectAll(options, state),
    reconcile: async (_, context, state) => {
      await renew(state, context, options);
      return { afterMs: periodMs };
    },
  });
}

/** Returns how to stop. */
function collectAll({ metrics, discovery }: OfferingMetricsOptions, state: OfferingMetricsState): () => void {
  const offerings = (measure: (row: OfferingRow) => number) =>
    function* () {
      for (const row of state.rows.values()) {
        const { instanceType: instance_type, capacityType: capacity_type, zone } = row;
        yield { labels: { instance_type, capacity_type, zone }, value: measure(row) };
      }
    };
  const types = (measure: (size: { readonly vcpu: number; readonly memoryMiB: number }) => number) =>
    function* () {
      for (const info of discovery.known?.typeInfos ?? []) {
        yield { labels: { instance_type: info.name }, value: measure(info) };
      }
    };
  const stops = [
    metrics.collect(
      "cloudprovider_instance_type_cpu_cores",
      types(({ vcpu }) => vcpu),
    ),
    metrics.collect(
      "cloudprovider_instance_type_memory_bytes",
      types(({ memoryMiB }) => memoryMiB * 2 ** 20),
    ),
    metrics.collect(
      "cloudprovider_instance_type_offering_available",
      offerings(({ isAvailable }) => Number(isAvailable)),
    ),
    metrics.collect(
      "cloudprovider_instance_type_offering_price_estimate",
      offerings(({ price }) => price),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** A pool whose types cannot be told keeps the series it had, and does not keep those of others from being renewed. */
async function renew(
  state: OfferingMetricsState,
  { view }: ControllerContext,
  options: OfferingMetricsOptions,
): Promise<void> {
  const pools = view<KubeObject & NodePool>(karpenterTypes.NodePool)
    .all()
    .filter(({ spec }) => spec.template.spec.nodeClassRef.kind === karpenterTypes.EC2NodeClass.kind);
  const results = await Promise.allSettled(pools.map((pool) => options.instanceTypes(pool)));
  const lists = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const errors = results.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const rows = offeringRows([...new Set(lists)], options); // pools of one class have the same list
  state.rows = errors.length === 0 ? rows : new Map([...state.rows, ...rows]);
  throwIfAny(errors, "renewing the gauges of offerings");
}

function offeringRows(
  lists: readonly (readonly InstanceType[])[],
  { usesReservations }: Pick<OfferingMetricsOptions, "usesReservations">,
): OfferingRows {
  const rows = new Map<string, OfferingRow>();
  const add = (row: OfferingRow): void => {
    const key = `${row.instanceType}/${row.capacityType}/${row.zone}`;
    const other = rows.get(key);
    rows.set(key, other === undefined || isPreferred(row, other) ? row : other);
  };
  for (const { name: instanceType, offerings } of lists.flat()) {
    for (const offering of offerings) {
      const zone = offeringZone(offering) ?? "";
      const capacityType = offeringCapacityType(offering) ?? "";
      add({ instanceType, capacityType, zone, isAvailable: offering.available, price: offering.price });
      // Zones without a reservation say so, or a reservation that ended would only be a series that is missing.
      if (usesReservations) add({ instanceType, capacityType: capacityTypes[0], zone, isAvailable: false, price: 0 });
    }
  }
  return rows;
}

/** Available before unavailable, then the cheaper; an unknown price is 0, and any other says more. */
function isPreferred(row: OfferingRow, other: OfferingRow): boolean {
  if (row.isAvailable !== other.isAvailable) return row.isAvailable;
  return row.price > 0 && (other.price === 0 || row.price < other.price);
}
