import { decodeManifest, isGzip } from "../api/manifest/decode.ts";
import type { ManifestDocument } from "../api/manifest/document.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { manifestLimits } from "../api/manifest/parse.ts";
import { type ManifestSet, readManifests, unreadableFinding } from "../api/manifest/read.ts";
import { failureText, type Io } from "./io.ts";
import { overrideObjects } from "./override-objects.ts";
import { readSnapshot, unpackGzip } from "./snapshot/snapshot-file.ts";
import type { SnapshotHeader } from "./snapshot/snapshot-header.ts";

export interface InputOptions {
  /** Files, directories, or `-` for standard input. */
  readonly paths: readonly string[];
  /** Also read the directories inside directories. */
  readonly recursive: boolean;
  /** Parses a text into documents; `readManifests` by default. */
  readonly read?: (text: string, source: string) => ManifestSet;
  /** The objects of a live cluster; manifests replace those of the same kind and name. */
  readonly cluster?: readonly ManifestDocument[];
}

/** Everything that was read from the given paths. */
export interface Input extends ManifestSet {
  /** Files in the order they were read. */
  readonly sources: readonly string[];
  /** The header of the snapshot among the files; of the last one if there are several. */
  readonly header?: SnapshotHeader;
}

const manifestName = /\.(ya?ml|json)$/i;
const standardInput = "-";

/**
 * Reads manifests and snapshots from files, directories and standard input, compressed or not. What cannot be read is a
 * finding, never an exception. Manifests replace objects of snapshots with the same kind and name.
 */
export async function readInput(options: InputOptions, io: Io): Promise<Input> {
  const { paths, recursive, read = readManifests } = options;
  const cluster = [...(options.cluster ?? [])];
  const manifests: ManifestDocument[] = [];
  let header: SnapshotHeader | undefined;
  const findings: Finding[] = [];
  const sources: string[] = [];
  for (const path of paths) {
    for (const found of await locateFiles(path, { recursive, io })) {
      sources.push(found.source);
      const set: FileDocuments =
        found.refused === undefined
          ? await readLocatedFile(found.source, { read, io })
          : refusedFile(found.source, found.refused);
      for (const document of set.documents) (set.header === undefined ? manifests : cluster).push(document);
      findings.push(...set.findings);
      header = set.header ?? header;
    }
  }
  const documents = overrideObjects(cluster, manifests);
  return { documents, findings, sources, ...(header !== undefined && { header }) };
}

interface LocatedFile {
  readonly source: string;
  /** Why it is not read. */
  readonly refused?: string;
}

async function locateFiles(
  path: string,
  { recursive, io }: { recursive: boolean; io: Io },
): Promise<readonly LocatedFile[]> {
  if (path === standardInput) return [{ source: path }];
  try {
    const found = await io.stat(path);
    if (found === undefined) return [{ source: path, refused: "no such file or directory" }];
    if (found.kind === "directory") return await locateInDirectory(path, { recursive, io });
    return [found.bytes > manifestLimits.bytes ? { source: path, refused: tooLarge(found.bytes) } : { source: path }];
  } catch (error) {
    return [{ source: path, refused: readFailureText(error) }];
  }
}

async function locateInDirectory(
  path: string,
  { recursive, io }: { recursive: boolean; io: Io },
): Promise<readonly LocatedFile[]> {
  const files = await manifestsIn(path, { recursive, io });
  if (files.length > 0) return files;
  const hint = recursive ? "" : "; to read the directories inside it, add --recursive";
  return [{ source: path, refused: `no manifests in this directory: no file ends in .yaml, .yml or .json${hint}` }];
}

async function manifestsIn(
  path: string,
  { recursive, io }: { recursive: boolean; io: Io },
): Promise<readonly LocatedFile[]> {
  const names = [...(await io.readDir(path))].sort();
  const found: LocatedFile[] = [];
  for (const name of names) {
    const child = `${path.replace(/\/+$/, "")}/${name}`;
    const isDirectory = (await io.stat(child))?.kind === "directory";
    if (isDirectory && recursive && !name.startsWith(".")) found.push(...(await manifestsIn(child, { recursive, io })));
    else if (!isDirectory && manifestName.test(name)) found.push(...(await locateFiles(child, { recursive, io })));
  }
  return found;
}

/** The documents of one file, with the header if it is a snapshot. */
type FileDocuments = ManifestSet & { readonly header?: SnapshotHeader };

async function readLocatedFile(
  source: string,
  { read, io }: { read: NonNullable<InputOptions["read"]>; io: Io },
): Promise<FileDocuments> {
  try {
    const packed = await (source === standardInput
      ? io.stdin(manifestLimits.bytes)
      : io.readFile(source, manifestLimits.bytes));
    if (packed.length > manifestLimits.bytes) return refusedFile(source, tooLarge(undefined));
    const unpacked = isGzip(packed) ? unpackGzip(packed) : { bytes: packed };
    if ("refused" in unpacked) return refusedFile(source, unpacked.refused);
    const decoded = decodeManifest(unpacked.bytes);
    if (decoded.kind === "refused") return refusedFile(source, decoded.because);
    const snapshot = readSnapshot(decoded.text, source);
    if (snapshot === undefined) {
      const isLong = unpacked.bytes.length > manifestLimits.bytes;
      return isLong ? refusedFile(source, tooLarge(unpacked.bytes.length)) : read(decoded.text, source);
    }
    return "refused" in snapshot ? refusedFile(source, snapshot.refused) : { ...snapshot, findings: [] };
  } catch (error) {
    return refusedFile(source, readFailureText(error));
  }
}

function refusedFile(source: string, message: string): ManifestSet {
  return { documents: [], findings: [unreadableFinding({ source, message })] };
}

function tooLarge(bytes: number | undefined): string {
  const size = bytes === undefined ? "" : ` of ${Math.ceil(bytes / 1024 / 1024)} MiB`;
  return `a manifest${size} exceeds the limit of ${manifestLimits.bytes / 1024 / 1024} MiB; split the file`;
}

function readFailureText(error: unknown): string {
  return `cannot read: ${failureText(error)}`;
}
