// Bundles a program that asks the oracle, by its name in this folder, and runs it: Node 20 does not read TypeScript.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const [program = "expect", ...args] = process.argv.slice(2);
const outfile = fileURLToPath(new URL(`../../node_modules/.cache/oracle/${program}.mjs`, import.meta.url));
await build({
  entryPoints: [fileURLToPath(new URL(`${program}.ts`, import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
  external: ["highs", "vitest", "@kubernetes/client-node"],
  // CommonJS packages inside still ask for `require`.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
const child = spawn(process.execPath, [outfile, ...args], { stdio: "inherit" });
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
