import { decodeManifest, isGzip } from "../api/manifest/decode.ts";
import type { ManifestDocument } from "../api/manifest/document.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { manifestLimits } from "../api/manifest/parse.ts";
import { type ManifestSet, readManifests, unreadableFinding } from "../api/manifest/read.ts";
import { failureText, type Io } from "./io.ts";
import { renderKustomization } from "./kustomize.ts";
import { overrideObjects } from "./override-objects.ts";
import {
  chartFileName,
  chartText,
  helmTemplateLine,
  helmTemplateText,
  isKustomization,
  isUrl,
  kustomizationText,
  urlText,
} from "./render-advice.ts";
import { readSnapshot, unpackGzip } from "./snapshot/snapshot-file.ts";
import type { SnapshotHeader } from "./snapshot/snapshot-header.ts";

export interface InputOptions {
  /** Files, directories, or `-` for standard input. */
  readonly paths: readonly string[];
  /** Kustomize folders, to be rendered; undefined if the command takes none. */
  readonly kustomize?: readonly string[] | undefined;
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
  const hasKustomize = options.kustomize !== undefined;
  const cluster = [...(options.cluster ?? [])];
  const manifests: ManifestDocument[] = [];
  let header: SnapshotHeader | undefined;
  const findings: Finding[] = [];
  const sources: string[] = [];
  for (const path of paths) {
    for (const found of await locateFiles(path, { recursive, io, hasKustomize })) {
      sources.push(found.source);
      const set = await readFound(found, { read, io });
      for (const document of set.documents) (set.header === undefined ? manifests : cluster).push(document);
      findings.push(...set.findings);
      header = set.header ?? header;
    }
  }
  for (const folder of options.kustomize ?? []) {
    const rendered = await renderKustomization(folder, io);
    const set = "refused" in rendered ? refusedFile(folder, rendered.refused) : read(rendered.text, folder);
    sources.push(folder);
    manifests.push(...set.documents);
    findings.push(...set.findings);
  }
  const documents = overrideObjects(cluster, manifests);
  return { documents, findings, sources, ...(header !== undefined && { header }) };
}

interface LocatedFile {
  readonly source: string;
  /** Why it is not read. */
  readonly refused?: string;
  /** Why it is left out, though the other files of its folder are read. */
  readonly notApplied?: string;
}

interface LocateOptions {
  readonly recursive: boolean;
  readonly io: Io;
  /** Whether the command takes kustomize folders. */
  readonly hasKustomize: boolean;
}

async function readFound(
  { source, refused, notApplied }: LocatedFile,
  { read, io }: { read: NonNullable<InputOptions["read"]>; io: Io },
): Promise<FileDocuments> {
  if (refused !== undefined) return refusedFile(source, refused);
  if (notApplied === undefined) return readLocatedFile(source, { read, io });
  const finding = { ...unreadableFinding({ source, message: notApplied }), severity: "warning", code: "not-applied" };
  return { documents: [], findings: [finding as Finding] };
}

async function locateFiles(
  path: string,
  { recursive, io, hasKustomize }: LocateOptions,
): Promise<readonly LocatedFile[]> {
  if (path === standardInput) return [{ source: path }];
  if (isUrl(path)) return [{ source: path, refused: urlText(path) }];
  try {
    const found = await io.stat(path);
    if (found === undefined) return [{ source: path, refused: "no such file or directory" }];
    if (found.kind === "directory") return await locateInDirectory(path, { recursive, io, hasKustomize });
    if (isKustomization(fileNameOf(path)))
      return [{ source: path, refused: kustomizationText(folderOf(path), { hasOption: hasKustomize }) }];
    return [found.bytes > manifestLimits.bytes ? { source: path, refused: tooLarge(found.bytes) } : { source: path }];
  } catch (error) {
    return [{ source: path, refused: readFailureText(error) }];
  }
}

async function locateInDirectory(
  path: string,
  { recursive, io, hasKustomize }: LocateOptions,
): Promise<readonly LocatedFile[]> {
  const files = await manifestsIn(path, { recursive, io, hasKustomize });
  const [first] = files;
  if (files.some(({ notApplied }) => notApplied === undefined)) return files;
  if (first?.notApplied !== undefined) return [{ source: first.source, refused: first.notApplied }];
  const hint = recursive ? "" : "; to read the directories inside it, add --recursive";
  return [{ source: path, refused: `no manifests in this directory: no file ends in .yaml, .yml or .json${hint}` }];
}

async function manifestsIn(
  path: string,
  { recursive, io, hasKustomize }: LocateOptions,
): Promise<readonly LocatedFile[]> {
  const names = [...(await io.readDir(path))].sort();
  if (names.includes(chartFileName)) return [{ source: path, refused: chartText(path) }];
  const found: LocatedFile[] = [];
  for (const name of names) {
    const child = `${path.replace(/\/+$/, "")}/${name}`;
    const isDirectory = (await io.stat(child))?.kind === "directory";
    if (isDirectory && recursive && !name.startsWith("."))
      found.push(...(await manifestsIn(child, { recursive, io, hasKustomize })));
    else if (!isDirectory && isKustomization(name))
      found.push({ source: child, notApplied: kustomizationText(path, { hasOption: hasKustomize }) });
    else if (!isDirectory && manifestName.test(name))
      found.push(...(await locateFiles(child, { recursive, io, hasKustomize })));
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
      return isLong
        ? refusedFile(source, tooLarge(unpacked.bytes.length))
        : readManifestText(decoded.text, source, read);
    }
    return "refused" in snapshot ? refusedFile(source, snapshot.refused) : { ...snapshot, findings: [] };
  } catch (error) {
    return refusedFile(source, readFailureText(error));
  }
}

/** The documents of a text; a template of Helm is refused as such, not for each of its braces. */
function readManifestText(text: string, source: string, read: NonNullable<InputOptions["read"]>): ManifestSet {
  const set = read(text, source);
  const line = helmTemplateLine(text, set);
  if (line === undefined) return set;
  const position = { line, column: 1 };
  return { documents: [], findings: [unreadableFinding({ source, position, message: helmTemplateText(source) })] };
}

function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) || "/" : ".";
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
