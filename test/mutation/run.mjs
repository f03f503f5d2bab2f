// Bundles the mutation run and starts it: Node 20 does not read TypeScript.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outfile = fileURLToPath(new URL("../../node_modules/.cache/mutation/main.mjs", import.meta.url));
await build({
  entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
const child = spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
