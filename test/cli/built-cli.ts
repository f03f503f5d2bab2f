import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..", "..");

/** Bundled once a worker: it takes as long as some tests together. */
let bundled: ReturnType<typeof bundledCli> | undefined;

/** The command line in a folder of its own, in chunks that are loaded when they are wanted, beside what esbuild tells of them; returns the program Node runs. */
export async function builtCli(folder: string): Promise<string> {
  const bin = join(folder, "dist", "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "0.0.0" }));
  const program = join(bin, "run.js");
  writeFileSync(program, 'import { main } from "./main.js";\nprocess.exitCode = await main(process.argv.slice(2));\n');
  bundled ??= bundledCli();
  const { metafile, outputFiles } = await bundled;
  for (const { path, contents } of outputFiles) writeFileSync(join(bin, path.slice(root.length)), contents);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "metafile.json"), JSON.stringify(metafile));
  return program;
}

function bundledCli() {
  return build({
    entryPoints: [join(root, "src", "cli", "main.ts")],
    outdir: root,
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@aws-sdk/*"],
    logLevel: "warning",
    metafile: true,
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
}
