import type { Bitset } from "../../util/bitset.ts";
import { clash, hostPortsOf } from "../host-ports.ts";
import { capacityType, reservationId } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import { untolerated } from "../tolerations.ts";
import type { Outline } from "./outline.ts";
import type { Claim, Entry, Fit, Pass, Shop } from "./pass-state.ts";
import type { HostPort } from "./problem.ts";
import { settle } from "./settle.ts";
import type { Variant } from "./variants.ts";

/** A pod, at one level of relaxation, looking for a place. */
export interface Seeker {
  readonly entry: Entry;
  readonly variant: Variant;
}

/** A claim to be tried: one that is open, or what a new one would be. */
export interface Prospect {
  readonly shop: Shop;
  readonly host: number;
  readonly hostname: string;
  readonly outline: Outline;
  readonly columns: Bitset;
  readonly used: Float64Array;
  readonly hostPorts: readonly HostPort[];
  readonly isNew: boolean;
}

/** What a claim would become with the pod on it; undefined: it cannot take it. (02:N-1 to N-3) */
export function fitOnClaim(pass: Pass, { entry, variant }: Seeker, prospect: Prospect): Fit | undefined {
  const { shop, host } = prospect;
  pass.refusedByReservation = false;
  for (const { group, self, podDomains } of variant.hostRules)
    if (!group.allowsHost(host, { self, pod: podDomains })) return undefined;
  const merged = welcome(variant, prospect);
  if (merged === undefined) return undefined;
  const ports = entry.podClass.hasHostPorts ? hostPortsOf(entry.pod) : [];
  if (clash(ports, prospect.hostPorts) !== undefined) return undefined;
  const finish = (outline: Outline): Fit | undefined =>
    finishFit(pass, { entry, variant }, { ...prospect, outline }, ports);
  const { volumeAlternatives } = entry.podClass;
  if (volumeAlternatives.length === 0) return settle(merged, { variant, outlines: shop.outlines, finish });
  for (const alternative of volumeAlternatives) {
    pass.refusedByReservation = false;
    if (!(alternative.hostname?.has(prospect.hostname) ?? true)) continue;
    const outline = shop.outlines.merge(merged, alternative);
    const fit = outline === null ? undefined : settle(outline, { variant, outlines: shop.outlines, finish });
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/** Taints and requirements. (02:N-1, N-2) */
export function welcome(variant: Variant, prospect: Prospect): Outline | undefined {
  if (!isInvited(variant, prospect)) return undefined;
  return prospect.shop.outlines.merge(prospect.outline, variant.incoming) ?? undefined;
}

/** Taints and the name of the host: what can never change for the better. */
export function isInvited(variant: Variant, { shop, hostname }: Prospect): boolean {
  return toleratesShop(variant, shop) && (variant.hostname?.has(hostname) ?? true);
}

function toleratesShop(variant: Variant, shop: Shop): boolean {
  const known = variant.tolerated.get(shop.index);
  if (known !== undefined) return known;
  const taints = shop.template.nodePool.spec.template.spec.taints ?? [];
  const result = untolerated(variant.tolerations, taints) === undefined;
  variant.tolerated.set(shop.index, result);
  return result;
}

/** Instance types, flexibility and reservations once the requirements are settled. (02:N-3d to N-3f) */
function finishFit(pass: Pass, seeker: Seeker, prospect: Prospect, ports: readonly HostPort[]): Fit | undefined {
  const columns = fittingColumns(pass, seeker, { prospect, ports });
  if (columns === undefined) return undefined;
  const flexible = keepFlexible(pass, prospect, columns);
  if (flexible === undefined) return undefined;
  const reservations = reserve(pass, { ...prospect, outline: flexible.outline, columns });
  if (reservations === "unavailable") {
    pass.refusedByReservation = true;
    return undefined;
  }
  return { ...flexible, columns, reservations };
}

/** Columns left for the pod: they match, can be bought, and are large enough with their daemons. (02:F-1) */
export function fittingColumns(
  pass: Pass,
  { entry }: Seeker,
  { prospect: { shop, outline, columns, used }, ports }: { prospect: Prospect; ports: readonly HostPort[] },
): Bitset | undefined {
  const request = pass.requests.get(entry.podClass) as Float64Array;
  const { scratch } = pass;
  let found: Bitset | undefined;
  for (const group of shop.daemons) {
    if (clash(ports, group.hostPorts) !== undefined) continue;
    for (let i = 0; i < scratch.length; i++)
      scratch[i] = (used[i] as number) + (request[i] as number) + (group.row[i] as number);
    const fitting = columns.intersection(outline.choice.columns);
    if (shop.daemons.length > 1) fitting.and(group.columns);
    shop.catalogue.keepFitting(fitting, scratch);
    found = found === undefined ? fitting : found.or(fitting);
  }
  return found === undefined || found.isEmpty() ? undefined : found;
}

/** minValues must hold over the types that are left, or, for a new claim under BestEffort, be lowered. (02:F-2) */
function keepFlexible(
  pass: Pass,
  { shop, outline, isNew }: Prospect,
  columns: Bitset,
): Pick<Fit, "outline" | "minValuesRelaxed"> | undefined {
  if (!outline.hasMinValues) return { outline, minValuesRelaxed: false };
  const outcome = checkMinValues(shop.catalogue.typesIn(columns), outline.requirements);
  if (outcome.kind === "satisfied") return { outline, minValuesRelaxed: false };
  if (!isNew || pass.problem.policy.minValues !== "BestEffort") return undefined;
  let requirements = outline.requirements;
  for (const [key, count] of outcome.achieved)
    requirements = requirements.replace(requirements.get(key).withMinValues(count));
  return { outline: shop.outlines.of(requirements), minValuesRelaxed: true };
}

/** Reserved offerings to hold: undefined where none concern the claim. (02:Y-2, Y-3) */
export function reserve(
  pass: Pass,
  { shop, host, outline, columns }: Prospect,
): ReadonlySet<string> | undefined | "unavailable" {
  const { reservations, problem } = pass;
  if (reservations.isEmpty) return undefined;
  const collected = new Set<string>();
  let isCompatible = false;
  for (const { column, offering } of shop.catalogue.offeringsIn(shop.catalogue.offeringsMatching(outline.byKey))) {
    const id = capacityType(offering) === "reserved" ? reservationId(offering) : undefined;
    if (id === undefined || !shop.catalogue.hasType(columns, shop.catalogue.columns[column]?.typeIndex ?? 0)) continue;
    isCompatible = true;
    if (reservations.canHold(host, id)) collected.add(id);
  }
  if (problem.policy.reservedMode === "Strict") {
    if (isCompatible && collected.size === 0) return "unavailable";
    if (reservations.heldBy(host).size > 0 && collected.size === 0) return "unavailable";
  }
  return collected;
}

/** A claim that is open, as something to be tried. */
export function prospectOf({ shop, host, hostname, outline, columns, used, hostPorts }: Claim): Prospect {
  return { shop, host, hostname, outline, columns, used, hostPorts, isNew: false };
}

/** The pods of the round see new nodes under made-up names. (02:Q-21) */
export function placeholder(claim: number): string {
  return `hostname-placeholder-${String(claim + 1).padStart(4, "0")}`;
}
