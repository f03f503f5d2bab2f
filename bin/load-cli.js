import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

const bundle = fileURLToPath(new URL("../dist/bin/main.cjs", import.meta.url));
/** The bundle as V8 has compiled it, made by scripts/cache-cli-code.mjs. */
export const codeCache = `${bundle}.cache`;

/**
 * Loads the command line. Compiling it is half of a short command, so V8 gets what it compiled when the bundle was built;
 * it refuses that and compiles again if it is of another version of Node.
 */
export function loadCli() {
  const head = "(function (exports, require, module, __filename, __dirname) {";
  // The bundle is ASCII, and bytes of one size are read fastest.
  const script = new Script(`${head}${readFileSync(bundle, "latin1")}\n})`, {
    filename: bundle,
    columnOffset: -head.length,
    cachedData: readIfThere(codeCache),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
  return { main: module.exports.main, script };
}

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
