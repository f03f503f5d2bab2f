import { type FileHandle, open, rm } from "node:fs/promises";
import { errorCode } from "../../util/error-text.ts";
import { CompactedFile, snapshotPieces } from "./compacted-file.ts";
import type { FolderLock } from "./folder-lock.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { journalPath, openJournalFolder, type RecoveredJournal } from "./journal-folder.ts";
import { type JournalRecord, recordLine } from "./journal-record.ts";

export interface FileJournalOptions {
  /** The cluster's time. */
  readonly now: () => number;
  /** All objects, for compaction when the journal has grown too long. Never compacted, unless given. */
  readonly snapshot?: (() => Iterable<JournalEntry>) | undefined;
  /** The journal is compacted after this many bytes at the earliest. */
  readonly compactAfterBytes?: number | undefined;
  /** Called when compaction failed; the journal continues unchanged. */
  readonly onCompactionError?: ((error: unknown) => void) | undefined;
  /** Opens files; a test can make writing fail. */
  readonly openFile?: typeof open | undefined;
}

const defaultCompactAfter = 16 * 1024 * 1024;
/**
 * What is appended while a journal is compacted is copied, then what is appended during that, and so on, until little is left.
 * Writing pauses for the rest; also if the copy is no faster than the writers.
 */
const maxRestBytes = 1024 * 1024;
const maxCopies = 5;

/** Writes that share one sync. */
class Batch {
  readonly lines: Buffer[] = [];
  readonly done: Promise<void>;
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.done.catch(() => {}); // reported to those who wait for it
  }

  resolve(): void {
    this.#settle?.resolve();
  }

  reject(error: unknown): void {
    this.#settle?.reject(error);
  }
}

/**
 * A journal on disk. An entry is durable when a sync that began after it was written has ended. Entries that arrive
 * during a sync share the next one, so that many writes need few syncs and a single write needs one. Acknowledged
 * writes therefore survive `kill -9` and a power failure. (05:CP-T5)
 */
class FileJournal implements Journal {
  readonly #folder: string;
  readonly #options: FileJournalOptions;
  readonly #lock: FolderLock;
  #file: FileHandle;
  #generation: number;
  #openBatch: Batch | undefined;
  #draining: Promise<void> | undefined;
  #compacted: CompactedFile | undefined;
  #compacting: Promise<void> | undefined;
  /** Nothing can be written any more: what is on disk is not known. */
  #failure: unknown;
  #onFailure: () => void = () => {};
  #isClosed = false;
  /** Length of the file up to the last durable entry. */
  #durableBytes: number;
  /** A write failed and may have left a part of an entry behind, which has to be cut off. */
  #isTorn = false;
  /** Bytes of the snapshot at the beginning of the file, and of the entries after it. */
  #snapshotBytes: number;
  #appendedBytes = 0;

  private constructor(
    recovered: RecoveredJournal,
    { file, options }: { file: FileHandle; options: FileJournalOptions },
  ) {
    this.#folder = recovered.folder;
    this.#generation = recovered.generation;
    this.#snapshotBytes = recovered.bytes;
    this.#durableBytes = recovered.bytes;
    this.#lock = recovered.lock;
    this.#file = file;
    this.#options = options;
  }

  /** Continues an existing journal. */
  static async continue(recovered: RecoveredJournal, options: FileJournalOptions): Promise<FileJournal> {
    const { openFile = open } = options;
    const file = await openFile(journalPath(recovered.folder, recovered.generation), "a", 0o600);
    return new FileJournal(recovered, { file, options });
  }

  onFailure(listener: () => void): void {
    this.#onFailure = listener;
  }

  refusal(): unknown {
    return this.#isClosed ? new Error("the journal is closed") : this.#failure;
  }

  append(entry: JournalEntry): Promise<void> {
    const refusal = this.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    this.#openBatch ??= new Batch();
    this.#openBatch.lines.push(recordLine({ at: this.#options.now(), entry }));
    const { done } = this.#openBatch;
    this.#drain();
    return done;
  }

  /** Resolves when everything appended is synced or failed, and the folder is unlocked. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#compacting;
    await this.#draining;
    await this.#discard(this.#compacted);
    await this.#file.close();
    await this.#lock.release();
  }

  #drain(): void {
    this.#draining ??= this.#write().finally(() => {
      this.#draining = undefined;
    });
  }

  async #write(): Promise<void> {
    await undefined; // writes of the same tick share the first sync
    while (this.#openBatch !== undefined || this.#compacted?.isReady === true) {
      const batch = this.#openBatch;
      this.#openBatch = undefined;
      try {
        if (batch !== undefined) await this.#writeAndSync(Buffer.concat(batch.lines));
        batch?.resolve();
        if (this.#compacted?.isReady === true) await this.#switchToCompacted(this.#compacted);
        this.#compactWhenDue(); // here, because there may never be a moment without a batch
      } catch (error) {
        this.#fail(error, batch);
        await this.#discard(this.#compacted);
      }
    }
  }

  /** Later entries may build on those that failed, so they fail as well. The next ones are tried again. */
  #fail(error: unknown, batch: Batch | undefined): void {
    if (!isOutOfSpace(error)) this.#failure ??= error;
    this.#isTorn = true;
    const later = this.#openBatch;
    this.#openBatch = undefined;
    this.#onFailure();
    batch?.reject(error);
    later?.reject(error);
  }

  async #writeAndSync(bytes: Buffer): Promise<void> {
    if (this.#isTorn) await this.#file.truncate(this.#durableBytes);
    this.#isTorn = false;
    await this.#file.appendFile(bytes);
    await this.#file.datasync();
    this.#durableBytes += bytes.length;
    this.#appendedBytes += bytes.length;
  }

  #compactWhenDue(): void {
    const { snapshot, compactAfterBytes = defaultCompactAfter } = this.#options;
    const isDue = this.#appendedBytes > Math.max(compactAfterBytes, this.#snapshotBytes);
    const isBusy = this.#compacting !== undefined || this.#compacted !== undefined;
    if (snapshot === undefined || !isDue || isBusy || this.#isClosed || this.#failure !== undefined) return;
    this.#appendedBytes = 0; // if it fails, it is not retried at once
    this.#compacting = this.#compact(snapshotPieces([...snapshot()], this.#options.now())).finally(() => {
      this.#compacting = undefined;
      if (this.#compacted?.isReady === true) this.#drain();
    });
  }

  /** Writes the snapshot to a second file, and what is appended meanwhile, piece by piece, while the journal continues. */
  async #compact(pieces: Iterable<Buffer>): Promise<void> {
    // What comes after this place is copied. Some of it may be in the snapshot too: if it cannot be stored, the file is discarded.
    const from = this.#durableBytes;
    const compacted = new CompactedFile({ folder: this.#folder, generation: this.#generation, from });
    this.#compacted = compacted;
    const isWanted = () => !this.#isClosed && this.#compacted === compacted;
    try {
      await compacted.open();
      for (const piece of pieces) {
        if (!isWanted()) return await this.#discard(compacted);
        await compacted.writeSnapshotPiece(piece);
      }
      for (let copies = 0; copies < maxCopies && this.#durableBytes - compacted.copiedTo > maxRestBytes; copies++) {
        const end = this.#durableBytes;
        while (isWanted() && compacted.copiedTo < end) await compacted.copyPiece(end);
      }
      if (!isWanted()) return await this.#discard(compacted);
      compacted.isReady = true;
    } catch (error) {
      await this.#discard(compacted);
      this.#options.onCompactionError?.(error);
    }
  }

  /** No writes happen meanwhile, so the new file is complete when it replaces the old one. */
  async #switchToCompacted(compacted: CompactedFile): Promise<void> {
    const old = { file: this.#file, path: journalPath(this.#folder, this.#generation) };
    try {
      while (compacted.copiedTo < this.#durableBytes) await compacted.copyPiece(this.#durableBytes);
      this.#file = await compacted.publish();
    } catch (error) {
      await this.#discard(compacted);
      this.#options.onCompactionError?.(error);
      return;
    }
    this.#compacted = undefined;
    this.#generation = compacted.generation;
    this.#snapshotBytes = compacted.snapshotBytes;
    this.#durableBytes = compacted.bytes;
    this.#isTorn = false;
    this.#appendedBytes = compacted.bytes - compacted.snapshotBytes;
    // Leftovers of the old file are removed at the next start.
    await Promise.allSettled([old.file.close(), rm(old.path, { force: true })]);
  }

  async #discard(compacted: CompactedFile | undefined): Promise<void> {
    if (this.#compacted === compacted) this.#compacted = undefined;
    await compacted?.discard();
  }
}

/** The disk or a quota is full: writing can go on once there is space again. */
function isOutOfSpace(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** A journal with the entries found in its folder. */
export interface OpenedJournal extends Pick<RecoveredJournal, "losses"> {
  readonly entries: readonly JournalEntry[];
  /** The cluster's time at the last write; undefined if there was none. */
  readonly lastAt: number | undefined;
  readonly begin: (options: FileJournalOptions) => Promise<FileJournal>;
  /** Unlocks the folder without using the journal. */
  readonly abandon: () => Promise<void>;
}

export async function openJournal(folder: string, { recover }: { readonly recover: boolean }): Promise<OpenedJournal> {
  const recovered = await openJournalFolder(folder, { recover });
  return {
    entries: recovered.records.map(({ entry }) => entry),
    lastAt: lastTime(recovered.records),
    losses: recovered.losses,
    begin: (options) => FileJournal.continue(recovered, options),
    abandon: () => recovered.lock.release(),
  };
}

function lastTime(records: readonly JournalRecord[]): number | undefined {
  return records.length === 0 ? undefined : records.reduce((latest, { at }) => Math.max(latest, at), 0);
}
