// Bundles the command line into dist/bin: one file and a few lazy chunks load in half the time of 250 modules.
import { writeFileSync } from "node:fs";
import { build } from "esbuild";
import { thirdPartyNotices } from "./third-party-notices.mjs";

const { metafile } = await build({
  entryPoints: ["src/cli/main.ts"],
  outdir: "dist/bin",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  logLevel: "warning",
  metafile: true,
  // highs finds its WebAssembly beside itself, so it must stay where it is. Clients of AWS are CommonJS imported when they
  // are wanted: in a bundle they would lose the names of their exports.
  external: ["highs", "@aws-sdk/*"],
  // CommonJS packages inside still ask for `require`.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
writeFileSync("THIRD-PARTY-NOTICES", thirdPartyNotices(metafile));
