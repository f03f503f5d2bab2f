import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";

export const repository = join(import.meta.dirname, "..", "..");

/** A file of src that is not a test. */
export interface SourceFile {
  /** Relative to src, with forward slashes. */
  readonly file: string;
  /** The folder of src it is in. */
  readonly layer: string;
  readonly text: string;
  /** Module specifiers as written, dynamic and type-only imports included. */
  readonly specifiers: readonly string[];
  /** The files of src it imports. */
  readonly imports: readonly string[];
}

export function readSources(): readonly SourceFile[] {
  const root = join(repository, "src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .sort();
  return files.map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
    const imports = specifiers.filter(isRelative).map((specifier) => posix.join(dirname(file), specifier));
    return { file, layer: file.split("/")[0] ?? "", text, specifiers, imports };
  });
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith(".");
}

export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}
