import { Bitset } from "../../util/bitset.ts";
import type { Quantity } from "../../util/quantity.ts";
import { mapping, type Steps } from "../../util/steps.ts";
import { type InstanceType, type Offering, offeringGroups } from "../instance-type.ts";
import type { Resources } from "../resources.ts";
import { atLeast, type Sizes, sizesOf } from "./catalogue-sizes.ts";
import { LabelRows } from "./label-rows.ts";
import type { Choice } from "./outline.ts";
import type { RequirementId, RequirementTable } from "./requirement-table.ts";
import type { ResourceSpace } from "./resource-space.ts";

/** One size of an instance type: most types have one, offerings with overrides add others. (02:A-12) */
export interface Column {
  readonly type: InstanceType;
  /** Position of the type among the catalogue's types. */
  readonly typeIndex: number;
  readonly allocatable: Resources;
  readonly offerings: readonly Offering[];
}

/** A type and what the cheapest of its offerings costs. */
export interface PricedType {
  readonly type: InstanceType;
  readonly typeIndex: number;
  readonly price: number;
}

export interface CatalogueOptions {
  readonly types: readonly InstanceType[];
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  /** Keys a node may leave undefined and still match an offering. */
  readonly wellKnown: ReadonlySet<string>;
}

interface CatalogueParts extends CatalogueOptions {
  readonly columns: readonly Column[];
  readonly capacity: readonly Float64Array[];
  readonly allocatable: readonly Float64Array[];
  readonly sizes: readonly Sizes[];
  readonly offerings: readonly OfferedColumn[];
  readonly typeRows: LabelRows;
  readonly offeringRows: LabelRows;
}

interface OfferedColumn {
  readonly column: number;
  readonly offering: Offering;
}

/**
 * The instance types of one template laid out for filtering: bits by column, so that "which types match" and "which
 * types are large enough" are a few words ANDed. (02 §10.3-4, -5; rules F-1, R-25, R-26)
 */
export class Catalogue {
  readonly types: readonly InstanceType[];
  readonly columns: readonly Column[];
  readonly capacity: readonly Float64Array[];
  /** What pods can have of each column. */
  readonly allocatable: readonly Float64Array[];
  readonly #space: ResourceSpace;
  readonly #wellKnown: ReadonlySet<string>;
  readonly #offerings: readonly OfferedColumn[];
  readonly #typeRows: LabelRows;
  readonly #offeringRows: LabelRows;
  readonly #sizes: readonly Sizes[];
  readonly #byCapacity = new Map<string, readonly number[]>();
  readonly #byPrice = new Map<string, readonly PricedType[]>();
  readonly #firstColumn: readonly number[];
  /** Columns without an overcommitted resource: one negative amount blocks a machine for all pods. (02:A-9) */
  readonly #sound: Bitset;

  private constructor(parts: CatalogueParts) {
    this.types = parts.types;
    this.#space = parts.space;
    this.#wellKnown = parts.wellKnown;
    this.columns = parts.columns;
    this.capacity = parts.capacity;
    this.allocatable = parts.allocatable;
    this.#firstColumn = firstColumns(parts.columns);
    this.#offerings = parts.offerings;
    this.#typeRows = parts.typeRows;
    this.#offeringRows = parts.offeringRows;
    this.#sizes = parts.sizes;
    this.#sound = this.#columnsWhere((column) => this.allocatable[column]?.every((amount) => amount >= 0) ?? false);
  }

  static *opening(options: CatalogueOptions): Steps<Catalogue> {
    const { types, space } = options;
    const byType = yield* mapping(types, (type, typeIndex) =>
      offeringGroups(type).map((group): Column => ({ type, typeIndex, ...group })),
    );
    const columns = byType.flat();
    const capacity = yield* mapping(types, (type) => space.offered(type.capacity));
    const allocatable = yield* mapping(columns, (column) => space.offered(column.allocatable));
    const offerings = columns.flatMap((one, column) => one.offerings.map((offering) => ({ column, offering })));
    const sizes: Sizes[] = [];
    for (const dimension of space.dimensions.keys()) {
      sizes.push(sizesOf(allocatable.map((row) => row[dimension] ?? 0)));
      yield;
    }
    const ofColumns = columns.map(({ type }) => type.requirements);
    const ofOfferings = offerings.map(({ offering }) => offering.requirements);
    const typeRows = yield* LabelRows.opening(ofColumns, options);
    const offeringRows = yield* LabelRows.opening(ofOfferings, options);
    yield* offeringRows.reading(); // there are thousands, and every claim asks for them
    return new Catalogue({ ...options, columns, capacity, allocatable, offerings, sizes, typeRows, offeringRows });
  }

  get size(): number {
    return this.columns.length;
  }

  /** Whether offerings are told apart by this label. */
  offersBy(key: string): boolean {
    return this.#offeringRows.keys.has(key);
  }

  /** An amount in the units of the space. */
  amountOf(name: string, quantity: Quantity): number {
    return this.#space.offered({ [name]: quantity })[this.#space.indexOf(name)] ?? 0;
  }

  /** What a type has of a resource, in those units. */
  capacityOf(typeIndex: number, name: string): number {
    return this.capacity[typeIndex]?.[this.#space.indexOf(name)] ?? 0;
  }

  /** Columns whose type matches (c of F-1) and that hold an available offering that matches (h of F-1). */
  choiceOf(byKey: ReadonlyMap<string, RequirementId>): Choice {
    const columns = this.columnsMatching(byKey).and(this.columnsOffered(byKey));
    return { columns };
  }

  /** c of F-1: keys missing on either side are fine. (02:R-25) */
  columnsMatching(byKey: ReadonlyMap<string, RequirementId>): Bitset {
    const columns = Bitset.full(this.size);
    for (const [key, id] of byKey) if (this.#typeRows.keys.has(key)) columns.and(this.#typeRows.suiting(id));
    return columns;
  }

  /** h of F-1, by column. */
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
    for (const key of this.#offeringRows.keys) {
      const id = byKey.get(key);
      if (id !== undefined) offerings.and(this.#offeringRows.suiting(id));
      else if (!this.#wellKnown.has(key)) offerings.and(this.#offeringRows.contentWithout(key));
    }
    return offerings;
  }

  /** The offerings behind bits. */
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

  /** f of F-1 for one request: keeps the columns large enough for it; changes the set. */
  keepFitting(columns: Bitset, asked: Float64Array): Bitset {
    columns.and(this.#sound);
    for (let dimension = 0; dimension < asked.length; dimension++) {
      const amount = asked[dimension] as number;
      if (amount > 0) columns.and(atLeast(this.#sizes[dimension] as Sizes, amount));
    }
    return columns;
  }

  /** Every type by the cheapest offering that suits an outline, then by name; none: infinitely dear. (02:L-1) */
  byPrice({ byKey }: { readonly byKey: ReadonlyMap<string, RequirementId> }): readonly PricedType[] {
    // Only labels that tell offerings apart have a say in it.
    const text = [...this.#offeringRows.keys].map((key) => byKey.get(key) ?? -1).join();
    const known = this.#byPrice.get(text) ?? this.#sortByPrice(byKey);
    this.#byPrice.set(text, known);
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

  /** The columns with every other size of their types. */
  allSizes(columns: Bitset): Bitset {
    return this.#columnsWhere((column) => this.hasType(columns, this.#typeOf(column)));
  }

  /** Whether some size of a type is among the columns. */
  hasType(columns: Bitset, typeIndex: number): boolean {
    for (let column = this.#firstColumn[typeIndex] as number; this.columns[column]?.typeIndex === typeIndex; column++) {
      if (columns.has(column)) return true;
    }
    return false;
  }

  /** Every size of a type, by column. */
  *columnsOf(typeIndex: number): Iterable<number> {
    const first = this.#firstColumn[typeIndex] as number;
    for (let column = first; this.columns[column]?.typeIndex === typeIndex; column++) yield column;
  }

  /** The most of a resource any type behind these columns has. */
  largest(columns: Bitset, name: string): number {
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

  /** The types columns belong to, in catalogue order. */
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

function firstColumns(columns: readonly Column[]): readonly number[] {
  const first: number[] = [];
  for (const [column, { typeIndex }] of columns.entries()) first[typeIndex] ??= column;
  return first;
}
