import { createReadStream } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "commander";

/** What a path leads to. */
export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  /** Zero for pipes and devices, whose size nobody knows before reading them. */
  readonly bytes: number;
}

/** Everything a command touches outside itself, so that tests can be the outside. */
export interface Io {
  /** Undefined: nothing is there. Other failures are thrown with a `code`, as Node does. */
  readonly stat: (path: string) => Promise<FileStat | undefined>;
  /** At most one byte more than `maxBytes`: enough to know that it was too much. */
  readonly readFile: (path: string, maxBytes: number) => Promise<Uint8Array>;
  /** Names of what is in a directory. */
  readonly readDir: (path: string) => Promise<readonly string[]>;
  readonly stdin: (maxBytes: number) => Promise<Uint8Array>;
  /** Makes the folders on the way. */
  readonly writeFile: (path: string, content: string | Uint8Array) => Promise<void>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Whether a person is reading: colours and progress are for people. */
  readonly isTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sets the code the process will end with. */
  readonly exit: (code: ExitCode) => void;
}

export const exitCodes = { ok: 0, badInput: 1, usage: 2, unplaced: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The real world. */
export function systemIo(): Io {
  // A reader that went away, as in `karpenter convert | head`, is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  return {
    stat: systemStat,
    readFile: (path, maxBytes) => readUpTo(createReadStream(path, { end: maxBytes }), maxBytes),
    readDir: (path) => readdir(path),
    stdin: (maxBytes) => readUpTo(process.stdin, maxBytes),
    writeFile: async (path, content) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    },
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTty: process.stdout.isTTY === true,
    env: process.env,
    exit: (code) => {
      process.exitCode = code;
    },
  };
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

/** Lets a command speak through `io`; a command line it does not understand ends with the usage code. */
export function withIo(command: Command, io: Io): Command {
  return command.configureOutput({ writeOut: io.stdout, writeErr: io.stderr }).exitOverride((error) => {
    io.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
    throw error;
  });
}
