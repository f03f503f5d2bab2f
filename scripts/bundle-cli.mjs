// Bundles the command line into dist/bin: one file and a few lazy chunks load in half the time of 250 modules.
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
  outdir: "dist/bin",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  // Less to read and compile; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [englishOnly, printedCrds],
  logLevel: "warning",
  metafile: true,
  // highs finds its WebAssembly beside itself, so it must stay where it is. Clients of AWS are CommonJS imported when they
  // are wanted: in a bundle they would lose the names of their exports.
  external: ["highs", "@aws-sdk/*"],
  // CommonJS packages inside still ask for `require`.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
writeFileSync("THIRD-PARTY-NOTICES", thirdPartyNotices(metafile));
