import type { LabelPolicy } from "../../api/label-policy.ts";
import { resources } from "../../api/labels.ts";
import { intersects, isCompatible } from "../compatibility.ts";
import { offeringGroups } from "../instance-type.ts";
import type { Resources } from "../resources.ts";
import { nodeClaimTemplateOf } from "../scheduling/node-claim-template.ts";
import type { Pool } from "../scheduling/problem.ts";

/** The allocatable resources of an offering, and its price. */
interface PricedCapacity {
  readonly allocatable: Resources;
  readonly price: number;
}

/**
 * A lower bound of the hourly price of these requests on nodes of these pools, as if nodes were divisible and pods had
 * no constraints. Exact for cpu and memory together; of other resources the most expensive one counts. Zero without
 * requests, infinite if a resource is not offered. (03 §10.2)
 */
export function resourceBound(requests: Resources, pools: readonly Pool[], policy: LabelPolicy): number {
  const pricedCapacities = pools.flatMap((pool) => pricedCapacitiesOf(pool, policy));
  const names = Object.keys(requests).filter((name) => (requests[name]?.sign() ?? 0) > 0);
  const alone = names.map((name) => {
    const each = pricedCapacities.map(
      ({ allocatable, price }) => price / Math.max(0, allocatable[name]?.toNumber() ?? 0),
    );
    const least = each.reduce((low, one) => Math.min(low, one), Number.POSITIVE_INFINITY);
    return least * (requests[name]?.toNumber() ?? 0);
  });
  return Math.max(0, ...alone, cpuAndMemoryBound(requests, pricedCapacities));
}

function pricedCapacitiesOf({ nodePool, instanceTypes }: Pool, policy: LabelPolicy): readonly PricedCapacity[] {
  const { requirements } = nodeClaimTemplateOf(nodePool, policy);
  const allowUndefined = policy.wellKnown;
  return instanceTypes
    .filter((type) => intersects(requirements, type.requirements))
    .flatMap((type) =>
      offeringGroups(type).flatMap(({ allocatable, offerings }) => {
        const possible = offerings.filter((one) => isCompatible(requirements, one.requirements, { allowUndefined }));
        if (possible.length === 0) return [];
        return [
          { allocatable, price: possible.reduce((low, { price }) => Math.min(low, price), Number.POSITIVE_INFINITY) },
        ];
      }),
    );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The largest prices of cpu and memory at which no node is worth more than it costs: the dual of using fractions of
 * nodes. Its optimum lies on an edge of the convex hull of resources per dollar.
 */
function cpuAndMemoryBound(requests: Resources, pricedCapacities: readonly PricedCapacity[]): number {
  const cpu = requests[resources.cpu]?.toNumber() ?? 0;
  const memory = requests[resources.memory]?.toNumber() ?? 0;
  const points = pricedCapacities
    .filter(({ price }) => price > 0)
    .map(({ allocatable, price }) => ({
      x: (allocatable[resources.cpu]?.toNumber() ?? 0) / price,
      y: (allocatable[resources.memory]?.toNumber() ?? 0) / price,
    }));
  if (points.length < pricedCapacities.length) return 0; // something is free
  const hull = upperRightHull(points);
  let best = 0;
  for (let index = 1; index < hull.length; index++) {
    const [p, q] = [hull[index - 1] as Point, hull[index] as Point];
    const determinant = p.x * q.y - q.x * p.y;
    if (determinant === 0) continue;
    const perCpu = (q.y - p.y) / determinant;
    const perByte = (p.x - q.x) / determinant;
    if (perCpu >= 0 && perByte >= 0) best = Math.max(best, perCpu * cpu + perByte * memory);
  }
  return best;
}

/** The upper right part of the convex hull. */
function upperRightHull(points: readonly Point[]): readonly Point[] {
  const hull: Point[] = [];
  for (const point of [...points].sort((a, b) => b.x - a.x || b.y - a.y)) {
    if ((hull.at(-1)?.y ?? -1) >= point.y) continue;
    while (hull.length > 1 && !turnsLeft(hull.at(-2) as Point, hull.at(-1) as Point, point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

function turnsLeft(a: Point, b: Point, c: Point): boolean {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
}
