import type { Draw } from "./draw.ts";
import { keys, poolNames, teams } from "./names.ts";
import type { PlainObject, RequirementItem } from "./problem.ts";
import type { RandomCatalogue } from "./random-catalogue.ts";
import { randomRequirement } from "./random-requirements.ts";

export const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

export function randomPools(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  const count = draw.pick([1, 1, 1, 2, 2, 3]);
  return poolNames.slice(0, count).map((name) => randomPool(draw, name, catalogue));
}

function randomPool(draw: Draw, name: string, catalogue: RandomCatalogue): PlainObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, ...draw.maybe(0.02, () => ({ deletionTimestamp: "2026-01-15T11:00:00Z" })) },
    spec: {
      ...draw.maybe(0.3, () => ({ weight: draw.pick([1, 10, 50]) })),
      ...draw.maybe(0.25, () => ({ limits: randomLimits(draw) })),
      template: {
        ...draw.maybe(0.25, () => ({ metadata: { labels: { [keys.team]: draw.pick(teams) } } })),
        spec: {
          nodeClassRef,
          requirements: poolRequirements(draw, catalogue),
          ...draw.maybe(0.25, () => ({ taints: randomTaints(draw) })),
          ...draw.maybe(0.1, () => ({ startupTaints: [{ key: "example.com/boot", effect: "NoSchedule" }] })),
        },
      },
    },
  };
}

/** At most one for a key, as most pools have them, and sometimes two. */
function poolRequirements(draw: Draw, catalogue: RandomCatalogue): readonly RequirementItem[] {
  const items = draw
    .times(draw.pick([0, 0, 1, 1, 2, 3]), () => randomRequirement(draw, catalogue))
    .filter(({ key }) => key !== keys.nodePool);
  return items.map((item) => ({ ...item, ...draw.maybe(0.15, () => minValues(draw, item)) }));
}

function minValues(draw: Draw, { operator, values = [] }: RequirementItem): { minValues?: number } {
  if (operator === "In") return values.length < 2 ? {} : { minValues: draw.count(1, values.length) };
  return operator === "Exists" || operator === "NotIn" ? { minValues: draw.pick([1, 2, 3]) } : {};
}

function randomLimits(draw: Draw): Readonly<Record<string, string>> {
  return {
    ...draw.maybe(0.6, () => ({ cpu: draw.pick(["0", "4", "8", "20", "100"]) })),
    ...draw.maybe(0.3, () => ({ memory: draw.pick(["8Gi", "32Gi"]) })),
    ...draw.maybe(0.2, () => ({ nodes: draw.pick(["0", "1", "2", "10"]) })),
    ...draw.maybe(0.1, () => ({ [keys.gpu]: draw.pick(["0", "1"]) })),
  };
}

/** One or two, of different keys: a node can have a key and effect once. */
export function randomTaints(draw: Draw): readonly object[] {
  const hard = draw.pick([
    { key: "dedicated", value: "gpu", effect: "NoSchedule" },
    { key: "dedicated", effect: "NoSchedule" },
    { key: "dedicated", value: "cpu", effect: "NoExecute" },
  ]);
  const soft = draw.pick([
    { key: "soft", value: "yes", effect: "PreferNoSchedule" },
    { key: "soft", effect: "PreferNoSchedule" },
  ]);
  return draw.some([hard, soft], 1, 2);
}

/** Changes of price or capacity. Equal weights conflict, which both sides have to notice. */
export function randomOverlays(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  return draw.times(draw.count(1, 2), (index) => ({
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name: `overlay-${index}` },
    spec: {
      requirements: [overlayRequirement(draw, catalogue)],
      ...draw.maybe(0.6, () => ({ weight: draw.pick([1, 5, 10]) })),
      ...draw.pick<object>([
        { price: draw.pick(["0.01", "3"]) },
        { priceAdjustment: draw.pick(["+50%", "-20%", "+0.5", "-0.01"]) },
        { capacity: { "example.com/license": draw.pick(["1", "2"]) } },
      ]),
    },
  }));
}

function overlayRequirement(draw: Draw, { zones, typeNames }: RandomCatalogue): RequirementItem {
  return draw.pick<RequirementItem>([
    { key: keys.zone, operator: "In", values: draw.some(zones, 1, 2) },
    { key: keys.capacityType, operator: "In", values: [draw.pick(["spot", "on-demand"])] },
    { key: keys.instanceType, operator: "In", values: draw.some(typeNames, 1, 2) },
    { key: keys.instanceType, operator: "NotIn", values: draw.some(typeNames, 1, 2) },
    { key: keys.arch, operator: "In", values: ["amd64"] },
  ]);
}
