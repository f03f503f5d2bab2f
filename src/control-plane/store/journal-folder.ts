import { constants } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../util/error-text.ts";
import { type FolderLock, lockFolder } from "./folder-lock.ts";
import { headerLine, type JournalReading, type JournalRecord, readJournal } from "./journal-record.ts";

/** The journal cannot be used; the message says why and what to do. (05:CP-T5) */
class JournalError extends Error {
  override readonly name = "JournalError";
}

/** A journal as found in a folder. */
export interface RecoveredJournal {
  readonly folder: string;
  readonly generation: number;
  readonly records: readonly JournalRecord[];
  /** Length of the file in bytes. */
  readonly bytes: number;
  /** What recovery dropped, for the user. */
  readonly losses: readonly string[];
  /** Held until the journal is closed. */
  readonly lock: FolderLock;
}

type FoundJournal = Omit<RecoveredJournal, "lock">;

const fileName = /^journal\.(\d+)$/;
const leftOver = /^journal\.\d+\.tmp$/;

export function journalPath(folder: string, generation: number): string {
  return join(folder, `journal.${generation}`);
}

/**
 * Locks a folder and reads its journal, or creates one. An incomplete last record is dropped, because it was never
 * acknowledged. Any other damage is refused, unless `recover` allows to keep what comes before it.
 */
export async function openJournalFolder(
  folder: string,
  { recover }: { readonly recover: boolean },
): Promise<RecoveredJournal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(folder);
  if (lock === undefined)
    throw new JournalError(`${folder} is in use by another control plane; stop it, or use another --data-dir`);
  try {
    return { ...(await findJournal(folder, { recover })), lock };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function findJournal(folder: string, { recover }: { readonly recover: boolean }): Promise<FoundJournal> {
  const names = await readdir(folder);
  await Promise.all(names.filter((name) => leftOver.test(name)).map((name) => rm(join(folder, name), { force: true })));
  const generations = names
    .flatMap((name) => Number(fileName.exec(name)?.[1] ?? Number.NaN) || [])
    .sort((a, b) => b - a);
  const [generation, ...older] = generations;
  if (generation === undefined) return await createJournal(folder);
  const recovered = await readGeneration({ folder, generation, recover });
  // A file gets its final name when it is complete, so older files are leftovers of an interrupted compaction.
  await Promise.all(older.map((one) => rm(journalPath(folder, one), { force: true })));
  return recovered;
}

async function createJournal(folder: string): Promise<FoundJournal> {
  const line = headerLine();
  const path = journalPath(folder, 1);
  const file = await open(`${path}.tmp`, "wx", 0o600);
  await file.writeFile(line);
  await publishJournalFile(folder, { file, path });
  await file.close();
  return { folder, generation: 1, records: [], bytes: line.length, losses: [] };
}

/** Renames a complete file to its final name, atomically. */
export async function publishJournalFile(
  folder: string,
  { file, path }: { readonly file: FileHandle; readonly path: string },
): Promise<void> {
  await file.datasync();
  await rename(`${path}.tmp`, path);
  const directory = await open(folder, "r");
  try {
    await directory.sync(); // the directory entry must survive a power failure
  } finally {
    await directory.close();
  }
}

interface Generation {
  readonly folder: string;
  readonly generation: number;
  readonly recover: boolean;
}

async function readGeneration({ folder, generation, recover }: Generation): Promise<FoundJournal> {
  const path = journalPath(folder, generation);
  const content = await readFile(path);
  const reading = readJournal(content);
  const recovered = { folder, generation, records: reading.records, bytes: reading.bytes };
  if (reading.kind === "good") {
    if (reading.isTorn) await truncate(path, reading.bytes);
    return { ...recovered, losses: [] };
  }
  if (!recover) throw new JournalError(damageMessage(path, reading));
  const aside = await copyDamagedAside(path);
  const losses = [
    `${path}: kept the ${reading.records.length} writes before line ${reading.line}; the rest is in ${aside}`,
  ];
  if (reading.bytes > 0) {
    await truncate(path, reading.bytes);
    return { ...recovered, losses };
  }
  await rm(path);
  return { ...(await createJournal(folder)), losses };
}

type Damage = JournalReading & { readonly kind: "damaged" };

function damageMessage(path: string, { line, bytes, because, records }: Damage): string {
  return (
    `${path} is damaged at line ${line} (byte ${bytes}): ${because}. ` +
    `Start with --recover to continue with the ${records.length} writes before it (a copy of the damaged file is kept), ` +
    "or with another --data-dir to start over"
  );
}

/** Copies the file to an unused name. */
async function copyDamagedAside(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const aside = `${path}.damaged-${number}`;
    try {
      await copyFile(path, aside, constants.COPYFILE_EXCL);
      return aside;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}
