import { isEstimated, type PriceSource, priceSourceText } from "../../core/price-source.ts";
import { countText, oneLine } from "../text-table.ts";

/** A price source, and how much depends on it. */
export interface ReportedPriceSource {
  readonly source: PriceSource;
  readonly isEstimate: boolean;
  readonly nodes: number;
  readonly pricePerHour: number;
}

/** Something with a price. */
export interface Priced {
  readonly price: number;
  readonly priceSource?: PriceSource | undefined;
}

/** Marks a price that is an estimate. */
const estimateMark = "~";

/** `0.0960`, or `~0.0960` for an estimate. */
export function markedPrice(price: number, source: PriceSource | undefined, digits = 4): string {
  return `${isEstimated(source) ? estimateMark : ""}${price.toFixed(digits)}`;
}

/** `$0.0960/hour`, or `~$0.0960/hour` for an estimate. */
export function markedHourlyPrice(price: number, source: PriceSource | undefined): string {
  return `${isEstimated(source) ? estimateMark : ""}$${price.toFixed(4)}/hour`;
}

/** Every source once, in the order of their texts. */
export function priceSourcesOf(nodes: readonly Priced[]): readonly ReportedPriceSource[] {
  const found = new Map<string, ReportedPriceSource>();
  for (const { price, priceSource: source } of nodes) {
    if (source === undefined) continue;
    const text = priceSourceText(source);
    const { nodes: count, pricePerHour } = found.get(text) ?? { nodes: 0, pricePerHour: 0 };
    const isEstimate = isEstimated(source);
    found.set(text, { source, isEstimate, nodes: count + 1, pricePerHour: pricePerHour + price });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

export interface PriceSourceLineOptions {
  /** What is counted where there are several sources; nothing if it is false. */
  readonly noun?: string | false;
}

/** One line a source; those of estimates begin with the mark that their prices have. */
export function priceSourceLines(
  sources: readonly ReportedPriceSource[],
  { noun = "node" }: PriceSourceLineOptions = {},
): readonly string[] {
  return sources.map(({ source, isEstimate, nodes }) => {
    const count = sources.length > 1 && noun !== false ? ` (${countText(nodes, noun)})` : "";
    return `Price${count}: ${isEstimate ? `${estimateMark} ` : ""}${oneLine(priceSourceText(source))}.`;
  });
}
