import { Bitset } from "../../util/bitset.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import { isRowWithin } from "../scheduling/resource-space.ts";
import type { BoundProfile } from "./bound-profiles.ts";

/** A node of which a fraction can be launched. */
export interface FractionalNode {
  readonly price: number;
  /** Allocatable resources less daemons. */
  readonly podResources: Float64Array;
  /** Profiles that may be on it, by index. */
  readonly allowedProfiles: Bitset;
  /** How many hosts it stands for. */
  readonly hostCount: number;
}

/** Nodes within this factor of each other are merged, at least as good as each: a smaller program. */
const bundleFactor = 1.05;

/** Fractional nodes for these profiles, without dominated ones. */
export function fractionalNodesFor(pass: Pass, profiles: readonly BoundProfile[]): readonly FractionalNode[] {
  const all = pass.poolTemplates.flatMap((poolTemplate) => fractionalNodesOfPool(pass, poolTemplate, profiles));
  const kept: FractionalNode[] = [];
  for (const node of all.sort((a, b) => a.price - b.price)) {
    if (!kept.some((other) => isDominated(node, other))) kept.push(node);
  }
  return bundleSimilar(kept.filter((node) => !kept.some((other) => other !== node && isDominated(node, other))));
}

/** One for each offering. The columns of a type are merged: a plan's price is by type. */
function fractionalNodesOfPool(
  pass: Pass,
  poolTemplate: PoolTemplate,
  profiles: readonly BoundProfile[],
): readonly FractionalNode[] {
  const { typeTable } = poolTemplate;
  const podResourcesByType = typeTable.types.map((_, typeIndex) => podResourcesOfType(pass, poolTemplate, typeIndex));
  const allowed = profiles.map(({ offerings }) => offerings.get(poolTemplate));
  const nodes: FractionalNode[] = [];
  for (let index = 0; index < typeTable.offeringCount; index++) {
    const column = typeTable.columnOfOffering(index);
    const podResources = podResourcesByType[typeTable.columns[column]?.typeIndex ?? 0];
    if (podResources === undefined) continue;
    const allowedProfiles = Bitset.empty(profiles.length);
    for (const [at, { request }] of profiles.entries()) {
      if (allowed[at]?.has(index) && isRowWithin(request, podResources)) allowedProfiles.add(at);
    }
    if (!allowedProfiles.isEmpty())
      nodes.push({ price: typeTable.priceOfOffering(index), podResources, allowedProfiles, hostCount: 1 });
  }
  return nodes;
}

function podResourcesOfType(
  { space }: Pass,
  { typeTable, daemonGroups }: PoolTemplate,
  typeIndex: number,
): Float64Array | undefined {
  let podResources: Float64Array | undefined;
  for (const column of typeTable.columnsOf(typeIndex)) {
    const row = typeTable.allocatable[column] ?? space.zeroRow();
    const overhead = daemonGroups.find((group) => group.columns.has(column))?.overheadRow;
    if (overhead === undefined) continue;
    const left = row.map((amount, dimension) => Math.max(0, amount - (overhead[dimension] as number)));
    podResources =
      podResources === undefined
        ? left
        : podResources.map((amount, dimension) => Math.max(amount, left[dimension] as number));
  }
  return podResources;
}

/** Whether the other one gives at least as much of everything for the money, and takes the same pods. */
function isDominated(node: FractionalNode, other: FractionalNode): boolean {
  if (other.price * node.hostCount > node.price * other.hostCount) return false;
  if (!node.allowedProfiles.isSubsetOf(other.allowedProfiles)) return false;
  return node.podResources.every(
    (amount, dimension) => amount * other.price <= (other.podResources[dimension] as number) * node.price,
  );
}

function bundleSimilar(nodes: readonly FractionalNode[]): readonly FractionalNode[] {
  const bundles: { first: FractionalNode; best: FractionalNode }[] = [];
  for (const node of nodes) {
    const fitting = bundles.find(({ first }) => isSimilar(first, node));
    if (fitting === undefined) bundles.push({ first: node, best: node });
    else fitting.best = bestOfBoth(fitting.best, node);
  }
  return bundles.map(({ best }) => best);
}

/** Whether they take the same pods, at about the same price, with about the same resources for it. */
function isSimilar(first: FractionalNode, node: FractionalNode): boolean {
  if (
    first.price === 0 ||
    node.price > first.price * bundleFactor ||
    !first.allowedProfiles.equals(node.allowedProfiles)
  )
    return false;
  return node.podResources.every((amount, dimension) => {
    const [own, other] = [amount * first.price, (first.podResources[dimension] as number) * node.price];
    return own <= other * bundleFactor && other <= own * bundleFactor;
  });
}

/** At least as good as either. */
function bestOfBoth(a: FractionalNode, b: FractionalNode): FractionalNode {
  const podResources = a.podResources.map((amount, dimension) =>
    Math.max(amount, ((b.podResources[dimension] as number) * a.price) / b.price),
  );
  return {
    price: a.price,
    podResources,
    allowedProfiles: a.allowedProfiles,
    hostCount: Math.max(a.hostCount, (b.hostCount * a.price) / b.price),
  };
}
