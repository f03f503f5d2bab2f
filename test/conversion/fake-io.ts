import type { FileStat, Io, ProgramResult } from "../../src/cli/io.ts";

/** A file system in memory and captured output: what a command sees of the world. */
export interface FakeFile {
  readonly bytes: Uint8Array;
  /** What `stat` says, when that shall differ. */
  readonly size?: number;
  /** Reading it fails with this code. */
  readonly fails?: string;
}

export interface FakeWorld {
  readonly files?: Readonly<Record<string, string | FakeFile>>;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTty?: boolean;
  /** What programs print; others do not exist. */
  readonly programs?: Readonly<Record<string, (args: readonly string[]) => ProgramResult>>;
}

export interface FakeIo extends Io {
  readonly out: () => string;
  readonly err: () => string;
  readonly code: () => number | undefined;
}

export function fakeIo({ files = {}, stdin = "", env = {}, isTty = false, programs = {} }: FakeWorld = {}): FakeIo {
  const outputs = { out: "", err: "" };
  let exitCode: number | undefined;
  const known = new Map(
    Object.entries(files).map(([path, file]) => [path, typeof file === "string" ? fakeFile(file) : file]),
  );
  const children = (path: string) => [...known.keys()].filter((name) => name.startsWith(`${path.replace(/\/$/, "")}/`));
  return {
    stat: async (path): Promise<FileStat | undefined> => {
      const file = known.get(path);
      if (file !== undefined) return { kind: "file", bytes: file.size ?? file.bytes.length };
      return children(path).length > 0 ? { kind: "directory", bytes: 0 } : undefined;
    },
    readFile: async (path, maxBytes) => {
      const file = known.get(path);
      if (file === undefined || file.fails !== undefined)
        throw Object.assign(new Error("no"), { code: file?.fails ?? "ENOENT" });
      return file.bytes.subarray(0, maxBytes + 1);
    },
    readDir: async (path) => {
      const depth = path.replace(/\/$/, "").split("/").length;
      return [...new Set(children(path).map((name) => name.split("/")[depth] ?? ""))];
    },
    stdin: async () => new TextEncoder().encode(stdin),
    run: async (program, args) => programs[program]?.(args),
    writeFile: async (path, content) =>
      void known.set(path, typeof content === "string" ? fakeFile(content) : { bytes: content }),
    stdout: (text) => {
      outputs.out += text;
    },
    stderr: (text) => {
      outputs.err += text;
    },
    outputProblem: async () => undefined,
    isTty,
    env,
    exit: (code) => {
      exitCode = code;
    },
    out: () => outputs.out,
    err: () => outputs.err,
    code: () => exitCode,
  };
}

export function fakeFile(text: string, about: Omit<FakeFile, "bytes"> = {}): FakeFile {
  return { bytes: new TextEncoder().encode(text), ...about };
}
