import { decodeManifest } from "../api/manifest/decode.ts";
import type { ManifestDocument } from "../api/manifest/document.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { limits } from "../api/manifest/parse.ts";
import { type ManifestSet, readManifests, unreadable } from "../api/manifest/read.ts";
import { codeOf, type Io } from "./io.ts";

export interface InputOptions {
  /** Files, directories, or `-` for standard input. */
  readonly paths: readonly string[];
  /** Look into the directories of directories too. */
  readonly recursive: boolean;
  /** Makes documents of a text; the reader of manifests unless said. */
  readonly read?: (text: string, source: string) => ManifestSet;
}

/** Everything the user pointed at, read. */
export interface Input extends ManifestSet {
  /** Files in the order they were read. */
  readonly sources: readonly string[];
}

const manifestName = /\.(ya?ml|json)$/i;
const standardInput = "-";

/** Reads manifests from files, directories and standard input. What cannot be read is a finding, never an exception. */
export async function readInput({ paths, recursive, read = readManifests }: InputOptions, io: Io): Promise<Input> {
  const documents: ManifestDocument[] = [];
  const findings: Finding[] = [];
  const sources: string[] = [];
  for (const path of paths) {
    for (const found of await locate(path, { recursive, io })) {
      sources.push(found.source);
      const set =
        found.refused === undefined ? await readOne(found.source, { read, io }) : refused(found.source, found.refused);
      documents.push(...set.documents);
      findings.push(...set.findings);
    }
  }
  return { documents, findings, sources };
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

async function readOne(
  source: string,
  { read, io }: { read: NonNullable<InputOptions["read"]>; io: Io },
): Promise<ManifestSet> {
  try {
    const bytes = await (source === standardInput ? io.stdin(limits.bytes) : io.readFile(source, limits.bytes));
    if (bytes.length > limits.bytes) return refused(source, tooLarge(undefined));
    const decoded = decodeManifest(bytes);
    return decoded.kind === "refused" ? refused(source, decoded.because) : read(decoded.text, source);
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
