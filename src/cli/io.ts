import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "commander";

/** What a path leads to. */
export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  /** Zero for pipes and devices, whose size is unknown until they are read. */
  readonly bytes: number;
}

/** What a program printed, and how it ended. */
export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The files, streams and environment a command uses, as an argument so that tests can replace them. */
export interface Io {
  /** Undefined if nothing exists there. Other failures are thrown with a `code`, as Node does. */
  readonly stat: (path: string) => Promise<FileStat | undefined>;
  /** At most one byte more than `maxBytes`, which is enough to see that the file is too large. */
  readonly readFile: (path: string, maxBytes: number) => Promise<Uint8Array>;
  /** The names of a directory's entries. */
  readonly readDir: (path: string) => Promise<readonly string[]>;
  readonly stdin: (maxBytes: number) => Promise<Uint8Array>;
  /** Runs another program to its end; undefined if there is no such program. */
  readonly run: (program: string, args: readonly string[]) => Promise<ProgramResult | undefined>;
  /** Creates missing parent folders. */
  readonly writeFile: (path: string, content: string | Uint8Array) => Promise<void>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Waits until everything is written to standard output; says what kept it from being written, if anything did. */
  readonly outputProblem: () => Promise<string | undefined>;
  /** Whether standard output is a terminal; colours and progress are printed only then. */
  readonly isTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sets the exit code of the process. */
  readonly exit: (code: ExitCode) => void;
}

export const exitCodes = { ok: 0, badInput: 1, usage: 2, unschedulable: 3, different: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The process's own files and streams. */
export function systemIo(): Io {
  let outputError: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error) => {
    outputError ??= error;
  });
  process.stderr.on("error", () => {}); // there is nowhere left to report it
  return {
    stat: systemStat,
    readFile: (path, maxBytes) => readUpTo(createReadStream(path, { end: maxBytes }), maxBytes),
    readDir: (path) => readdir(path),
    stdin: (maxBytes) => readUpTo(process.stdin, maxBytes),
    run: runProgram,
    writeFile: async (path, content) => {
      await makeFolder(dirname(path));
      await writeFile(path, content);
    },
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    outputProblem: async () => {
      await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
      // A closed pipe, as in `karpenter convert | head`, is not an error.
      if (outputError === undefined || outputError.code === "EPIPE") return undefined;
      return `cannot write to standard output: ${failureText(outputError)}; the output is incomplete: free space, or write it elsewhere`;
    },
    isTty: process.stdout.isTTY === true,
    env: process.env,
    exit: (code) => {
      process.exitCode = code;
    },
  };
}

/**
 * Creates a folder and those above it, if they are missing. Not with Node's `recursive`, which never ends where a folder
 * cannot be created, as below /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === "EEXIST") return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await systemStat(parent)) !== undefined) {
      if ((await systemStat(path))?.kind === "directory") return; // made meanwhile, or on a read-only file system
      throw error;
    }
    await makeFolder(parent);
    await makeFolder(path);
  }
}

const failures: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a directory",
  ELOOP: "too many levels of symbolic links",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open",
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of its path is not a directory",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EIO: "the device failed",
};

/** Why a file could not be read or written. */
export function failureText(error: unknown): string {
  const code = errorCodeOf(error);
  const known = code !== undefined && Object.hasOwn(failures, code) ? failures[code] : undefined;
  return known ?? code ?? String(error);
}

async function systemStat(path: string): Promise<FileStat | undefined> {
  try {
    const found = await stat(path);
    return { kind: found.isFile() ? "file" : found.isDirectory() ? "directory" : "other", bytes: found.size };
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT" || errorCodeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Rendered manifests may be long, but not longer than what we read. */
const maxProgramOutput = 256 * 1024 * 1024;

function runProgram(program: string, args: readonly string[]): Promise<ProgramResult | undefined> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { maxBuffer: maxProgramOutput }, (error, stdout, stderr) => {
      if (error === null) resolve({ exitCode: 0, stdout, stderr });
      else if (error.code === "ENOENT") resolve(undefined);
      else if (typeof error.code === "number") resolve({ exitCode: error.code, stdout, stderr });
      else reject(error);
    });
  });
}

async function readUpTo(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1);
}

/** Node's errors carry a code such as `EACCES`. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Colours are for terminals, and not wanted where NO_COLOR is set. */
export function usesColor({ isTty, env }: Pick<Io, "isTty" | "env">): boolean {
  return isTty && (env["NO_COLOR"] ?? "") === "";
}

/** Makes a command print through `io`; an invalid command line exits with the usage code. */
export function withIo(command: Command, io: Io): Command {
  return command.configureOutput({ writeOut: io.stdout, writeErr: io.stderr }).exitOverride((error) => {
    io.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
    throw error;
  });
}
