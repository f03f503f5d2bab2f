import { decodeManifest } from "../api/manifest/decode.ts";
import type { ManifestDocument } from "../api/manifest/document.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { limits } from "../api/manifest/parse.ts";
import { type ManifestSet, readManifests, unreadable } from "../api/manifest/read.ts";
import { codeOf, type Io } from "./io.ts";
import { overlaid } from "./override.ts";
import { isGzip, readSnapshot, unpack } from "./snapshot/file.ts";
import type { SnapshotHeader } from "./snapshot/header.ts";

export interface InputOptions {
  /** Files, directories, or `-` for standard input. */
  readonly paths: readonly string[];
  /** Look into the directories of directories too. */
  readonly recursive: boolean;
  /** Makes documents of a text; the reader of manifests unless said. */
  readonly read?: (text: string, source: string) => ManifestSet;
  /** A live cluster's objects, which manifests are laid over. */
  readonly cluster?: readonly ManifestDocument[];
}

/** Everything the user pointed at, read. */
export interface Input extends ManifestSet {
  /** Files in the order they were read. */
  readonly sources: readonly string[];
  /** Of the snapshot that is among the files, the last one's if there are several. */
  readonly header?: SnapshotHeader;
}

const manifestName = /\.(ya?ml|json)$/i;
const standardInput = "-";

/**
 * Reads manifests and snapshots from files, directories and standard input, compressed or not. What cannot be read is a
 * finding, never an exception. Manifests are laid over snapshots.
 */
export async function readInput(options: InputOptions, io: Io): Promise<Input> {
  const { paths, recursive, read = readManifests } = options;
  const cluster = [...(options.cluster ?? [])];
  const manifests: ManifestDocument[] = [];
  let header: SnapshotHeader | undefined;
  const findings: Finding[] = [];
  const sources: string[] = [];
  for (const path of paths) {
    for (const found of await locate(path, { recursive, io })) {
      sources.push(found.source);
      const set: FileSet =
        found.refused === undefined ? await readOne(found.source, { read, io }) : refused(found.source, found.refused);
      for (const document of set.documents) (set.header === undefined ? manifests : cluster).push(document);
      findings.push(...set.findings);
      header = set.header ?? header;
    }
  }
  const documents = overlaid(cluster, manifests);
  return { documents, findings, sources, ...(header !== undefined && { header }) };
}

interface Located {
  readonly source: string;
  /** Why it is not going to be read. */
  readonly refused?: string;
}

async function locate(path: string, { recursive, io }: { recursive: boolean; io: Io }): Promise<readonly Located[]> {
  if (path === standardInput) return [{ source: path }];
  try {
    const found = await io.stat(path);
    if (found === undefined) return [{ source: path, refused: "there is no such file or directory" }];
    if (found.kind === "directory") return await inDirectory(path, { recursive, io });
    return [found.bytes > limits.bytes ? { source: path, refused: tooLarge(found.bytes) } : { source: path }];
  } catch (error) {
    return [{ source: path, refused: because(error) }];
  }
}

async function inDirectory(
  path: string,
  { recursive, io }: { recursive: boolean; io: Io },
): Promise<readonly Located[]> {
  const files = await manifestsIn(path, { recursive, io });
  if (files.length > 0) return files;
  const hint = recursive ? "" : " (directories below it are read with --recursive)";
  return [
    { source: path, refused: `there are no manifests in this directory: no file ends in .yaml, .yml or .json${hint}` },
  ];
}

async function manifestsIn(
  path: string,
  { recursive, io }: { recursive: boolean; io: Io },
): Promise<readonly Located[]> {
  const names = [...(await io.readDir(path))].sort();
  const found: Located[] = [];
  for (const name of names) {
    const child = `${path.replace(/\/+$/, "")}/${name}`;
    const isDirectory = (await io.stat(child))?.kind === "directory";
    if (isDirectory && recursive && !name.startsWith(".")) found.push(...(await manifestsIn(child, { recursive, io })));
    else if (!isDirectory && manifestName.test(name)) found.push(...(await locate(child, { recursive, io })));
  }
  return found;
}

/** The documents of one file; those of a snapshot with its header. */
type FileSet = ManifestSet & { readonly header?: SnapshotHeader };

async function readOne(
  source: string,
  { read, io }: { read: NonNullable<InputOptions["read"]>; io: Io },
): Promise<FileSet> {
  try {
    const packed = await (source === standardInput ? io.stdin(limits.bytes) : io.readFile(source, limits.bytes));
    if (packed.length > limits.bytes) return refused(source, tooLarge(undefined));
    const unpacked = isGzip(packed) ? unpack(packed) : { bytes: packed };
    if ("refused" in unpacked) return refused(source, unpacked.refused);
    const decoded = decodeManifest(unpacked.bytes);
    if (decoded.kind === "refused") return refused(source, decoded.because);
    const snapshot = readSnapshot(decoded.text, source);
    if (snapshot === undefined) {
      const isLong = unpacked.bytes.length > limits.bytes;
      return isLong ? refused(source, tooLarge(unpacked.bytes.length)) : read(decoded.text, source);
    }
    return "refused" in snapshot ? refused(source, snapshot.refused) : { ...snapshot, findings: [] };
  } catch (error) {
    return refused(source, because(error));
  }
}

function refused(source: string, message: string): ManifestSet {
  return { documents: [], findings: [unreadable({ source, message })] };
}

function tooLarge(bytes: number | undefined): string {
  const size = bytes === undefined ? "" : ` of ${Math.ceil(bytes / 1024 / 1024)} MiB`;
  return `a manifest${size} is more than the ${limits.bytes / 1024 / 1024} MiB we read; split the file`;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "you may not read it (permission denied)",
  EPERM: "you may not read it (permission denied)",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open",
};

function because(error: unknown): string {
  const code = codeOf(error);
  const known = code !== undefined && Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return `cannot read this: ${known ?? code ?? String(error)}`;
}
