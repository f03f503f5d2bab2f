// Bundles the program that makes expected answers anew and runs it: Node 20 does not read TypeScript.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outfile = fileURLToPath(new URL("../../node_modules/.cache/oracle/expect.mjs", import.meta.url));
await build({
  entryPoints: [fileURLToPath(new URL("expect.ts", import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
});
const child = spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
