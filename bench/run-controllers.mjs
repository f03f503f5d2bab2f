// Bundles a bench of the controllers and runs it: embedded, with pods that arrive at once or one by one (--trickle); or
// on a real control plane (--real), or the `run` process with an API server elsewhere, under pods that arrive at once
// (--pending) or with a large cluster (--large).
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const benches = {
  "--real": ["controllers-real.ts"],
  "--trickle": ["trickle.ts"],
  "--pending": ["processes/pending.ts", "processes/api-server.ts", "processes/measured-run.ts"],
  "--large": ["processes/large.ts", "processes/api-server.ts", "processes/measured-run.ts"],
};
const which = Object.keys(benches).find((flag) => process.argv.includes(flag));
const [entry, ...others] = benches[which] ?? ["controllers.ts"];
const cache = new URL("../node_modules/.cache/bench/", import.meta.url);
// Two folders up from the command line is its package.
mkdirSync(cache, { recursive: true });
writeFileSync(new URL("package.json", cache), JSON.stringify({ type: "module", version: "0.0.0" }));
const outdir = fileURLToPath(new URL("controllers/bin", cache));
await build({
  entryPoints: [entry, ...others].map((path) => fileURLToPath(new URL(path, import.meta.url))),
  outdir,
  outbase: fileURLToPath(new URL(entry.includes("/") ? "processes" : ".", import.meta.url)),
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
  sourcemap: true,
  external: ["esbuild", "vitest", "highs"],
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
const args = process.argv.slice(2).filter((arg) => arg !== which);
const main = `${outdir}/${entry.replace(/^.*\//, "").replace(".ts", ".mjs")}`;
const child = spawn(process.execPath, [main, ...args], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
