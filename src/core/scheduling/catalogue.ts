import { Bitset } from "../../util/bitset.ts";
import type { Quantity } from "../../util/quantity.ts";
import { type InstanceType, type Offering, offeringGroups } from "../instance-type.ts";
import type { Requirements } from "../requirements.ts";
import type { Resources } from "../resources.ts";
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

/** Which columns a requirement on a key leaves, key by key; -1 stands for "nobody spoke of the key". */
const absent = -1;

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
  readonly #table: RequirementTable;
  readonly #space: ResourceSpace;
  readonly #wellKnown: ReadonlySet<string>;
  readonly #offerings: readonly { readonly column: number; readonly offering: Offering }[];
  readonly #typeKeys: ReadonlySet<string>;
  readonly #offeringKeys: ReadonlySet<string>;
  readonly #typeRows = new Map<RequirementId, Bitset>();
  readonly #offeringRows = new Map<string, Map<RequirementId, Bitset>>();
  readonly #sizes: readonly Sizes[];
  readonly #byCapacity = new Map<string, readonly number[]>();
  readonly #byPrice = new Map<string, readonly PricedType[]>();
  readonly #firstColumn: readonly number[];
  /** Columns without an overcommitted resource: one negative amount blocks a machine for all pods. (02:A-9) */
  readonly #sound: Bitset;

  constructor({ types, table, space, wellKnown }: CatalogueOptions) {
    this.types = types;
    this.#table = table;
    this.#space = space;
    this.#wellKnown = wellKnown;
    this.columns = types.flatMap((type, typeIndex) =>
      offeringGroups(type).map((group) => ({ type, typeIndex, ...group })),
    );
    this.#firstColumn = types.map((_, typeIndex) => this.columns.findIndex((column) => column.typeIndex === typeIndex));
    this.#offerings = this.columns.flatMap(({ offerings }, column) =>
      offerings.map((offering) => ({ column, offering })),
    );
    this.#typeKeys = keysOf(types.map(({ requirements }) => requirements));
    this.#offeringKeys = keysOf(this.#offerings.map(({ offering }) => offering.requirements));
    this.capacity = types.map((type) => space.offered(type.capacity));
    this.allocatable = this.columns.map((column) => space.offered(column.allocatable));
    this.#sound = this.#columnsWhere((column) => this.allocatable[column]?.every((amount) => amount >= 0) ?? false);
    this.#sizes = space.dimensions.map((_, dimension) => sizes(this.allocatable.map((row) => row[dimension] ?? 0)));
  }

  get size(): number {
    return this.columns.length;
  }

  /** Whether offerings are told apart by this label. */
  offersBy(key: string): boolean {
    return this.#offeringKeys.has(key);
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
    for (const [key, id] of byKey) if (this.#typeKeys.has(key)) columns.and(this.#typeRow(id));
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
    for (const key of this.#offeringKeys) offerings.and(this.#offeringRow(key, byKey.get(key) ?? absent));
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
    const text = [...this.#offeringKeys].map((key) => byKey.get(key) ?? absent).join();
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

  #typeRow(id: RequirementId): Bitset {
    const known = this.#typeRows.get(id);
    if (known !== undefined) return known;
    const { key } = this.#table.get(id);
    const row = this.#columnsWhere((column) => {
      const requirements = this.columns[column]?.type.requirements;
      if (requirements === undefined || !requirements.has(key)) return true;
      return !this.#table.areDisjoint(this.#table.idOf(requirements.get(key)), id);
    });
    this.#typeRows.set(id, row);
    return row;
  }

  #offeringRow(key: string, id: RequirementId): Bitset {
    const rows = this.#offeringRows.get(key) ?? new Map<RequirementId, Bitset>();
    this.#offeringRows.set(key, rows);
    const known = rows.get(id);
    if (known !== undefined) return known;
    const row = Bitset.empty(this.#offerings.length);
    for (const [index, { offering }] of this.#offerings.entries()) {
      if (this.#isOffered(offering.requirements, key, id)) row.add(index);
    }
    rows.set(id, row);
    return row;
  }

  #isOffered(requirements: Requirements, key: string, id: RequirementId): boolean {
    if (!requirements.has(key)) return true;
    const requirement = requirements.get(key);
    if (id === absent) return this.#wellKnown.has(key) || requirement.isNegative;
    return !this.#table.areDisjoint(id, this.#table.idOf(requirement));
  }

  #columnsWhere(holds: (column: number) => boolean): Bitset {
    const columns = Bitset.empty(this.size);
    for (let column = 0; column < this.size; column++) if (holds(column)) columns.add(column);
    return columns;
  }
}

/** Columns by how much of one resource they have. */
interface Sizes {
  /** Distinct amounts, ascending. */
  readonly amounts: Float64Array;
  /** For each amount the columns with at least that much; one more, empty, for anything larger. */
  readonly columns: readonly Bitset[];
}

function sizes(amounts: readonly number[]): Sizes {
  const distinct = [...new Set(amounts)].sort((a, b) => a - b);
  const byAmount = distinct.map((least) =>
    Bitset.from(
      indexesWhere(amounts, (amount) => amount >= least),
      amounts.length,
    ),
  );
  return { amounts: Float64Array.from(distinct), columns: [...byAmount, Bitset.empty(amounts.length)] };
}

function* indexesWhere(amounts: readonly number[], holds: (amount: number) => boolean): Iterable<number> {
  for (const [index, amount] of amounts.entries()) if (holds(amount)) yield index;
}

function atLeast({ amounts, columns }: Sizes, asked: number): Bitset {
  let low = 0;
  let high = amounts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((amounts[middle] as number) < asked) low = middle + 1;
    else high = middle;
  }
  return columns[low] as Bitset;
}

function keysOf(all: readonly Requirements[]): ReadonlySet<string> {
  return new Set(all.flatMap((requirements) => [...requirements.keys()]));
}
