import type { NodePool } from "../../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import type { Ec2NodeClassObject } from "../node-class/node-class-object.ts";
import { canUseZone, type ZonalShifts } from "../zonal-shifts.ts";

const periodMs = 30_000;

export interface ZonalShiftControllerOptions {
  readonly shifts: ZonalShifts;
  readonly policy: LabelPolicy;
}

/** Asks which zones the cluster is shifted away from, and tells the pools that could use them. (04 §2.9) */
export function zonalShiftController(options: ZonalShiftControllerOptions): Controller {
  return reconcileController({
    name: "zonalshift",
    triggers: [],
    kinds: [karpenterTypes.NodePool, karpenterTypes.EC2NodeClass],
    initialKeys: ["shifts"],
    reads: ["cloud", karpenterTypes.NodePool, karpenterTypes.EC2NodeClass].map((of) => ({
      of,
      withinMs: periodMs,
      because: "shifts are not announced; pools are told when one begins or ends",
    })),
    reconcile: async (_, context) => {
      const { started, ended } = await options.shifts.refresh();
      for (const id of started) recordShift(id, "ZonalShiftActive", context, options);
      for (const id of ended) recordShift(id, "ZonalShiftCleared", context, options);
      return { afterMs: periodMs };
    },
  });
}

function recordShift(
  zoneId: string,
  reason: "ZonalShiftActive" | "ZonalShiftCleared",
  { view, recordEvent }: ControllerContext,
  { policy }: ZonalShiftControllerOptions,
): void {
  const subnets = view<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass)
    .all()
    .flatMap(({ status }) => status?.subnets ?? []);
  const name = subnets.find(({ zoneID }) => zoneID === zoneId)?.zone;
  for (const pool of view<KubeObject & NodePool>(karpenterTypes.NodePool).all()) {
    if (!canUseZone(pool, { id: zoneId, name }, policy)) continue;
    const isActive = reason === "ZonalShiftActive";
    recordEvent(pool, {
      type: isActive ? "Warning" : "Normal",
      reason,
      message: isActive
        ? `no nodes are launched in zone ${zoneId} while the cluster is shifted away from it`
        : `the cluster is no longer shifted away from zone ${zoneId}`,
      dedupe: { values: [pool.metadata.uid ?? "", zoneId, reason] },
    });
  }
}
