import type { ResourceSlice } from "../../api/devices/device-objects.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { resourceSlices } from "../device-views.ts";
import { claimNamesOfNode, type NodeKubeObject } from "./claim-lookups.ts";

const nodeIndex = "node";

/**
 * ResourceSlices of the node's own devices. Not every cluster serves them, so they are watched only once a claim needs
 * them; until the first list there are none, and the claim is requeued. (03:L-16)
 */
export function resourceSlicesOfNode(
  { metadata }: NodeKubeObject,
  context: ControllerContext,
): readonly ResourceSlice[] {
  const view = context.view<ResourceSlice>(resourceSlices);
  view.addIndex(nodeIndex, nodeNameOf);
  return view.byIndex(nodeIndex, metadata.name ?? "");
}

/** A slice that a node has published, or withdrawn, may be what a claim waits for. (03:L-1) */
export function claimNamesForSlice(
  { object, old }: ObjectChange<ResourceSlice>,
  context: ControllerContext,
): readonly string[] {
  const names = new Set([object, old].map((slice) => slice && nodeNameOf(slice)));
  return [...names].flatMap((name) => {
    const node = name === undefined ? undefined : context.view<NodeKubeObject>(builtInTypes.Node).get(name);
    return node === undefined ? [] : claimNamesOfNode(node, context);
  });
}

function nodeNameOf({ spec, metadata }: ResourceSlice): string | undefined {
  return spec.nodeName || metadata.ownerReferences?.find(({ kind }) => kind === "Node")?.name;
}

interface DevicePool {
  readonly driver: string;
  readonly generation: number;
  readonly expected: number;
  readonly seen: number;
}

/** The first of the requested drivers (a comma-separated list) without a complete pool among the slices. */
export function unpublishedDriver(asked: string, slices: readonly ResourceSlice[]): string | undefined {
  const complete = new Set(
    devicePoolsOf(slices)
      .filter(isComplete)
      .map(({ driver }) => driver),
  );
  const drivers = asked.split(",").map((driver) => driver.trim());
  return drivers.find((driver) => driver !== "" && !complete.has(driver));
}

/** Slices of older generations do not count. */
function devicePoolsOf(slices: readonly ResourceSlice[]): readonly DevicePool[] {
  const pools = new Map<string, DevicePool>();
  for (const { spec } of slices) {
    const { name, generation, resourceSliceCount: expected } = spec.pool;
    const key = `${spec.driver}/${name}`;
    const known = pools.get(key);
    if (known !== undefined && generation < known.generation) continue;
    const seen = known !== undefined && generation === known.generation ? known.seen + 1 : 1;
    pools.set(key, { driver: spec.driver, generation, expected, seen });
  }
  return [...pools.values()];
}

function isComplete({ expected, seen }: DevicePool): boolean {
  return expected > 0 && seen === expected;
}
