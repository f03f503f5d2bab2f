import { amountOf } from "../../core/resources.ts";
import { hoursPerMonth } from "../plan/plan-report.ts";
import { priceSourcesOf, type ReportedPriceSource } from "../prices/price-sources.ts";
import type { ChangedObject } from "./apply-change.ts";
import type { ClusterPicture, PicturedNode, PodPlace } from "./cluster-picture.ts";
import type { DriftedNode } from "./drifted-nodes.ts";

/** What a change makes different, as `-o json` prints it; the table is a rendering of this. */
export interface DiffReport {
  readonly isDifferent: boolean;
  readonly change: readonly ChangedObject[];
  readonly before: PictureTotals;
  readonly after: PictureTotals;
  /** Where the prices of all nodes come from. */
  readonly priceSources: Readonly<Record<"before" | "after", readonly ReportedPriceSource[]>>;
  readonly nodes: {
    readonly come: readonly DiffNodes[];
    readonly go: readonly DiffNodes[];
    readonly drift: readonly DriftedNode[];
  };
  readonly pods: {
    readonly move: readonly { readonly pod: string; readonly from: string; readonly to: string }[];
    readonly nowSchedulable: readonly { readonly pod: string; readonly to: string }[];
    readonly noLongerSchedulable: readonly DiffRefusal[];
    readonly come: readonly { readonly pod: string; readonly to: string }[];
    /** Pods the change adds, and that cannot be scheduled. */
    readonly comeUnschedulable: readonly DiffRefusal[];
    readonly go: readonly string[];
  };
  readonly limits: readonly DiffLimit[];
  readonly notes: { readonly come: readonly string[]; readonly go: readonly string[] };
}

export interface PictureTotals {
  readonly nodes: number;
  readonly pods: number;
  readonly unschedulable: number;
  /** Of nodes whose price is known. */
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
  readonly nodesWithoutPrice: number;
}

/** Nodes that are alike, or one that exists. */
export interface DiffNodes extends Omit<PicturedNode, "pods"> {
  readonly count: number;
  readonly pods: readonly string[];
}

export interface DiffRefusal {
  readonly pod: string;
  readonly message: string;
}

export interface DiffLimit {
  readonly nodePool: string;
  readonly resource: string;
  readonly before: LimitUse;
  readonly after: LimitUse;
}

/** Absent: there is no limit, or no such pool. */
interface LimitUse {
  readonly limit?: string | undefined;
  readonly used: string;
}

export interface DiffSides {
  readonly before: ClusterPicture;
  readonly after: ClusterPicture;
  readonly change: readonly ChangedObject[];
  readonly drifted: readonly DriftedNode[];
  /** Further notes on the change. */
  readonly notes: readonly string[];
}

export function diffReportOf(sides: DiffSides): DiffReport {
  const { before, after, change, drifted } = sides;
  const nodes = { come: nodesOnlyIn(after, before), go: nodesOnlyIn(before, after), drift: drifted };
  const pods = podDifferences(sides);
  const limits = limitDifferences(sides);
  const notes = { come: [...notIn(after.notes, before.notes), ...sides.notes], go: notIn(before.notes, after.notes) };
  const lists = [nodes, pods, notes].flatMap((one) => Object.values(one) as readonly (readonly unknown[])[]);
  const totals = { before: totalsOf(before), after: totalsOf(after) };
  const isPriceDifferent = Math.abs(totals.after.pricePerHour - totals.before.pricePerHour) > 1e-9;
  const isDifferent = limits.length > 0 || isPriceDifferent || lists.some(({ length }) => length > 0);
  const priceSources = { before: priceSourcesIn(before), after: priceSourcesIn(after) };
  return { isDifferent, change, ...totals, priceSources, nodes, pods, limits, notes };
}

/** Whether a pod loses its place, or one that the change adds has none. */
export function hasLostPods({ pods }: DiffReport): boolean {
  return pods.noLongerSchedulable.length + pods.comeUnschedulable.length > 0;
}

function priceSourcesIn({ existing, planned }: ClusterPicture): readonly ReportedPriceSource[] {
  const nodes = [...existing.values(), ...planned];
  return priceSourcesOf(nodes.map(({ price = 0, priceSource }) => ({ price, priceSource })));
}

function totalsOf({ existing, planned, places }: ClusterPicture): PictureTotals {
  const nodes = [...existing.values(), ...planned];
  const pricePerHour = nodes.reduce((sum, { price = 0 }) => sum + price, 0);
  return {
    nodes: nodes.length,
    pods: places.size,
    unschedulable: [...places.values()].filter(({ kind }) => kind === "refused").length,
    pricePerHour,
    pricePerMonth: pricePerHour * hoursPerMonth,
    nodesWithoutPrice: nodes.filter(({ price }) => price === undefined).length,
  };
}

/** Existing nodes by name; planned ones by how many more there are of a kind. */
function nodesOnlyIn(one: ClusterPicture, other: ClusterPicture): readonly DiffNodes[] {
  const named = [...one.existing.values()]
    .filter(({ name = "" }) => !other.existing.has(name))
    .map((node): DiffNodes => ({ ...node, count: 1 }));
  const here = groupAlike(one.planned);
  const there = groupAlike(other.planned);
  const alike = [...here].flatMap(([key, nodes]): readonly DiffNodes[] => {
    const more = nodes.length - (there.get(key)?.length ?? 0);
    if (more <= 0) return [];
    return [mostDifferent(nodes, there.get(key) ?? [], more)];
  });
  return [...named, ...alike].sort((a, b) => compareText(nodeText(a), nodeText(b)));
}

/** The nodes that have least in common with those of the other side: the others are the same nodes. */
function mostDifferent(nodes: readonly PicturedNode[], others: readonly PicturedNode[], count: number): DiffNodes {
  const known = new Set(others.flatMap(({ pods }) => pods));
  const shared = ({ pods }: PicturedNode): number => pods.filter((pod) => known.has(pod)).length;
  const chosen = [...nodes]
    .sort((a, b) => shared(a) - shared(b) || compareText(a.pods[0] ?? "", b.pods[0] ?? ""))
    .slice(0, count);
  const [first] = chosen;
  const pods = chosen.flatMap((node) => node.pods).sort();
  return { zones: [], ...first, price: chosen.reduce((sum, { price = 0 }) => sum + price, 0), pods, count };
}

function groupAlike(nodes: readonly PicturedNode[]): ReadonlyMap<string, readonly PicturedNode[]> {
  const groups = new Map<string, PicturedNode[]>();
  for (const node of nodes) {
    const key = nodeText(node);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [node]);
    else known.push(node);
  }
  return groups;
}

/** `node-a`, or `new m5.large (on-demand, us-east-1a) of general` for one that does not exist yet. */
export function nodeText(node: Omit<PicturedNode, "pods" | "price">): string {
  const { name, nodePool = "no NodePool", instanceType = "node", capacityType, zones } = node;
  if (name !== undefined) return name;
  const about = [capacityType, zones.length > 1 ? `any of ${zones.length} zones` : zones[0]].filter(
    (part) => part !== undefined,
  );
  return `new ${instanceType}${about.length === 0 ? "" : ` (${about.join(", ")})`} of ${nodePool}`;
}

function podDifferences({ before, after }: DiffSides): DiffReport["pods"] {
  const found = {
    move: [] as DiffReport["pods"]["move"][number][],
    nowSchedulable: [] as DiffReport["pods"]["nowSchedulable"][number][],
    noLongerSchedulable: [] as DiffRefusal[],
    come: [] as DiffReport["pods"]["come"][number][],
    comeUnschedulable: [] as DiffRefusal[],
    go: [...before.places.keys()].filter((pod) => !after.places.has(pod)).sort(),
  };
  for (const [pod, place] of [...after.places].sort(([a], [b]) => compareText(a, b))) {
    const was = before.places.get(pod);
    const [from, to] = [was && placeText(was), placeText(place)];
    if (place.kind === "refused") {
      if (was === undefined) found.comeUnschedulable.push({ pod, message: place.message });
      else if (isPlaced(was)) found.noLongerSchedulable.push({ pod, message: place.message });
    } else if (was === undefined) found.come.push({ pod, to });
    else if (was.kind === "refused" && isPlaced(place)) found.nowSchedulable.push({ pod, to });
    else if (from !== undefined && from !== to) found.move.push({ pod, from, to });
  }
  return found;
}

function isPlaced({ kind }: PodPlace): boolean {
  return kind === "node" || kind === "planned";
}

function placeText(place: PodPlace): string {
  switch (place.kind) {
    case "node":
      return place.node;
    case "planned":
      return nodeText(place.node);
    case "refused":
      return "no node";
    case "none":
      return "nowhere yet";
  }
}

/** Limits of pools that are different, or whose use is. */
function limitDifferences({ before, after }: DiffSides): readonly DiffLimit[] {
  const pools = [...new Set([...before.pools.keys(), ...after.pools.keys()])].sort();
  return pools.flatMap((nodePool) => {
    const sides = [before.pools.get(nodePool), after.pools.get(nodePool)] as const;
    const names = [...new Set(sides.flatMap((side) => Object.keys(side?.limits ?? {})))].sort();
    return names.flatMap((resource): readonly DiffLimit[] => {
      const [was, is] = sides.map((side): LimitUse => {
        const limit = side && Object.hasOwn(side.limits, resource) ? side.limits[resource]?.canonical() : undefined;
        return { ...(limit !== undefined && { limit }), used: amountOf(side?.used ?? {}, resource).canonical() };
      }) as [LimitUse, LimitUse];
      const isSame = was.limit === is.limit && was.used === is.used;
      return isSame ? [] : [{ nodePool, resource, before: was, after: is }];
    });
  });
}

function notIn(notes: readonly string[], others: readonly string[]): readonly string[] {
  return notes.filter((note) => !others.includes(note));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
