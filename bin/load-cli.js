const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");

const path = join(__dirname, "../dist/bin/main.script.js");
/** The script as V8 has compiled it, made by scripts/cache-cli-code.mjs. */
const codeCache = `${path}.cache`;

/**
 * Loads the command line. Compiling it is half of a short command, so V8 gets what it compiled when the script was built;
 * it refuses that and compiles again if it is of another version of Node.
 */
function loadCli() {
  // The text is ASCII, of which V8 needs no copy of its own.
  const script = new Script(readFileSync(path, "latin1"), { filename: path, cachedData: readIfThere(codeCache) });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, pathToFileURL(path).href);
  return { main: module.exports.main, script };
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

module.exports = { codeCache, loadCli };
