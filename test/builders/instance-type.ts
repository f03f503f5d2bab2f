import { kwokLabels, labels } from "../../src/api/labels.ts";
import type { DynamicResources } from "../../src/core/devices/template-devices.ts";
import { type InstanceType, noOverhead, type Offering, type Overhead } from "../../src/core/instance-type.ts";
import { Requirement } from "../../src/core/requirement.ts";
import { Requirements } from "../../src/core/requirements.ts";
import type { Resources } from "../../src/core/resources.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { labelKey } from "./keys.ts";

/** Amounts as written. */
export type Amounts = Readonly<Record<string, string>>;

export function amounts(written: Amounts): Resources {
  return Object.fromEntries(Object.entries(written).map(([name, text]) => [name, Quantity.parse(text)]));
}

interface Place {
  readonly zone: string;
  readonly capacityType: string;
  readonly available: boolean;
  readonly price?: number;
  readonly reservation?: { readonly id: string; readonly capacity: number };
  readonly capacityOverride?: Amounts;
}

interface Draft {
  readonly name: string;
  readonly capacity: Amounts;
  readonly price: number;
  readonly places: readonly Place[];
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly overhead: Amounts;
  readonly dynamicResources?: DynamicResources;
}

const spotFraction = 0.7;
const reservedFraction = 1e-7;

/** Four cpus and 16Gi, on demand and spot in zones a, b and c, until told otherwise. */
export function instanceType(name: string): InstanceTypeBuilder {
  const capacity = { cpu: "4", memory: "16Gi", pods: "110" };
  return new InstanceTypeBuilder({ name, capacity, price: 1, places: [], labels: {}, overhead: {} }).zones(
    "a",
    "b",
    "c",
  );
}

/** Immutable: every step gives another builder. */
export class InstanceTypeBuilder {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  get name(): string {
    return this.#draft.name;
  }

  /** A larger type costs more, unless its price is set afterwards. */
  cpu(cpu: number): InstanceTypeBuilder {
    return this.resource("cpu", String(cpu)).price(cpu / 4);
  }

  memory(memory: string): InstanceTypeBuilder {
    return this.resource("memory", memory);
  }

  resource(name: string, amount: string): InstanceTypeBuilder {
    return this.#with({ capacity: { ...this.#draft.capacity, [name]: amount } });
  }

  /** On demand, an hour. */
  price(price: number): InstanceTypeBuilder {
    return this.#with({ price });
  }

  /** Kept from pods. */
  overhead(overhead: Amounts): InstanceTypeBuilder {
    return this.#with({ overhead });
  }

  zones(...zones: readonly string[]): InstanceTypeBuilder {
    return this.#with({
      places: zones.flatMap((zone) => [
        { zone, capacityType: "on-demand", available: true },
        { zone, capacityType: "spot", available: true },
      ]),
    });
  }

  onlyOnDemand(): InstanceTypeBuilder {
    return this.#with({ places: this.#draft.places.filter(({ capacityType }) => capacityType === "on-demand") });
  }

  soldOutIn(zone: string, capacityType?: string): InstanceTypeBuilder {
    return this.#change(zone, capacityType, { available: false });
  }

  priceIn(zone: string, price: number, capacityType?: string): InstanceTypeBuilder {
    return this.#change(zone, capacityType, { price });
  }

  /** Machines of another size in this zone. */
  sizeIn(zone: string, capacityOverride: Amounts, capacityType?: string): InstanceTypeBuilder {
    return this.#change(zone, capacityType, { capacityOverride });
  }

  reserved(id: string, { zone, capacity }: { zone: string; capacity: number }): InstanceTypeBuilder {
    const place = { zone, capacityType: "reserved", available: true, reservation: { id, capacity } };
    return this.#with({ places: [...this.#draft.places, place] });
  }

  label(key: string, ...values: readonly string[]): InstanceTypeBuilder {
    return this.#with({ labels: { ...this.#draft.labels, [labelKey(key)]: values } });
  }

  /** Devices of driver `gpu.example.com` that its nodes publish. */
  devices(...names: readonly string[]): InstanceTypeBuilder {
    const slice = { driver: "gpu.example.com", pool: { name: "own" }, devices: names.map((name) => ({ name })) };
    return this.#with({ dynamicResources: { resourceSlices: [slice] } });
  }

  build(): InstanceType {
    const { name, places, overhead } = this.#draft;
    const kubeReserved: Overhead = { ...noOverhead, kubeReserved: amounts(overhead) };
    return {
      name,
      requirements: Requirements.of(
        Requirement.in(labels.instanceType, [name]),
        Requirement.in(labels.zone, new Set(places.map(({ zone }) => zone))),
        Requirement.in(labels.capacityType, new Set(places.map(({ capacityType }) => capacityType))),
        ...(this.#hasReservations ? [this.#reservationIds] : []),
        ...Object.entries(this.#draft.labels).map(([key, values]) => Requirement.in(key, values)),
      ),
      offerings: places.map((place) => this.#offering(place)),
      capacity: amounts(this.#draft.capacity),
      overhead: kubeReserved,
      ...(this.#draft.dynamicResources && { dynamicResources: this.#draft.dynamicResources }),
    };
  }

  get #hasReservations(): boolean {
    return this.#draft.places.some(({ reservation }) => reservation !== undefined);
  }

  get #reservationIds(): Requirement {
    const ids = this.#draft.places.flatMap(({ reservation }) => (reservation === undefined ? [] : [reservation.id]));
    return Requirement.in(kwokLabels.reservationId, ids);
  }

  #offering({ zone, capacityType, available, reservation, capacityOverride, ...place }: Place): Offering {
    const fraction = { spot: spotFraction, reserved: reservedFraction }[capacityType] ?? 1;
    const id =
      reservation === undefined
        ? Requirement.doesNotExist(kwokLabels.reservationId)
        : Requirement.in(kwokLabels.reservationId, [reservation.id]);
    return {
      requirements: Requirements.of(
        Requirement.in(labels.zone, [zone]),
        Requirement.in(labels.capacityType, [capacityType]),
        ...(this.#hasReservations ? [id] : []),
      ),
      price: place.price ?? this.#draft.price * fraction,
      available,
      ...(reservation && { reservationCapacity: reservation.capacity }),
      ...(capacityOverride && { capacityOverride: amounts(capacityOverride) }),
    };
  }

  #change(zone: string, capacityType: string | undefined, changes: Partial<Place>): InstanceTypeBuilder {
    const isMeant = (place: Place): boolean =>
      place.zone === zone && (capacityType === undefined || place.capacityType === capacityType);
    const places = this.#draft.places.map((place) => (isMeant(place) ? { ...place, ...changes } : place));
    return this.#with({ places });
  }

  #with(changes: Partial<Draft>): InstanceTypeBuilder {
    return new InstanceTypeBuilder({ ...this.#draft, ...changes });
  }
}
