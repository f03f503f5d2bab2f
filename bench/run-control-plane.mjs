// Bundles the bench of the control plane, and the command line it starts, and runs it.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = new URL("../node_modules/.cache/bench/control-plane/", import.meta.url);
const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const shared = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
};
const outfile = fileURLToPath(new URL("bench.mjs", folder));
await build({ ...shared, entryPoints: [local("control-plane.ts")], outfile, external: ["esbuild", "vitest"] });
const cli = fileURLToPath(new URL("cli", folder)); // in pieces that load when needed, as it is published
await build({
  ...shared,
  entryPoints: [local("../src/cli/main.ts")],
  outdir: cli,
  splitting: true,
  external: ["highs"],
});
// Two folders up from the command line is its package.
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("../package.json", folder), JSON.stringify({ type: "module", version: "0.0.0" }));
const child = spawn(process.execPath, ["--expose-gc", outfile, ...process.argv.slice(2)], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
