import { decodeManifest, isGzip } from "../../api/manifest/decode.ts";
import { type Finding, fileStartPosition } from "../../api/manifest/finding.ts";
import { readManifests, unreadableFinding } from "../../api/manifest/read.ts";
import { type BookEntries, PriceBook } from "../../core/price-book.ts";
import { failureText, type Io } from "../io.ts";
import { unpackGzip } from "../snapshot/snapshot-file.ts";
import { bookForms, type ParsedBook, parseBook } from "./book-rows.ts";
import { isCsvBook, parseCsvBook } from "./csv-book.ts";

/** The price book of the files of `--prices`, and everything that is wrong with them. */
export interface ReadPriceBook {
  readonly book: PriceBook | undefined;
  /** The region of all its prices, if they have one in common. */
  readonly region?: string | undefined;
  readonly findings: readonly Finding[];
}

interface BookFile extends BookEntries {
  readonly region?: string | undefined;
  readonly findings: readonly Finding[];
}

/** The price list of one region for all operating systems is about this large. */
const maxBytes = 256 * 1024 * 1024;

/** Reads all files; of two prices for the same offering that of the later file counts. */
export async function readPriceBook(paths: readonly string[] = [], io: Io): Promise<ReadPriceBook> {
  if (paths.length === 0) return { book: undefined, findings: [] };
  const files: BookFile[] = [];
  for (const path of paths) files.push(await readBookFile(path, io));
  const prices = files.flatMap((file) => file.prices);
  const regions = new Set([...prices, ...files].flatMap(({ region }) => region ?? []));
  return {
    book: new PriceBook({ prices, discounts: files.flatMap((file) => file.discounts) }),
    region: regions.size === 1 ? [...regions][0] : undefined,
    findings: files.flatMap(({ findings }) => findings),
  };
}

async function readBookFile(path: string, io: Io): Promise<BookFile> {
  try {
    const packed = await io.readFile(path, maxBytes);
    if (packed.length > maxBytes) return refusedBook(path, "exceeds the limit of 256 MiB; filter the price list");
    const unpacked = isGzip(packed) ? unpackGzip(packed) : { bytes: packed };
    if ("refused" in unpacked) return refusedBook(path, unpacked.refused);
    const decoded = decodeManifest(unpacked.bytes);
    return decoded.kind === "refused" ? refusedBook(path, decoded.because) : await parseBookText(decoded.text, path);
  } catch (error) {
    return refusedBook(path, `cannot read the price book: ${failureText(error)}`);
  }
}

async function parseBookText(text: string, path: string): Promise<BookFile> {
  if (isCsvBook(text)) return parseCsvBook(text, path);
  const json = /^\s*[[{]/.test(text) ? jsonOf(text) : undefined;
  if (json !== undefined) {
    // Loaded only now: a price list of AWS is too large for a parser that remembers positions.
    const { parseAwsPrices } = await import("./aws-prices.ts");
    const parsed = parseAwsPrices(json, path);
    if (parsed !== undefined) return { ...parsed, findings: foundAt(parsed, () => ({ source: path, ...start })) };
  }
  const { documents, findings } = readManifests(text, path);
  const [document] = documents;
  if (document === undefined) return { prices: [], discounts: [], findings };
  if (documents.length > 1) return refusedBook(path, "has several documents; a price book is one");
  const parsed = parseBook(document.object, path);
  const located = foundAt(parsed, ({ path: field }) => {
    const { line, column } = document.locationOf(field);
    return { source: path, position: { line, column } };
  });
  return { ...parsed, findings: [...findings, ...located] };
}

const start = { position: fileStartPosition };

function foundAt(
  { problems }: ParsedBook,
  locate: (problem: ParsedBook["problems"][number]) => Pick<Finding, "source" | "position">,
): readonly Finding[] {
  return problems.map((problem) => ({ ...problem, severity: "error", ...locate(problem) }));
}

function refusedBook(source: string, message: string): BookFile {
  const finding = { ...unreadableFinding({ source, message }), expected: bookForms };
  return { prices: [], discounts: [], findings: [finding] };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // read again with positions, which says where it is wrong
  }
}
