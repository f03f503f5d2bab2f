import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Quantity, QuantityError, type QuantityFormat } from "./quantity.ts";

const numRuns = Math.max(2_000, runs(10_000)); // cheap enough for more than a hundredth of the cases

/** A number as a fraction: the slow, obvious model. */
interface Rational {
  readonly top: bigint;
  readonly bottom: bigint;
}

const units: Readonly<Record<string, Rational>> = {
  ...Object.fromEntries(
    ["", "k", "M", "G", "T", "P", "E"].map((unit, i) => [unit, { top: 1000n ** BigInt(i), bottom: 1n }]),
  ),
  ...Object.fromEntries(["m", "u", "n"].map((unit, i) => [unit, { top: 1n, bottom: 1000n ** BigInt(i + 1) }])),
  ...Object.fromEntries(
    ["Ki", "Mi", "Gi", "Ti", "Pi"].map((unit, i) => [unit, { top: 1024n ** BigInt(i + 1), bottom: 1n }]),
  ),
};

interface Written {
  readonly text: string;
  readonly exact: Rational;
}

const digits = fc.stringMatching(/^\d{0,12}$/);
const numbers = fc
  .record({ sign: fc.constantFrom("", "+", "-"), integer: digits, fraction: digits })
  .filter(({ integer, fraction }) => integer + fraction !== "");
const suffixes = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(units)) },
  fc.tuple(fc.constantFrom("e", "E"), fc.integer({ min: -15, max: 25 })).map(([e, power]) => `${e}${power}`),
);

/** A text and its exact number, built together so that no parser is involved. */
const written: fc.Arbitrary<Written> = fc.tuple(numbers, suffixes).map(([{ sign, integer, fraction }, suffix]) => {
  const unit = units[suffix] ?? powerOfTen(Number(suffix.slice(1)));
  const mantissa = BigInt(integer + fraction) * (sign === "-" ? -1n : 1n);
  return {
    text: `${sign}${integer}${fraction === "" ? "" : `.${fraction}`}${suffix}`,
    exact: { top: mantissa * unit.top, bottom: 10n ** BigInt(fraction.length) * unit.bottom },
  };
});

const quantities = written.map(({ text }) => Quantity.parse(text));
const formats = fc.constantFrom<QuantityFormat[]>("DecimalSI", "BinarySI", "DecimalExponent");

function powerOfTen(power: number): Rational {
  return power < 0 ? { top: 1n, bottom: 10n ** BigInt(-power) } : { top: 10n ** BigInt(power), bottom: 1n };
}

/** The number of parts of a unit, rounded away from zero. */
function awayFromZero({ top, bottom }: Rational, partsPerUnit: bigint): bigint {
  const size = top < 0n ? -top : top;
  let parts = (size * partsPerUnit) / bottom;
  while (parts * bottom < size * partsPerUnit) parts++;
  return top < 0n ? -parts : parts;
}

/** The canonical form by trying every suffix, the largest first. */
function largestSuffix(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return "0";
  const isWhole = nano % 10n ** 9n === 0n;
  const isSmall = nano > -1024n * 10n ** 9n && nano < 1024n * 10n ** 9n;
  for (const { suffix, size } of format === "BinarySI" && isWhole && !isSmall ? binarySizes : decimalSizes(format)) {
    if (nano % size === 0n) return `${nano / size}${suffix}`;
  }
  throw new Error("a whole number of nanos has a suffix");
}

const binarySizes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
  .map((suffix, i) => ({ suffix, size: 1024n ** BigInt(i) * 10n ** 9n }))
  .reverse();

function decimalSizes(format: QuantityFormat) {
  const isExponent = format === "DecimalExponent";
  const exponents = Array.from({ length: isExponent ? 30 : 10 }, (_, i) => 3 * i - 9);
  return exponents
    .map((exponent, i) => ({
      suffix: isExponent
        ? `e${exponent}`.replace(/^e0$/, "")
        : (["n", "u", "m", "", "k", "M", "G", "T", "P", "E"][i] ?? ""),
      size: 1000n ** BigInt(i),
    }))
    .reverse();
}

function clamped(value: bigint, limit: bigint): bigint {
  if (value > limit) return limit;
  return value < -limit ? -limit : value;
}

describe("Quantity", () => {
  it("02:A-1 reads any number exactly, rounding what is finer than a nano away from zero", () => {
    fc.assert(
      fc.property(written, ({ text, exact }) => {
        // Binary quantities stop at 2^63-1.
        const limit = text.endsWith("i") ? (2n ** 63n - 1n) * 10n ** 9n : 10n ** 60n;
        const nano = awayFromZero(exact, 10n ** 9n);
        expect(Quantity.parse(text).nano).toBe(clamped(nano, limit));
      }),
      { numRuns },
    );
  });

  it("02:A-1 Value and MilliValue round away from zero", () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const exact = { top: quantity.nano, bottom: 10n ** 9n };
        expect(quantity.value()).toBe(awayFromZero(exact, 1n));
        expect(quantity.milliValue()).toBe(awayFromZero(exact, 1_000n));
      }),
      { numRuns },
    );
  });

  it("02:A-1 adds, subtracts, negates and compares exactly, and keeps the left format unless it is zero", () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        const format = a.nano === 0n ? b.format : a.format;
        expect(a.add(b)).toEqual(Quantity.fromNano(a.nano + b.nano, format));
        expect(a.sub(b)).toEqual(Quantity.fromNano(a.nano - b.nano, format));
        expect(a.neg()).toEqual(Quantity.fromNano(-a.nano, a.format));
        expect(a.add(b).sub(b).equals(a)).toBe(true);
        expect(a.cmp(b)).toBe(Number(a.nano > b.nano) - Number(a.nano < b.nano));
        expect(a.equals(b)).toBe(a.cmp(b) === 0);
        expect(a.sign()).toBe(a.cmp(Quantity.zero));
        expect(a.isZero()).toBe(a.sign() === 0);
      }),
      { numRuns },
    );
  });

  it("02:A-1 reads back what it writes, in canonical and kept form", () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        expect(Quantity.parse(quantity.toString()).nano).toBe(quantity.nano);
        expect(Quantity.parse(quantity.canonical()).nano).toBe(quantity.nano);
      }),
      { numRuns },
    );
  });

  it("02:A-1 writes a whole number with the largest suffix that loses nothing", () => {
    const mantissas = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
    const factors = fc.constantFrom(
      1n,
      10n ** 9n,
      10n ** 15n,
      2n ** 20n * 10n ** 9n,
      2n ** 40n * 10n ** 9n,
      10n ** 27n,
    );
    fc.assert(
      fc.property(mantissas, factors, formats, (mantissa, factor, format) => {
        const quantity = Quantity.fromNano(mantissa * factor, format);
        expect(quantity.toString()).toBe(largestSuffix(quantity.nano, format));
      }),
      { numRuns },
    );
  });

  it("02:A-13 approximates by the nearest double", () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const sign = quantity.nano < 0n ? "-" : "";
        const [all = ""] = /\d+/.exec(String(quantity.nano)) ?? [];
        const padded = all.padStart(10, "0");
        expect(quantity.toNumber()).toBe(Number(`${sign}${padded.slice(0, -9)}.${padded.slice(-9)}`) + 0);
      }),
      { numRuns },
    );
  });

  it("01 §0.2 accepts only what the schema pattern accepts, and all of it but fractional exponents", () => {
    const pattern =
      /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
    const texts = fc.string({ unit: fc.constantFrom(..."0123456789.+-eEinumkKMGTP "), maxLength: 7 });
    fc.assert(
      fc.property(fc.oneof(texts, fc.stringMatching(pattern)), (text) => {
        const isOverTheTop = Math.abs(Number(/[eE]([+-]?\d+)$/.exec(text)?.[1] ?? 0)) > 1_000 || text.length > 1_000;
        const isExpected = pattern.test(text) && !/[eE].*\./.test(text) && !isOverTheTop;
        expect(Quantity.tryParse(text) !== undefined).toBe(isExpected);
      }),
      { numRuns },
    );
  });

  it("reads the bare numbers of YAML", () => {
    const texts = [1000, 0.5, 1e3, 0, -2, 1e21, 1e-7].map((value) => Quantity.tryParse(value)?.toString());
    expect(texts).toEqual(
      ["1k", "500m", "1k", "0", "-2", "1e+21", "1e-7"].map((text) => Quantity.parse(text).toString()),
    );
    expect([Number.NaN, Number.POSITIVE_INFINITY].map((value) => Quantity.tryParse(value))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("makes whole units and thousandths", () => {
    expect(Quantity.of(3).toString()).toBe("3");
    expect(Quantity.of(4096n, "BinarySI").toString()).toBe("4Ki");
    expect(Quantity.milli(1_500).toString()).toBe("1500m");
    expect(() => Quantity.of(1.5)).toThrow(RangeError);
  });

  it("02:A-1 loses the kept text in arithmetic, as Kubernetes does", () => {
    expect(Quantity.parse("1.234").add(Quantity.zero).toString()).toBe("1234m");
    expect(Quantity.zero.add(Quantity.parse("1Gi")).toString()).toBe("1Gi");
    expect(Quantity.parse("1Gi").add(Quantity.parse("1G")).format).toBe("BinarySI");
    expect(Quantity.parse("1").sub(Quantity.parse("1")).add(Quantity.parse("1Ki")).format).toBe("BinarySI");
  });

  it("02:A-13 stays exact where Kubernetes' int64 overflows", () => {
    expect(Quantity.parse("1000E").toString()).toBe("1000E");
    expect(Quantity.parse("1000E").value()).toBe(10n ** 21n);
    expect(Quantity.parse("7Ei").milliValue()).toBe(7_000n * 2n ** 60n);
    expect(Quantity.parse("-0.3Ki").value()).toBe(-308n);
    expect(Quantity.parse("1e30").value()).toBe(10n ** 30n);
  });

  it("refuses texts without digits and texts that would stall the process", () => {
    const texts = [
      "+",
      "-",
      ".",
      "m",
      "Ki",
      "e3",
      "-.Gi",
      "1e1001",
      "1e-1001",
      "1".repeat(1_001),
      `${"0".repeat(1e6)}x`,
    ];
    expect(texts.map((text) => Quantity.tryParse(text))).toEqual(texts.map(() => undefined));
    expect(Quantity.parse("1e1000").nano).toBe(10n ** 1009n);
  });

  it("names the text it cannot read and what it expected", () => {
    expect(() => Quantity.parse("1Kii")).toThrow(QuantityError);
    expect(() => Quantity.parse("1Kii")).toThrow(/^"1Kii" is not a quantity: expected a number with .*Ki.*500m/);
    expect(() => Quantity.parse("x".repeat(5_000))).toThrow(/^"x{80}…" is/);
  });

  it("is serialized to JSON as a string", () => {
    expect(JSON.stringify({ cpu: Quantity.milli(500), memory: Quantity.parse("1.5Gi") })).toBe(
      '{"cpu":"500m","memory":"1536Mi"}',
    );
  });
});
