import { crc32 } from "node:zlib";
import { isRecord } from "../../api/object.ts";
import type { JournalEntry } from "./journal.ts";

/**
 * A journal is text with one record per line: the CRC-32 of the rest as eight hex digits, the length of the JSON in
 * bytes, the JSON. JSON contains no raw line breaks, so damage is reported by line number, and a last line without its
 * end is incomplete.
 */
export interface JournalRecord {
  /** The cluster's time of the write; after a restart time continues from here. */
  readonly at: number;
  readonly entry: JournalEntry;
}

const header = { format: "karpenter-ts journal", version: 1 } as const;

export type JournalReading =
  /** `bytes` is the length of the valid part: everything, or with `isTorn` all but an incomplete last record. */
  | {
      readonly kind: "good";
      readonly records: readonly JournalRecord[];
      readonly bytes: number;
      readonly isTorn: boolean;
    }
  | {
      readonly kind: "damaged";
      /** The records before the damage. */
      readonly records: readonly JournalRecord[];
      readonly bytes: number;
      /** The first line is 1. */
      readonly line: number;
      readonly because: string;
    };

export function headerLine(): Buffer {
  return frameLine(header);
}

export function recordLine({ at, entry }: JournalRecord): Buffer {
  return frameLine({ at, ...entry });
}

function frameLine(value: object): Buffer {
  const json = JSON.stringify(value);
  const framed = `${Buffer.byteLength(json)} ${json}`;
  return Buffer.from(`${checksum(framed)} ${framed}\n`);
}

function checksum(text: string | Uint8Array): string {
  return crc32(text).toString(16).padStart(8, "0");
}

const lineEnd = 10;

/** Reads records up to the first damaged one. */
export function readJournal(bytes: Buffer): JournalReading {
  const records: JournalRecord[] = [];
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    const end = bytes.indexOf(lineEnd, start);
    // Without its end it was never acknowledged: the end is written with the record, before the response.
    if (end < 0 && number > 1) return { kind: "good", records, bytes: start, isTorn: true };
    const read = readLine(bytes.subarray(start, end < 0 ? bytes.length : end), { isHeader: number === 1 });
    if (read.kind === "bad") return { kind: "damaged", records, bytes: start, line: number, because: read.because };
    if (read.kind === "record") records.push(read.record);
    start = end + 1;
  }
  if (start > 0) return { kind: "good", records, bytes: start, isTorn: false };
  return { kind: "damaged", records, bytes: 0, line: 1, because: "the file is empty" };
}

type LineReading =
  | { readonly kind: "header" }
  | { readonly kind: "record"; readonly record: JournalRecord }
  | { readonly kind: "bad"; readonly because: string };

const sumDigits = 8;

function readLine(text: Buffer, { isHeader }: { readonly isHeader: boolean }): LineReading {
  const framed = text.subarray(sumDigits + 1);
  if (text.toString("latin1", 0, sumDigits + 1) !== `${checksum(framed)} `) {
    return { kind: "bad", because: "its checksum does not match" };
  }
  const space = framed.indexOf(" ");
  const json = framed.subarray(space + 1);
  if (framed.toString("latin1", 0, space) !== String(json.length)) {
    return { kind: "bad", because: "its length does not match" };
  }
  const value = parsed(json.toString("utf8"));
  if (isHeader) {
    const isOurs = isRecord(value) && value["format"] === header.format && value["version"] === header.version;
    return isOurs ? { kind: "header" } : { kind: "bad", because: "it is not a journal header of a supported version" };
  }
  const record = recordOf(value);
  return record === undefined ? { kind: "bad", because: "it is not a valid record" } : { kind: "record", record };
}

function recordOf(value: unknown): JournalRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { at, ...entry } = value;
  if (typeof at !== "number" || !Number.isSafeInteger(entry["revision"])) return undefined;
  const isKnown =
    entry["op"] === "revision" ||
    (typeof entry["storage"] === "string" &&
      typeof entry["key"] === "string" &&
      (entry["op"] === "delete" || (entry["op"] === "put" && isRecord(entry["object"]))));
  return isKnown ? { at, entry: entry as unknown as JournalEntry } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
