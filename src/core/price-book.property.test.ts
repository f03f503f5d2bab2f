import fc from "fast-check";
import { expect, it } from "vitest";
import { instanceType } from "../../test/builders/instance-type.ts";
import { runs } from "../../test/runs.ts";
import { offeringCapacityType, offeringZone } from "./instance-type.ts";
import { type BookDiscount, type BookPrice, PriceBook } from "./price-book.ts";

const types = ["m5.large", "m5.xlarge", "c6g.large"].map((name) => instanceType(name).price(1).build());
const names = types.map(({ name }) => name);
const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const capacityType = fc.constantFrom("on-demand", "spot");

const bookPrice: fc.Arbitrary<BookPrice> = fc.record({
  type: fc.constantFrom(...names),
  zone: maybe(["a", "b"]),
  capacityType,
  price: fc.double({ min: 0.01, max: 9, noNaN: true }),
  region: maybe(["here", "elsewhere"]),
  source: fc.constant({ kind: "price-book", file: "f" } as const),
});
const bookDiscount: fc.Arbitrary<BookDiscount> = fc
  .record({
    name: maybe([...names, "m5", "c6g"]),
    capacityType: fc.option(capacityType, { nil: undefined }),
    percent: fc.integer({ min: 0, max: 99 }),
    file: fc.constant("f"),
  })
  .map(({ name, ...rest }) => ({ ...rest, ...(name?.includes(".") ? { type: name } : { family: name }) }));

/** Every price in the order of its weight, the heaviest last: the last one that matches counts. */
function slowPrice(
  offer: { readonly type: string; readonly zone: string; readonly capacityType: string; readonly price: number },
  prices: readonly BookPrice[],
  discounts: readonly BookDiscount[],
): number {
  const byZone = [
    ...prices.filter(({ zone }) => zone === undefined),
    ...prices.filter(({ zone }) => zone !== undefined),
  ];
  let written: number | undefined;
  for (const one of byZone) {
    const isHere = one.region !== "elsewhere" && (one.zone ?? offer.zone) === offer.zone;
    if (isHere && one.type === offer.type && one.capacityType === offer.capacityType) written = one.price;
  }
  if (written !== undefined) return written;
  const weight = ({ type, family }: BookDiscount): number => (type !== undefined ? 2 : family !== undefined ? 1 : 0);
  let percent = 0;
  for (const one of [0, 1, 2].flatMap((level) => discounts.filter((discount) => weight(discount) === level))) {
    const isMeant = (one.type ?? offer.type) === offer.type && offer.type.startsWith(one.family ?? "");
    if (isMeant && (one.capacityType ?? offer.capacityType) === offer.capacityType) percent = one.percent;
  }
  return offer.price * (1 - percent / 100);
}

it("an offering has the price the book writes for it, else the discounted one it had", () => {
  fc.assert(
    fc.property(
      fc.array(bookPrice, { maxLength: 8 }),
      fc.array(bookDiscount, { maxLength: 5 }),
      (prices, discounts) => {
        const book = new PriceBook({ prices, discounts });
        const priced = book.applyTo(types, "here");
        for (const [index, { name, offerings }] of priced.entries()) {
          for (const [place, offering] of offerings.entries()) {
            const before = types[index]?.offerings[place];
            const [zone = "", kind = ""] = [offeringZone(offering), offeringCapacityType(offering)];
            const offer = { type: name, zone, capacityType: kind, price: before?.price ?? 0 };
            expect(offering.price).toBe(slowPrice(offer, prices, discounts));
            expect(offering.available).toBe(before?.available);
          }
          const before = types[index];
          expect(priced[index] === before).toBe(before !== undefined && !book.covers(before, "here"));
        }
      },
    ),
    { numRuns: runs(500) },
  );
});
