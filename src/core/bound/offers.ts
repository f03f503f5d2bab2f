import { Bitset } from "../../util/bitset.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import type { Profile } from "./profiles.ts";

/** Something a fraction of which can be bought. */
export interface Offer {
  readonly price: number;
  /** What pods can have of it. */
  readonly room: Float64Array;
  /** Profiles that may be on it, by place in the list. */
  readonly takes: Bitset;
  /** Hosts it is. */
  readonly hosts: number;
}

/** Offers within this factor of each other are bundled, for the best of each: it keeps the program small. */
const bundled = 1.05;

/** What is on sale for these profiles, without what another offer is always better than. */
export function offersFor(pass: Pass, profiles: readonly Profile[]): readonly Offer[] {
  const all = pass.shops.flatMap((shop) => shopOffers(pass, shop, profiles));
  const kept: Offer[] = [];
  for (const offer of all.sort((a, b) => a.price - b.price)) {
    if (!kept.some((other) => isBeaten(offer, other))) kept.push(offer);
  }
  return bundle(kept.filter((offer) => !kept.some((other) => other !== offer && isBeaten(offer, other))));
}

/** One an offering. A type's sizes are taken together, the best of each: the price of a plan does not tell them apart. */
function shopOffers(pass: Pass, shop: Shop, profiles: readonly Profile[]): readonly Offer[] {
  const { catalogue } = shop;
  const rooms = catalogue.types.map((_, typeIndex) => roomOf(pass, shop, typeIndex));
  const allowed = profiles.map(({ offerings }) => offerings.get(shop));
  const offers: Offer[] = [];
  for (let index = 0; index < catalogue.offeringCount; index++) {
    const column = catalogue.columnOfOffering(index);
    const room = rooms[catalogue.columns[column]?.typeIndex ?? 0];
    if (room === undefined) continue;
    const takes = Bitset.empty(profiles.length);
    for (const [at, { request }] of profiles.entries()) {
      if (allowed[at]?.has(index) && isWithin(request, room)) takes.add(at);
    }
    if (!takes.isEmpty()) offers.push({ price: catalogue.priceOfOffering(index), room, takes, hosts: 1 });
  }
  return offers;
}

function roomOf({ space }: Pass, { catalogue, daemons }: Shop, typeIndex: number): Float64Array | undefined {
  let room: Float64Array | undefined;
  for (const column of catalogue.columnsOf(typeIndex)) {
    const row = catalogue.allocatable[column] ?? space.zero();
    const overhead = daemons.find((group) => group.columns.has(column))?.row;
    if (overhead === undefined) continue;
    const left = row.map((amount, dimension) => Math.max(0, amount - (overhead[dimension] as number)));
    room = room === undefined ? left : room.map((amount, dimension) => Math.max(amount, left[dimension] as number));
  }
  return room;
}

/** A dollar gets no more of anything from it, and no pod needs it. */
function isBeaten(offer: Offer, other: Offer): boolean {
  if (other.price > offer.price * other.hosts && offer.hosts > 0) return false;
  if (!offer.takes.isSubsetOf(other.takes)) return false;
  return offer.room.every(
    (amount, dimension) => amount * other.price <= (other.room[dimension] as number) * offer.price,
  );
}

function bundle(offers: readonly Offer[]): readonly Offer[] {
  const bundles: { first: Offer; best: Offer }[] = [];
  for (const offer of offers) {
    const fitting = bundles.find(({ first }) => isAlike(first, offer));
    if (fitting === undefined) bundles.push({ first: offer, best: offer });
    else fitting.best = bestOfBoth(fitting.best, offer);
  }
  return bundles.map(({ best }) => best);
}

/** For the same pods, at about the same price, and of about the same shape. */
function isAlike(first: Offer, offer: Offer): boolean {
  if (first.price === 0 || offer.price > first.price * bundled || !first.takes.equals(offer.takes)) return false;
  return offer.room.every((amount, dimension) => {
    const [own, other] = [amount * first.price, (first.room[dimension] as number) * offer.price];
    return own <= other * bundled && other <= own * bundled;
  });
}

/** Cheaper than either, and larger. */
function bestOfBoth(a: Offer, b: Offer): Offer {
  const room = a.room.map((amount, dimension) => Math.max(amount, ((b.room[dimension] as number) * a.price) / b.price));
  return { price: a.price, room, takes: a.takes, hosts: Math.max(a.hosts, (b.hosts * a.price) / b.price) };
}

function isWithin(request: Float64Array, room: Float64Array): boolean {
  for (let i = 0; i < request.length; i++) if ((request[i] as number) > (room[i] as number)) return false;
  return true;
}
