import { join } from "node:path";
import { build } from "esbuild";

/** A program of these tests as one file Node can run; returns its path. */
export async function bundle(entry: string, folder: string): Promise<string> {
  const outfile = join(folder, "program.mjs");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    // CommonJS packages inside still ask for `require`.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return outfile;
}
