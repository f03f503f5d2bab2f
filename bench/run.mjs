// Bundles the bench and runs it: Node 20 does not read TypeScript, and a bundle is what users of the command line run.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const args = process.argv.slice(2);
const isEdge = args.includes("--edge");
const isDisruption = args[0] === "disruption";
const entry = isEdge ? "edge" : isDisruption ? "disruption" : args.includes("--parts") ? "parts" : "main";
const outfile = fileURLToPath(new URL(`../node_modules/.cache/bench/${entry}.mjs`, import.meta.url));
await build({
  entryPoints: [fileURLToPath(new URL(`${entry}.ts`, import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  external: ["highs"],
  sourcemap: "inline",
  logLevel: "warning",
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
const heap = isEdge ? ["--max-old-space-size=512"] : [];
const child = spawn(process.execPath, [...heap, outfile, ...args], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
