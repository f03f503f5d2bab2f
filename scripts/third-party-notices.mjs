// The licence texts of the packages that a bundle contains, read off esbuild's metafile.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const licenceName = /^(licen[cs]e|copying|notice)/i;

/** The folder of the package a bundled file belongs to; undefined for our own files. */
function packageFolder(file) {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
  return found?.[1];
}

/** Throws for a package without a licence text: such a bundle must not be published. */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => licenceName.test(file))
    .sort();
  if (texts.length === 0) throw new Error(`${name} ${version} is bundled, but ${folder} has no licence text`);
  const body = texts.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
  return { name, text: `${name} ${version} (${license})\n\n${body}\n` };
}

export function thirdPartyNotices({ inputs }) {
  const folders = new Set(Object.keys(inputs).flatMap((file) => packageFolder(file) ?? []));
  const notices = [...folders].map(notice).sort((a, b) => (a.name < b.name ? -1 : 1));
  const head = "The command line contains these packages, each under its own licence.\n";
  return [head, ...notices.map(({ text }) => text)].join(`\n${"-".repeat(80)}\n\n`);
}
