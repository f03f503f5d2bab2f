import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { hash64 } from "../../util/hash.ts";
import { canonicalMap, canonicalNonZero, canonicalScalar, canonicalSet, canonicalStruct } from "./canonical.ts";

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

describe("canonical form", () => {
  it("01 §6.3 skips what is unset, counts explicit false and 0 of optional scalars", () => {
    expect([canonicalScalar(undefined), canonicalScalar(null), canonicalScalar("")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([canonicalScalar(false), canonicalScalar(0), canonicalScalar("x")]).toEqual(["false", "0", '"x"']);
    expect([canonicalNonZero(false), canonicalNonZero(0), canonicalNonZero(""), canonicalNonZero(true)]).toEqual([
      undefined,
      undefined,
      undefined,
      "true",
    ]);
  });

  it("01 §6.3 empty collections are absent, all the way up", () => {
    expect(
      canonicalStruct({
        a: canonicalSet([]),
        b: canonicalMap({}),
        c: canonicalStruct({ d: canonicalScalar("") }),
        e: canonicalSet([canonicalStruct({})]),
      }),
    ).toBeUndefined();
  });

  it("01 §6.3 a label without a value is still a label", () => {
    expect(canonicalMap({ a: "" })).not.toBe(canonicalMap({}));
  });

  it("01 §6.3 order does not matter, content does", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        const isSameSet = JSON.stringify([...new Set(a)].sort()) === JSON.stringify([...new Set(b)].sort());
        expect(
          canonicalSet(a.map((one) => JSON.stringify(one))) === canonicalSet(b.map((one) => JSON.stringify(one))),
        ).toBe(isSameSet);
        expect(canonicalSet([...a].reverse().map((one) => JSON.stringify(one)))).toBe(
          canonicalSet(a.map((one) => JSON.stringify(one))),
        );
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("01 §6.3 maps cannot be confused by what their texts contain", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.dictionary(fc.string(), fc.string()), (a, b) => {
        const sorted = (one: Record<string, string>) => JSON.stringify(Object.entries(one).sort());
        expect(canonicalMap(a) === canonicalMap(b)).toBe(sorted(a) === sorted(b));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("01 §9.16 JSON is sorted by key and otherwise left alone", () => {
    expect(canonicalJson({ b: [2, 1, {}], a: { d: null, c: [] } })).toBe('{"a":{"c":[],"d":null},"b":[2,1,{}]}');
  });
});
