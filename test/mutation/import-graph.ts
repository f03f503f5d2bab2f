import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Which files a file loads, directly or through others. Files are paths from the root. */
export class ImportGraph {
  readonly #root: string;
  readonly #imports = new Map<string, readonly string[]>();

  constructor(root: string) {
    this.#root = root;
  }

  loadedBy(file: string): ReadonlySet<string> {
    const loaded = new Set([file]);
    for (const each of loaded) for (const imported of this.#importsOf(each)) loaded.add(imported);
    return loaded;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const source = readFileSync(join(this.#root, file), "utf8");
    const written = [...source.matchAll(/(?:from|import\() ?"(\.[^"]+\.ts)"|^import "(\.[^"]+\.ts)"/gm)];
    const paths = written.map((match) => join(dirname(file), match[1] ?? match[2] ?? ""));
    const imports = paths.filter((path) => existsSync(join(this.#root, path))); // a text may look like an import
    this.#imports.set(file, imports);
    return imports;
  }
}
