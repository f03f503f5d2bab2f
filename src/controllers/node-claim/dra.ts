import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import type { LiveNode } from "./lookups.ts";

/** `resource.k8s.io/v1` ResourceSlice, as far as it says which pools a driver has published. */
export interface ResourceSlice extends KubeObject {
  readonly spec: {
    readonly driver: string;
    readonly nodeName?: string | undefined;
    readonly pool: { readonly name: string; readonly generation: number; readonly resourceSliceCount: number };
  };
}

const resourceSlices: ResourceType = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
};
const byNode = "node";

/**
 * Slices of the node's own devices. Not every cluster serves them, so that nobody watches them before a claim needs
 * them; until they are here there are none, and the claim is looked at again. (03:L-16)
 */
export function localSlices({ metadata }: LiveNode, world: LoopWorld): readonly ResourceSlice[] {
  const view = world.view<ResourceSlice>(resourceSlices);
  view.index(byNode, nodeNameOf);
  return view.by(byNode, metadata.name ?? "");
}

function nodeNameOf({ spec, metadata }: ResourceSlice): string | undefined {
  return spec.nodeName || metadata.ownerReferences?.find(({ kind }) => kind === "Node")?.name;
}

interface Pool {
  readonly driver: string;
  readonly generation: number;
  readonly expected: number;
  readonly seen: number;
}

/** The first of the drivers asked for, as a comma list, that has no complete pool among the slices. */
export function unpublishedDriver(asked: string, slices: readonly ResourceSlice[]): string | undefined {
  const complete = new Set(
    poolsOf(slices)
      .filter(isComplete)
      .map(({ driver }) => driver),
  );
  const drivers = asked.split(",").map((driver) => driver.trim());
  return drivers.find((driver) => driver !== "" && !complete.has(driver));
}

/** Slices of older generations are leftovers. */
function poolsOf(slices: readonly ResourceSlice[]): readonly Pool[] {
  const pools = new Map<string, Pool>();
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

function isComplete({ expected, seen }: Pool): boolean {
  return expected > 0 && seen === expected;
}
