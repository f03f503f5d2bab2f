import { resources, type Taint } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { hostPortsOf } from "../host-ports.ts";
import { type Prospect, placeholder, type Seeker } from "./claims.ts";
import type { Outline } from "./outline.ts";
import type { Claim, Counting, Fit, NodeSeat, Pass, Shop } from "./pass-state.ts";
import type { NodeVolumes } from "./problem.ts";
import type { TopologyGroup } from "./topology/group.ts";

/** Puts a pod on a node that exists. */
export function commitToNode(
  pass: Pass,
  { entry }: Seeker,
  { seat, outline }: { seat: NodeSeat; outline: Outline },
): void {
  const request = pass.requests.get(entry.podClass) as Float64Array;
  for (let i = 0; i < request.length; i++) (seat.remaining[i] as number) -= request[i] as number;
  seat.outline = outline;
  seat.pods.push(entry);
  if (entry.podClass.hasHostPorts) seat.hostPorts = [...seat.hostPorts, ...hostPortsOf(entry.pod)];
  if (entry.podClass.volumes.size > 0) seat.volumes = withVolumes(seat.volumes, entry.podClass.volumes);
  record(pass, { entry } as Seeker, {
    outline,
    host: seat.index,
    hostname: seat.node.hostname,
    taints: seat.node.taints,
  });
}

/** Puts a pod on a node to be bought that already has some. */
export function commitToClaim(pass: Pass, seeker: Seeker, { claim, fit }: { claim: Claim; fit: Fit }): void {
  join(pass, seeker, claim, fit);
  pass.order.grow(claim.index);
}

/** Opens a node to be bought, with its first pod, and charges the pool's limits. (02:Q-23, H-3) */
export function openClaim(pass: Pass, seeker: Seeker, { prospect, fit }: { prospect: Prospect; fit: Fit }): void {
  const claim: Claim = {
    index: pass.claims.length,
    shop: prospect.shop,
    host: prospect.host,
    hostname: prospect.hostname,
    outline: fit.outline,
    columns: fit.columns,
    opened: fit.columns,
    used: pass.space.zero(),
    hostPorts: [],
    pods: [],
    minValuesRelaxed: fit.minValuesRelaxed,
  };
  pass.claims.push(claim);
  join(pass, seeker, claim, fit);
  pass.order.open(claim.index);
  charge(claim);
}

/** A claim from the pool as it would begin; why not, when limits are in the way. (02:Q-21, H-2) */
export function newProspect(pass: Pass, shop: Shop): Prospect | "node-limit" | "limits" {
  if (shop.remaining.get(resources.nodes) === 0) return "node-limit";
  const columns = withinLimits(shop);
  if (columns.isEmpty()) return "limits";
  const index = pass.claims.length;
  return {
    shop,
    host: pass.seats.length + index,
    hostname: placeholder(index),
    outline: shop.start,
    columns,
    used: pass.space.zero(),
    hostPorts: [],
    isNew: true,
  };
}

/** Types whose whole capacity the pool may still add. A type has no `nodes`: a missing amount is zero. (02:H-2) */
export function withinLimits({ catalogue, remaining, columns }: Shop): Bitset {
  const tight = [...remaining].filter(([name, left]) => left < catalogue.largest(columns, name));
  if (tight.length === 0 && [...remaining.values()].every((left) => left >= 0)) return columns;
  const within = Bitset.empty(columns.size);
  columns.forEach((column) => {
    const typeIndex = catalogue.columns[column]?.typeIndex ?? 0;
    if ([...remaining].every(([name, left]) => catalogue.capacityOf(typeIndex, name) <= left)) within.add(column);
  });
  return within;
}

/** The largest type left is charged, and one node. (02:H-3, 02 §12.2-2) */
function charge({ shop, columns }: Claim): void {
  for (const [name, left] of shop.remaining) {
    shop.remaining.set(name, left - (name === resources.nodes ? 1 : shop.catalogue.largest(columns, name)));
  }
}

function join(pass: Pass, seeker: Seeker, claim: Claim, fit: Fit): void {
  const { entry } = seeker;
  const request = pass.requests.get(entry.podClass) as Float64Array;
  for (let i = 0; i < request.length; i++) (claim.used[i] as number) += request[i] as number;
  claim.outline = fit.outline;
  claim.columns = fit.columns;
  claim.pods.push(entry);
  entry.placedAs = seeker.variant;
  if (entry.podClass.hasHostPorts) claim.hostPorts = [...claim.hostPorts, ...hostPortsOf(entry.pod)];
  if (fit.reservations !== undefined) pass.reservations.hold(claim.host, fit.reservations);
  const taints = claim.shop.template.nodePool.spec.template.spec.taints ?? [];
  record(pass, seeker, { outline: fit.outline, host: claim.host, hostname: claim.hostname, taints });
}

interface Place {
  readonly outline: Outline;
  readonly host: number;
  readonly hostname: string;
  readonly taints: readonly Taint[];
}

/** Counts the pod in every group that selects it, as far as it is known where it will be. (02:X-40) */
function record(pass: Pass, { entry }: Seeker, place: Place): void {
  pass.commits++;
  const counting = countingOf(pass, entry.podClass);
  for (const group of counting.groups) {
    const { filter } = group.spec;
    if (filter.matches({ requirements: place.outline.requirements, hostname: place.hostname, taints: place.taints })) {
      count(pass, group, place, group.spec.kind === "anti-affinity");
    }
  }
  for (const group of counting.inverse) count(pass, group, place, true);
}

/** Anti-affinity counts every place the pod might be; the others only a place that is certain. */
function count(pass: Pass, group: TopologyGroup, { outline, host, hostname }: Place, everyPlace: boolean): void {
  if (group.isHostname) {
    group.recordHost(hostname, host);
    return;
  }
  const id = outline.get(group.spec.key);
  if (id === undefined) return;
  const requirement = pass.table.get(id);
  if (requirement.complement || !(everyPlace || requirement.values.size === 1)) return;
  for (const domain of requirement.values) group.record(domain);
}

/** Groups may be added by relaxation: look only at those not seen yet. */
export function countingOf(pass: Pass, podClass: Seeker["entry"]["podClass"]): Counting {
  const counting = pass.counting.get(podClass) as Counting;
  const { groups } = pass.topology;
  for (; counting.seen < groups.length; counting.seen++) {
    const group = groups[counting.seen] as TopologyGroup;
    if (group.selects(podClass.namespace, podClass.labels)) counting.groups.push(group);
  }
  return counting;
}

function withVolumes(volumes: NodeVolumes, added: ReadonlyMap<string, ReadonlySet<string>>): NodeVolumes {
  const attached = new Map(volumes.attached);
  for (const [driver, keys] of added) attached.set(driver, new Set([...(attached.get(driver) ?? []), ...keys]));
  return { attached, limits: volumes.limits };
}
