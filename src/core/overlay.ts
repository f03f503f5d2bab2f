import type { NodeOverlay } from "../api/kinds/node-overlay.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { Problem } from "../api/problem.ts";
import { reviewNodeOverlay } from "../api/validation/node-overlay.ts";
import { byPrecedence } from "../api/validation/precedence.ts";
import { Quantity } from "../util/quantity.ts";
import { isCompatible } from "./compatibility.ts";
import type { InstanceType, Offering } from "./instance-type.ts";
import type { PriceSource } from "./price-source.ts";
import { Requirements } from "./requirements.ts";
import type { Resources } from "./resources.ts";
import type { Pool } from "./scheduling/problem.ts";

/** Why an overlay is not applied. (02:O-4, O-7) */
export type OverlayFault =
  | { readonly overlay: NodeOverlay; readonly reason: "RuntimeValidation"; readonly problems: readonly Problem[] }
  | { readonly overlay: NodeOverlay; readonly reason: "Conflict"; readonly message: string };

/** Pools with overlays applied. */
export interface OverlaidPools {
  readonly pools: readonly Pool[];
  readonly faults: readonly OverlayFault[];
  /** Types with an offering whose price an overlay set. (02:L-3) */
  readonly priced: ReadonlySet<InstanceType>;
  /** Types with resources that an overlay added. (02:L-3) */
  readonly enlarged: ReadonlySet<InstanceType>;
}

/** Which instance types have a price or resources from an overlay. (02:L-3) */
export interface OverlaidTypes {
  readonly priced: Pick<ReadonlySet<InstanceType>, "has">;
  readonly enlarged: Pick<ReadonlySet<InstanceType>, "has">;
}

/** Instance types of a pool after overlays, and which of them changed. */
export interface OverlaidPool extends Pick<OverlaidPools, "priced" | "enlarged"> {
  readonly instanceTypes: readonly InstanceType[];
}

const conflictMessage = "conflict with another overlay";
const noTypes: ReadonlySet<InstanceType> = new Set();

/** Applies overlays to the instance types of pools; types that do not change stay the same objects. (02 §8.1) */
export function applyOverlays(
  pools: readonly Pool[],
  { overlays, policy }: { readonly overlays: readonly NodeOverlay[]; readonly policy: LabelPolicy },
): OverlaidPools {
  if (overlays.length === 0) return { pools, faults: [], priced: noTypes, enlarged: noTypes };
  const application = new OverlayApplication(pools, policy);
  const faults: OverlayFault[] = [];
  for (const overlay of [...overlays].sort(byPrecedence)) {
    const { problems } = reviewNodeOverlay({ spec: validatedSpec(overlay) }, policy);
    if (problems.length > 0) faults.push({ overlay, reason: "RuntimeValidation", problems });
    else if (!application.tryApply(overlay)) faults.push({ overlay, reason: "Conflict", message: conflictMessage });
  }
  return { ...application.result(), faults };
}

/** Applies overlays that were found free of conflict to one pool; should two conflict after all, the first counts. */
export function applyPoolOverlays(
  pool: Pool,
  { overlays, policy }: { readonly overlays: readonly NodeOverlay[]; readonly policy: LabelPolicy },
): OverlaidPool {
  const application = new OverlayApplication([pool], policy);
  for (const overlay of [...overlays].sort(byPrecedence)) application.applyUnchecked(overlay);
  const { pools, ...marks } = application.result();
  return { instanceTypes: pools[0]?.instanceTypes ?? [], ...marks };
}

/** Absolute replaces, a signed number adds, a percentage multiplies; never below zero. (02:O-2) */
export function adjustedPrice(
  price: number,
  spec: { readonly price?: string | undefined; readonly priceAdjustment?: string | undefined },
): number {
  if (spec.price !== undefined) return Number(spec.price);
  const { priceAdjustment: change } = spec;
  if (change === undefined) return price;
  const changed = change.endsWith("%") ? price * (1 + Number(change.slice(0, -1)) / 100) : price + Number(change);
  return Math.max(0, changed);
}

function weightOf({ spec }: NodeOverlay): number {
  return spec.weight ?? 0;
}

function validatedSpec({ spec }: NodeOverlay) {
  return { requirements: spec.requirements, capacity: spec.capacity };
}

/** An instance type of a pool, and which overlays changed it. */
interface OverlayEntry {
  readonly type: InstanceType;
  /** The pool's labels and the type's. (02:O-5) */
  readonly known: Requirements;
  readonly prices: Map<Offering, NodeOverlay>;
  readonly capacity: Map<string, Quantity>;
  /** What was changed at which weight: `weight offering-index` and `weight resource`. */
  readonly changed: Set<string>;
}

/** What one overlay changes on one type. */
interface OverlayEffect {
  readonly entry: OverlayEntry;
  readonly offerings: readonly Offering[];
  readonly changes: readonly string[];
}

/** The instance types of all pools, and the changes of overlays accepted so far. */
class OverlayApplication {
  readonly #pools: readonly { readonly pool: Pool; readonly entries: readonly OverlayEntry[] }[];
  readonly #policy: LabelPolicy;

  constructor(pools: readonly Pool[], policy: LabelPolicy) {
    this.#policy = policy;
    this.#pools = pools.map((pool) => ({ pool, entries: entriesOf(pool, policy) }));
  }

  /** False if it conflicts with another anywhere; then it is not applied at all. (02:O-7) */
  tryApply(overlay: NodeOverlay): boolean {
    const effects = this.#effectsOf(overlay);
    // Against every overlay of that weight, not the last one alone. (02 §12.2-17)
    if (effects.some(({ entry, changes }) => changes.some((change) => entry.changed.has(change)))) return false;
    this.#record(overlay, effects);
    return true;
  }

  /** Without checking for conflicts. */
  applyUnchecked(overlay: NodeOverlay): void {
    this.#record(overlay, this.#effectsOf(overlay));
  }

  #record(overlay: NodeOverlay, effects: readonly OverlayEffect[]): void {
    for (const { entry, offerings, changes } of effects) {
      for (const change of changes) entry.changed.add(change);
      if (changesPrice(overlay))
        for (const one of offerings) if (!entry.prices.has(one)) entry.prices.set(one, overlay);
      for (const [name, amount] of Object.entries(overlay.spec.capacity ?? {})) {
        if (!entry.capacity.has(name)) entry.capacity.set(name, Quantity.parse(String(amount)));
      }
    }
  }

  #effectsOf(overlay: NodeOverlay): readonly OverlayEffect[] {
    const wanted = Requirements.fromItems(overlay.spec.requirements, this.#policy);
    const allowUndefined = this.#policy.wellKnown;
    const weight = weightOf(overlay);
    return this.#pools.flatMap(({ entries }) =>
      entries.flatMap((entry) => {
        if (!isCompatible(entry.known, wanted)) return [];
        const offerings = entry.type.offerings.filter(({ requirements }) =>
          isCompatible(wanted, requirements, { allowUndefined }),
        );
        if (offerings.length === 0) return [];
        const priced = changesPrice(overlay) ? offerings.map((one) => entry.type.offerings.indexOf(one)) : [];
        const changes = [...priced, ...Object.keys(overlay.spec.capacity ?? {})].map((what) => `${weight} ${what}`);
        return [{ entry, offerings, changes }];
      }),
    );
  }

  result(): Omit<OverlaidPools, "faults"> {
    const priced = new Set<InstanceType>();
    const enlarged = new Set<InstanceType>();
    const pools = this.#pools.map(({ pool, entries }) => {
      const instanceTypes = entries.map(overlaidType);
      for (const [index, { prices, capacity }] of entries.entries()) {
        const type = instanceTypes[index] as InstanceType;
        if (prices.size > 0) priced.add(type);
        if (capacity.size > 0) enlarged.add(type);
      }
      const isSame = entries.every(({ type }, index) => type === instanceTypes[index]);
      return isSame ? pool : { ...pool, instanceTypes };
    });
    return { pools, priced, enlarged };
  }
}

function changesPrice({ spec }: NodeOverlay): boolean {
  return spec.price !== undefined || spec.priceAdjustment !== undefined;
}

function entriesOf({ nodePool, instanceTypes }: Pool, policy: LabelPolicy): readonly OverlayEntry[] {
  const { template } = nodePool.spec;
  const poolLabels = { ...template.metadata?.labels, [labels.nodePool]: nodePool.metadata.name ?? "" };
  const ofPool = [...Requirements.fromLabels(poolLabels, policy)];
  return instanceTypes.map((type) => ({
    type,
    known: type.requirements.add(...ofPool),
    prices: new Map(),
    capacity: new Map(),
    changed: new Set(),
  }));
}

/** An adjustment goes on from the price that was there; a price replaces it. */
function overlaidSource({ metadata, spec }: NodeOverlay, before: PriceSource | undefined): PriceSource {
  const isAdjustment = spec.price === undefined && before !== undefined;
  return { kind: "overlay", nodeOverlay: metadata.name ?? "", ...(isAdjustment && { of: before }) };
}

/** Shares requirements, overhead and everything no overlay changed with the original. (02:O-9) */
function overlaidType({ type, prices, capacity }: OverlayEntry): InstanceType {
  if (prices.size === 0 && capacity.size === 0) return type;
  const reprice = (offering: Offering): Offering => {
    const overlay = prices.get(offering);
    if (overlay === undefined) return offering;
    const priceSource = overlaidSource(overlay, offering.priceSource);
    return { ...offering, price: adjustedPrice(offering.price, overlay.spec), priceSource };
  };
  const extra: Resources = Object.fromEntries(capacity);
  return {
    ...type,
    ...(prices.size > 0 && { offerings: type.offerings.map(reprice) }),
    ...(capacity.size > 0 && { capacity: { ...type.capacity, ...extra } }),
  };
}
