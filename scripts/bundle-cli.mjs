// Bundles the command line into one script, dist/bin/main.script.js; modules that are imported when they are wanted run only then.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { build } from "esbuild";
import { thirdPartyNotices } from "./third-party-notices.mjs";

/** Messages of zod in forty languages are half of it, and take 20 ms to load; only English is used. */
const englishOnly = {
  name: "zod-english-only",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes("/zod/") ? { path: "locales", namespace: "no-locales" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "no-locales" }, () => ({ contents: "export {};" }));
  },
};

/** The CRDs as they are printed, computed now and not at every start; the types were compiled before. */
const printedCrds = {
  name: "printed-crds",
  setup: ({ onLoad }) => {
    onLoad({ filter: /src\/cli\/crd-documents\.ts$/ }, async () => {
      const { crdDocuments } = await import("../dist/cli/crd-documents.js");
      const { providers } = await import("../dist/api/label-policy.js");
      const byProvider = Object.fromEntries(providers.map((provider) => [provider, crdDocuments(provider)]));
      const text = JSON.stringify(JSON.stringify(byProvider)); // JSON is parsed faster than code
      return { contents: `const all = JSON.parse(${text}); export const crdDocuments = (provider) => all[provider];` };
    });
  },
};

const { metafile } = await build({
  entryPoints: ["src/cli/main.ts"],
  outfile: "dist/bin/main.script.js",
  bundle: true,
  platform: "node",
  format: "cjs", // what V8 compiled can be kept of scripts, not of ES modules (bin/load-cli.js)
  charset: "ascii",
  legalComments: "none", // THIRD-PARTY-NOTICES has them
  target: "node20",
  sourcemap: true,
  // Less to read and compile; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [englishOnly, printedCrds],
  logLevel: "warning",
  metafile: true,
  // highs finds its WebAssembly beside itself, so it must stay where it is. Clients of AWS are large and wanted by few.
  external: ["highs", "@aws-sdk/*"],
  supported: { "dynamic-import": false }, // all of these are CommonJS, and scripts with kept code cannot import
  // The script is a function, which bin/load-cli.js calls. Our modules are strict, as ES modules are.
  define: { "import.meta.url": "importMetaUrl" },
  banner: { js: '(function (exports, require, module, importMetaUrl) { "use strict";' },
  footer: { js: "})" },
});
writeFileSync("THIRD-PARTY-NOTICES", thirdPartyNotices(metafile));
// In a process of its own, whose output nobody wants.
execFileSync(process.execPath, ["scripts/cache-cli-code.mjs"], { stdio: ["ignore", "ignore", "inherit"] });
