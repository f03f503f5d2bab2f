import { Bitset } from "../../util/bitset.ts";
import type { Quantity } from "../../util/quantity.ts";
import { mapInSteps, type Steps } from "../../util/steps.ts";
import { type InstanceType, type Offering, offeringGroups } from "../instance-type.ts";
import type { Resources } from "../resources.ts";
import { type ColumnsByAmount, columnsWithAtLeast, indexColumnsByAmount } from "./columns-by-amount.ts";
import { LabelBitmaps } from "./label-bitmaps.ts";
import type { InstanceTypeOptions } from "./requirement-state.ts";
import type { RequirementId, RequirementTable } from "./requirement-table.ts";
import type { ResourceSpace } from "./resource-space.ts";

/** An instance type with one allocatable size. Capacity overrides of offerings add others. (02:A-12) */
interface InstanceTypeColumn {
  readonly type: InstanceType;
  /** Index of the type in the table. */
  readonly typeIndex: number;
  readonly allocatable: Resources;
  readonly offerings: readonly Offering[];
}

/** An instance type and the price of its cheapest compatible offering. */
export interface PricedType {
  readonly type: InstanceType;
  readonly typeIndex: number;
  readonly price: number;
}

interface InstanceTypeTableOptions {
  readonly types: readonly InstanceType[];
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  /** Keys a node may leave undefined and still match an offering. */
  readonly wellKnown: ReadonlySet<string>;
}

interface InstanceTypeTableParts extends InstanceTypeTableOptions {
  readonly columns: readonly InstanceTypeColumn[];
  readonly capacity: readonly Float64Array[];
  readonly allocatable: readonly Float64Array[];
  readonly columnsByAmount: readonly ColumnsByAmount[];
  readonly offerings: readonly ColumnOffering[];
  readonly typeLabels: LabelBitmaps;
  readonly offeringLabels: LabelBitmaps;
}

interface ColumnOffering {
  readonly column: number;
  readonly offering: Offering;
}

/**
 * The instance types of one or more pools laid out for filtering: sets of columns are bitsets, so that finding the types
 * that match or that are large enough takes a few bit operations. (02 §10.3-4, §10.3-5; 02:F-1, R-25, R-26)
 */
export class InstanceTypeTable {
  readonly types: readonly InstanceType[];
  readonly columns: readonly InstanceTypeColumn[];
  readonly capacity: readonly Float64Array[];
  /** Allocatable resources by column. */
  readonly allocatable: readonly Float64Array[];
  readonly #space: ResourceSpace;
  readonly #wellKnown: ReadonlySet<string>;
  readonly #offerings: readonly ColumnOffering[];
  readonly #typeLabels: LabelBitmaps;
  readonly #offeringLabels: LabelBitmaps;
  readonly #columnsByAmount: readonly ColumnsByAmount[];
  readonly #byCapacity = new Map<string, readonly number[]>();
  readonly #typesByPrice = new Map<string, readonly PricedType[]>();
  readonly #firstColumn: readonly number[];
  /** Columns without an overcommitted resource: one negative amount blocks a node for all pods. (02:A-9) */
  readonly #notOvercommitted: Bitset;

  private constructor(parts: InstanceTypeTableParts) {
    this.types = parts.types;
    this.#space = parts.space;
    this.#wellKnown = parts.wellKnown;
    this.columns = parts.columns;
    this.capacity = parts.capacity;
    this.allocatable = parts.allocatable;
    this.#firstColumn = firstColumns(parts.columns);
    this.#offerings = parts.offerings;
    this.#typeLabels = parts.typeLabels;
    this.#offeringLabels = parts.offeringLabels;
    this.#columnsByAmount = parts.columnsByAmount;
    this.#notOvercommitted = this.#columnsWhere(
      (column) => this.allocatable[column]?.every((amount) => amount >= 0) ?? false,
    );
  }

  static *create(options: InstanceTypeTableOptions): Steps<InstanceTypeTable> {
    const { types, space } = options;
    const byType = yield* mapInSteps(types, (type, typeIndex) =>
      offeringGroups(type).map((group): InstanceTypeColumn => ({ type, typeIndex, ...group })),
    );
    const columns = byType.flat();
    const capacity = yield* mapInSteps(types, (type) => space.capacityRow(type.capacity));
    const allocatable = yield* mapInSteps(columns, (column) => space.capacityRow(column.allocatable));
    const offerings = columns.flatMap((one, column) => one.offerings.map((offering) => ({ column, offering })));
    const columnsByAmount: ColumnsByAmount[] = [];
    for (const dimension of space.dimensions.keys()) {
      columnsByAmount.push(indexColumnsByAmount(allocatable.map((row) => row[dimension] ?? 0)));
      yield;
    }
    const ofColumns = columns.map(({ type }) => type.requirements);
    const ofOfferings = offerings.map(({ offering }) => offering.requirements);
    const typeLabels = yield* LabelBitmaps.create(ofColumns, options);
    const offeringLabels = yield* LabelBitmaps.create(ofOfferings, options);
    yield* offeringLabels.readAllKeys(); // there are thousands, and every planned node needs them
    return new InstanceTypeTable({
      ...options,
      columns,
      capacity,
      allocatable,
      offerings,
      columnsByAmount,
      typeLabels,
      offeringLabels,
    });
  }

  get size(): number {
    return this.columns.length;
  }

  /** Whether some offering has a requirement on this label. */
  offeringsHaveLabel(key: string): boolean {
    return this.#offeringLabels.keys.has(key);
  }

  /** An amount in the units of the space. */
  amountOf(name: string, quantity: Quantity): number {
    return this.#space.capacityRow({ [name]: quantity })[this.#space.indexOf(name)] ?? 0;
  }

  /** The capacity of a type, in the units of the space. */
  capacityOf(typeIndex: number, name: string): number {
    return this.capacity[typeIndex]?.[this.#space.indexOf(name)] ?? 0;
  }

  /** Columns whose type matches and that have a matching available offering. (02:F-1) */
  optionsFor(byKey: ReadonlyMap<string, RequirementId>): InstanceTypeOptions {
    const columns = this.columnsMatching(byKey).and(this.columnsOffered(byKey));
    return { columns };
  }

  /** Columns whose type matches; a key that one side does not have is no conflict. (02:F-1, R-25) */
  columnsMatching(byKey: ReadonlyMap<string, RequirementId>): Bitset {
    const columns = Bitset.full(this.size);
    for (const [key, id] of byKey) if (this.#typeLabels.keys.has(key)) columns.and(this.#typeLabels.matching(id));
    return columns;
  }

  /** Columns with a matching available offering. (02:F-1) */
  columnsOffered(byKey: ReadonlyMap<string, RequirementId>): Bitset {
    const columns = Bitset.empty(this.size);
    this.offeringsMatching(byKey).forEach((index) => {
      const column = this.#offerings[index]?.column;
      if (column !== undefined) columns.add(column);
    });
    return columns;
  }

  /** Available offerings compatible with a node's requirements, as bits over all offerings. (02:R-26) */
  offeringsMatching(byKey: ReadonlyMap<string, RequirementId>): Bitset {
    const offerings = Bitset.full(this.#offerings.length);
    for (const key of this.#offeringLabels.keys) {
      const id = byKey.get(key);
      if (id !== undefined) offerings.and(this.#offeringLabels.matching(id));
      else if (!this.#wellKnown.has(key)) offerings.and(this.#offeringLabels.allowingMissingLabel(key));
    }
    return offerings;
  }

  offeringsIn(bits: Bitset): readonly { readonly column: number; readonly offering: Offering }[] {
    return bits.toArray().flatMap((index) => this.#offerings[index] ?? []);
  }

  get offeringCount(): number {
    return this.#offerings.length;
  }

  columnOfOffering(index: number): number {
    return this.#offerings[index]?.column ?? 0;
  }

  priceOfOffering(index: number): number {
    return this.#offerings[index]?.offering.price ?? Number.POSITIVE_INFINITY;
  }

  /** Removes the columns that are too small for a request from the set. (02:F-1) */
  keepFitting(columns: Bitset, asked: Float64Array): Bitset {
    columns.and(this.#notOvercommitted);
    for (let dimension = 0; dimension < asked.length; dimension++) {
      const amount = asked[dimension] as number;
      if (amount > 0) columns.and(columnsWithAtLeast(this.#columnsByAmount[dimension] as ColumnsByAmount, amount));
    }
    return columns;
  }

  /** Every type by its cheapest compatible offering, then by name; without one the price is infinite. (02:L-1) */
  typesByPrice({ byKey }: { readonly byKey: ReadonlyMap<string, RequirementId> }): readonly PricedType[] {
    // Only labels that offerings have matter.
    const text = [...this.#offeringLabels.keys].map((key) => byKey.get(key) ?? -1).join();
    const known = this.#typesByPrice.get(text) ?? this.#sortByPrice(byKey);
    this.#typesByPrice.set(text, known);
    return known;
  }

  #sortByPrice(byKey: ReadonlyMap<string, RequirementId>): readonly PricedType[] {
    const prices = new Float64Array(this.types.length).fill(Number.POSITIVE_INFINITY);
    for (const { column, offering } of this.offeringsIn(this.offeringsMatching(byKey))) {
      const typeIndex = this.#typeOf(column);
      prices[typeIndex] = Math.min(prices[typeIndex] as number, offering.price);
    }
    return this.types
      .map((type, typeIndex) => ({ type, typeIndex, price: prices[typeIndex] as number }))
      .sort((a, b) => a.price - b.price || (a.type.name < b.type.name ? -1 : 1));
  }

  /** The columns, with all other columns of their types. */
  allColumnsOfTypes(columns: Bitset): Bitset {
    return this.#columnsWhere((column) => this.hasType(columns, this.#typeOf(column)));
  }

  /** Whether a column of the type is in the set. */
  hasType(columns: Bitset, typeIndex: number): boolean {
    for (let column = this.#firstColumn[typeIndex] as number; this.columns[column]?.typeIndex === typeIndex; column++) {
      if (columns.has(column)) return true;
    }
    return false;
  }

  /** Every column of a type. */
  *columnsOf(typeIndex: number): Iterable<number> {
    const first = this.#firstColumn[typeIndex] as number;
    for (let column = first; this.columns[column]?.typeIndex === typeIndex; column++) yield column;
  }

  /** The largest capacity among the types of these columns. */
  largestCapacity(columns: Bitset, name: string): number {
    const descending = this.#byCapacity.get(name) ?? this.#sortByCapacity(name);
    for (const column of descending) if (columns.has(column)) return this.capacityOf(this.#typeOf(column), name);
    return 0;
  }

  #sortByCapacity(name: string): readonly number[] {
    const amounts = this.columns.map(({ typeIndex }) => this.capacityOf(typeIndex, name));
    const descending = amounts.map((_, column) => column).sort((a, b) => (amounts[b] ?? 0) - (amounts[a] ?? 0));
    this.#byCapacity.set(name, descending);
    return descending;
  }

  #typeOf(column: number): number {
    return this.columns[column]?.typeIndex ?? 0;
  }

  /** The types of these columns, in the order of the table. */
  typesIn(columns: Bitset): readonly InstanceType[] {
    const types: InstanceType[] = [];
    columns.forEach((index) => {
      const type = this.columns[index]?.type;
      if (type !== undefined && types.at(-1) !== type) types.push(type);
    });
    return types;
  }

  #columnsWhere(holds: (column: number) => boolean): Bitset {
    const columns = Bitset.empty(this.size);
    for (let column = 0; column < this.size; column++) if (holds(column)) columns.add(column);
    return columns;
  }
}

function firstColumns(columns: readonly InstanceTypeColumn[]): readonly number[] {
  const first: number[] = [];
  for (const [column, { typeIndex }] of columns.entries()) first[typeIndex] ??= column;
  return first;
}
