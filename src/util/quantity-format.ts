/** The family of suffixes a quantity is written with: 12M, 12Mi or 12e6. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

export const nanoPerUnit = 1_000_000_000n;

const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;

/** The canonical form: an integer with the largest suffix that loses no precision. (02:A-1) */
export function formatQuantity(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return "0";
  if (format === "BinarySI" && hasBinaryForm(nano)) return binaryForm(nano / nanoPerUnit);
  return format === "DecimalExponent" ? exponentForm(nano) : decimalForm(nano);
}

/** Small and fractional amounts are written in decimals, so that binary rounding never changes them. */
function hasBinaryForm(nano: bigint): boolean {
  const isSmall = nano > -1024n * nanoPerUnit && nano < 1024n * nanoPerUnit;
  return !isSmall && nano % nanoPerUnit === 0n;
}

function binaryForm(units: bigint): string {
  const { mantissa, power } = divideOut(units, { factor: 1024n, maxPower: binarySuffixes.length - 1 });
  return `${mantissa}${binarySuffixes[power]}`;
}

/** E is the largest suffix. Beyond it Kubernetes drops the suffix and writes 1000E as "1", which we do not repeat. */
function decimalForm(nano: bigint): string {
  const { mantissa, power } = divideOut(nano, { factor: 1000n, maxPower: decimalSuffixes.length - 1 });
  return `${mantissa}${decimalSuffixes[power]}`;
}

function exponentForm(nano: bigint): string {
  const { mantissa, power } = divideOut(nano, { factor: 1000n, maxPower: Number.POSITIVE_INFINITY });
  return power === 3 ? `${mantissa}` : `${mantissa}e${3 * power - 9}`;
}

/** value = mantissa * factor^power, with the largest power allowed. */
function divideOut(value: bigint, { factor, maxPower }: { factor: bigint; maxPower: number }) {
  let mantissa = value;
  let power = 0;
  while (power < maxPower && mantissa % factor === 0n) {
    mantissa /= factor;
    power++;
  }
  return { mantissa, power };
}
