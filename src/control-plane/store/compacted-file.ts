import { type FileHandle, open, rm } from "node:fs/promises";
import { chunksOf } from "../chunks.ts";
import type { JournalEntry } from "./journal.ts";
import { journalPath, publishJournalFile } from "./journal-folder.ts";
import { headerLine, recordLine } from "./journal-record.ts";

/** Snapshots are encoded in pieces, so that requests are answered in between. Copying takes no time of ours, and may take larger ones. */
const pieceBytes = 256 * 1024;
const copiedBytes = 4 * 1024 * 1024;

interface CompactedFileOptions {
  readonly folder: string;
  /** Of the journal file that is being compacted. */
  readonly generation: number;
  /** Where the entries that were appended after the snapshot begin in that file. */
  readonly from: number;
}

/** The next journal file while compaction writes it: a snapshot, and what was appended to the old file since. */
export class CompactedFile {
  readonly generation: number;
  readonly #options: CompactedFileOptions;
  #file: FileHandle | undefined;
  #old: FileHandle | undefined;
  /** Up to where the old file is in this one. */
  #copiedTo: number;
  #snapshotBytes = 0;
  /** It can take the place of the old file once the rest of that is copied. */
  isReady = false;

  constructor(options: CompactedFileOptions) {
    this.#options = options;
    this.generation = options.generation + 1;
    this.#copiedTo = options.from;
  }

  get snapshotBytes(): number {
    return this.#snapshotBytes;
  }

  get copiedTo(): number {
    return this.#copiedTo;
  }

  /** How long it is. */
  get bytes(): number {
    return this.#snapshotBytes + this.#copiedTo - this.#options.from;
  }

  get #path(): string {
    return journalPath(this.#options.folder, this.generation);
  }

  async open(): Promise<void> {
    this.#file = await open(`${this.#path}.tmp`, "wx", 0o600);
    this.#old = await open(journalPath(this.#options.folder, this.#options.generation), "r");
  }

  async writeSnapshotPiece(piece: Buffer): Promise<void> {
    await this.#file?.appendFile(piece);
    this.#snapshotBytes += piece.length;
  }

  /** Copies what the old file has up to a position, or the next piece of it. */
  async copyPiece(end: number): Promise<void> {
    const piece = Buffer.allocUnsafe(Math.min(copiedBytes, end - this.#copiedTo));
    const { bytesRead = 0 } = (await this.#old?.read(piece, 0, piece.length, this.#copiedTo)) ?? {};
    if (bytesRead === 0) throw new Error("the journal is shorter than what was written to it");
    await this.#file?.appendFile(piece.subarray(0, bytesRead));
    this.#copiedTo += bytesRead;
  }

  /** Gives it its final name; the journal is written to the file returned from here on. */
  async publish(): Promise<FileHandle> {
    const file = this.#file;
    if (file === undefined) throw new Error("a compacted journal was published before it was opened");
    try {
      await publishJournalFile(this.#options.folder, { file, path: this.#path });
    } catch (error) {
      await rm(this.#path, { force: true }); // under its final name it would hide later entries of the old file
      throw error;
    }
    await this.#old?.close().catch(() => {});
    return file;
  }

  async discard(): Promise<void> {
    for (const file of [this.#file, this.#old]) await file?.close().catch(() => {});
    await rm(`${this.#path}.tmp`, { force: true });
  }
}

/** The entries as the beginning of a journal file, in pieces. Empties the list. */
export function snapshotPieces(left: JournalEntry[], at: number): Iterable<Buffer> {
  return chunksOf(snapshotLines(left, at), pieceBytes);
}

/** Takes each entry from the list as it is written: what it names may have changed since, and would be in memory twice. */
function* snapshotLines(left: JournalEntry[], at: number): Iterable<Buffer> {
  yield headerLine();
  left.reverse();
  for (let entry = left.pop(); entry !== undefined; entry = left.pop()) yield recordLine({ at, entry });
}
