/** Where the price of an offering comes from. */
export type PriceSource =
  /** The public price list of a region, as of a day. */
  | { readonly kind: "list"; readonly region: string; readonly date: string }
  /** Read from the cloud while the program runs. */
  | { readonly kind: "live"; readonly region: string }
  /** Written in a file the user gave. */
  | {
      readonly kind: "price-book";
      readonly file: string;
      /** The day it held, if the file says so. */
      readonly date?: string;
    }
  /** Worked out from a list price of another region or capacity type. */
  | {
      readonly kind: "estimate";
      readonly basis: EstimateBasis;
      /** Of the list price it was worked out from. */
      readonly region: string;
      readonly date: string;
    }
  /** Made up for instance types that no cloud offers. */
  | { readonly kind: "simulated" }
  /** Part of a file of instance types. */
  | { readonly kind: "instance-types"; readonly file: string }
  /** A discount of the user's price book on another price. */
  | { readonly kind: "discount"; readonly percent: number; readonly file: string; readonly of?: PriceSource }
  /** Set or changed by a NodeOverlay. */
  | { readonly kind: "overlay"; readonly nodeOverlay: string; readonly of?: PriceSource };

/**
 * How an estimate was made: the price of another region, the usual share that spot costs of the price on demand, or that
 * price itself for as long as no spot price is known.
 */
export type EstimateBasis = "other-region" | "spot-share" | "on-demand";

/** Whether the price, or the one it was derived from, is an estimate. */
export function isEstimated(source: PriceSource | undefined): boolean {
  if (source === undefined) return false;
  if (source.kind === "discount" || source.kind === "overlay") return isEstimated(source.of);
  return source.kind === "estimate";
}

/** One clause: `list price of us-east-1 on 2026-07-20`. */
export function priceSourceText(source: PriceSource): string {
  switch (source.kind) {
    case "list":
      return `list price of ${source.region} on ${source.date}`;
    case "live":
      return `live price of ${source.region}`;
    case "price-book":
      return `price book ${source.file}${source.date === undefined ? "" : ` of ${source.date}`}`;
    case "estimate":
      return `estimated: ${estimateText(source)} ${source.region} on ${source.date}`;
    case "simulated":
      return "made up: no cloud offers these instance types";
    case "instance-types":
      return `instance types of ${source.file}`;
    case "discount":
      return withBase(`${source.percent}% off (${source.file})`, source.of);
    case "overlay":
      return withBase(`NodeOverlay ${source.nodeOverlay}`, source.of);
  }
}

function estimateText({ basis }: Extract<PriceSource, { readonly kind: "estimate" }>): string {
  switch (basis) {
    case "spot-share":
      return "the usual share spot cost of the price on demand in";
    case "other-region":
      return "the list price of";
    case "on-demand":
      return "the price on demand in";
  }
}

function withBase(text: string, base: PriceSource | undefined): string {
  return base === undefined ? text : `${text}, ${priceSourceText(base)}`;
}
