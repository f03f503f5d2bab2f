/** The 64-bit integers that label values and bounds are read as. (02:R-4) */
export const maxInt64 = 2n ** 63n - 1n;
export const minInt64 = -(2n ** 63n);

const decimal = /^[+-]?[0-9]+$/;

/** An optional sign and decimal digits that fit 64 bits; anything else is not an integer. */
export function parseInt64(text: string): bigint | undefined {
  if (!decimal.test(text)) return undefined;
  // BigInt does not accept a leading plus.
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value < minInt64 || value > maxInt64 ? undefined : value;
}
