import { Quantity } from "../../util/quantity.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { Resources } from "../resources.ts";

/** The possible units in nanos, coarsest first. */
const units = [1_000_000_000n, 1_000_000n, 1_000n, 1n];
const largestExact = 2n ** 52n;

interface ResourceDimension {
  readonly name: string;
  readonly unit: bigint;
  readonly format: Quantity;
}

/**
 * Turns resource lists into rows of doubles with one dimension for each resource name. A dimension is counted in the
 * coarsest unit in which every amount of the problem is whole, so that comparisons are exact. (02:A-13)
 */
export class ResourceSpace {
  readonly dimensions: readonly ResourceDimension[];
  readonly #index: ReadonlyMap<string, number>;

  private constructor(dimensions: Iterable<ResourceDimension>) {
    this.dimensions = [...dimensions].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#index = new Map(this.dimensions.map(({ name }, index) => [name, index]));
  }

  /** Takes every amount the pass compares. */
  static *create(lists: Iterable<Resources>): Steps<ResourceSpace> {
    const finest = new Map<string, ResourceDimension>();
    yield* forEachInSteps(lists, (list) => {
      for (const [name, quantity] of Object.entries(list)) {
        const known = finest.get(name);
        const unit = unitFor(quantity.nano, known?.unit);
        if (unit !== known?.unit) finest.set(name, { name, unit, format: known?.format ?? quantity });
      }
    });
    return new ResourceSpace(finest.values());
  }

  /** Whether every amount is whole in the units of this space. */
  isExactFor(lists: Iterable<Resources>): boolean {
    for (const list of lists) {
      for (const [name, { nano }] of Object.entries(list)) {
        const dimension = this.dimensions[this.indexOf(name)];
        if (dimension === undefined || nano % dimension.unit !== 0n) return false;
      }
    }
    return true;
  }

  get size(): number {
    return this.dimensions.length;
  }

  /** -1 for a resource that does not occur in the problem. */
  indexOf(name: string): number {
    return this.#index.get(name) ?? -1;
  }

  zeroRow(): Float64Array {
    return new Float64Array(this.size);
  }

  /** Requests are rounded up to the unit. */
  requestRow(resources: Resources): Float64Array {
    return this.#row(resources, (nano, unit) => nano / unit + (nano > 0n && nano % unit !== 0n ? 1n : 0n));
  }

  /** Capacity is rounded down to the unit. */
  capacityRow(resources: Resources): Float64Array {
    return this.#row(resources, (nano, unit) => nano / unit - (nano < 0n && nano % unit !== 0n ? 1n : 0n));
  }

  /** The amounts of a row. Zeros are left out unless `keep` is true for the name. */
  toResources(row: Float64Array, keep: (name: string) => boolean = () => false): Resources {
    const list: Record<string, Quantity> = {};
    for (const [index, { name, unit, format }] of this.dimensions.entries()) {
      const amount = row[index] ?? 0;
      if (amount !== 0 || keep(name)) list[name] = Quantity.fromNano(BigInt(amount) * unit, format.format);
    }
    return list;
  }

  #row(resources: Resources, convert: (nano: bigint, unit: bigint) => bigint): Float64Array {
    const row = this.zeroRow();
    for (const [name, quantity] of Object.entries(resources)) {
      const index = this.indexOf(name);
      const dimension = this.dimensions[index];
      if (dimension !== undefined) row[index] = Number(convert(quantity.nano, dimension.unit));
    }
    return row;
  }
}

/** Whether no amount of a row exceeds that of another. */
export function isRowWithin(row: Float64Array, limit: Float64Array): boolean {
  for (let i = 0; i < row.length; i++) if ((row[i] as number) > (limit[i] as number)) return false;
  return true;
}

/** The coarsest unit in which an amount is whole, no coarser than the one in use, as far as doubles reach. */
function unitFor(nano: bigint, inUse: bigint | undefined): bigint {
  let unit = inUse ?? units[0] ?? 1n;
  for (const finer of units) {
    if (nano % unit === 0n) return unit;
    const size = nano < 0n ? -nano : nano;
    if (finer < unit && size / finer < largestExact) unit = finer;
  }
  return unit;
}
