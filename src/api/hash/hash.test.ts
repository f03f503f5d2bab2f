import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { hash64 } from "../../util/hash.ts";

describe("hash64", () => {
  it("01 §6.3 is an unsigned 64-bit number in decimal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const hash = hash64(text);
        expect(hash).toMatch(/^\d+$/);
        expect(BigInt(hash) < 2n ** 64n).toBe(true);
        expect(hash64(text)).toBe(hash);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("01 §6.3 tells permuted bytes apart", () => {
    expect(hash64("12")).not.toBe(hash64("21"));
    fc.assert(
      fc.property(fc.string({ minLength: 2, maxLength: 20 }), fc.nat(), (text, at) => {
        const cut = at % text.length;
        const turned = text.slice(cut) + text.slice(0, cut);
        expect(hash64(turned) === hash64(text)).toBe(turned === text);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("01 §6.3 keeps its values: changing them needs a new version", () => {
    expect([hash64(""), hash64("a"), hash64("karpenter")]).toMatchInlineSnapshot(`
      [
        "17665956581633026203",
        "198367012849983736",
        "8125358104934508954",
      ]
    `);
  });

  it("01 §6.3 one changed bit flips about half of the result", () => {
    const flips = Array.from({ length: 256 }, (_, at) => {
      const difference = BigInt(hash64(`seed ${at}`)) ^ BigInt(hash64(`seed ${at}`.replace("s", "t")));
      return [...difference.toString(2)].filter((bit) => bit === "1").length;
    });
    const mean = flips.reduce((sum, one) => sum + one, 0) / flips.length;
    expect(mean).toBeGreaterThan(28);
    expect(mean).toBeLessThan(36);
  });
});

describe("canonicalJson", () => {
  it("01 §9.16 JSON is sorted by key and otherwise left alone", () => {
    expect(canonicalJson({ b: [2, 1, {}], a: { d: null, c: [] } })).toBe('{"a":{"c":[],"d":null},"b":[2,1,{}]}');
    expect(canonicalJson({ "a b": 1, a: 2, "a!": 3 })).toBe('{"a":2,"a b":1,"a!":3}');
  });
});
