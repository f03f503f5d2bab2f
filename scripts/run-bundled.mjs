// Bundles a program and runs it: Node 20 does not read TypeScript, and a bundle is what users of the command line run.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** CommonJS packages inside a bundle still ask for `require`. */
const requireBanner = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Bundles the program at `entry` (a URL) into the cache folder `cache`, and returns the bundle's path. More options are
 * esbuild's.
 */
export async function bundle(entry, cache, options = {}) {
  const name = fileURLToPath(entry).replace(/^.*\/|\.ts$/g, "");
  const outfile = fileURLToPath(new URL(`../node_modules/.cache/${cache}/${name}.mjs`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["highs"],
    sourcemap: "inline",
    logLevel: "warning",
    ...(options.packages !== "external" && { banner: { js: requireBanner } }),
    ...options,
  });
  return outfile;
}

/** Runs the program with the arguments of this process, or with others, and ends as it ends. */
export async function runBundled(entry, cache, { args = process.argv.slice(2), nodeArgs = [], ...options } = {}) {
  const outfile = await bundle(entry, cache, options);
  const child = spawn(process.execPath, [...nodeArgs, outfile, ...args], { stdio: "inherit" });
  child.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}
