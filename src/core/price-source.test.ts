import { describe, expect, it } from "vitest";
import { isEstimated, type PriceSource, priceSourceText } from "./price-source.ts";

const list: PriceSource = { kind: "list", region: "us-east-1", date: "2026-07-20" };
const estimate: PriceSource = { ...list, kind: "estimate", basis: "spot-share" };
const over = (of?: PriceSource): PriceSource => ({ kind: "overlay", nodeOverlay: "o", ...(of && { of }) });
const off = (of: PriceSource): PriceSource => ({ kind: "discount", percent: 20, file: "book.yaml", of });

describe("where a price comes from", () => {
  it("an estimate stays one under discounts and overlays, not under a price that replaces it", () => {
    expect([list, off(list), over(list), over(), undefined].map(isEstimated)).toEqual(Array(5).fill(false));
    expect([estimate, off(estimate), over(off(estimate))].map(isEstimated)).toEqual([true, true, true]);
  });

  it("is one clause that names region, day and file", () => {
    expect(priceSourceText(list)).toBe("list price of us-east-1 on 2026-07-20");
    expect(priceSourceText(over(off(list)))).toBe(
      "NodeOverlay o, 20% off (book.yaml), list price of us-east-1 on 2026-07-20",
    );
  });
});
