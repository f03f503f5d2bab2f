// The licence texts of the packages that a bundle contains, read off esbuild's metafile.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const licenceName = /^(licen[cs]e|copying|notice)/i;

/** The folder of the package a bundled file belongs to; undefined for our own files. */
function packageFolder(file) {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
  return found?.[1];
}

function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function licenceFiles(folder) {
  const files = readdirSync(folder).filter((file) => licenceName.test(file));
  return files.sort().map((file) => join(folder, file));
}

/** Some packages of a repository leave its licence out: it is in those that are published beside them. */
function licenceFilesBeside(folder, { license, repository }) {
  const scope = dirname(folder);
  const others = repository?.url && basename(scope).startsWith("@") ? readdirSync(scope) : [];
  for (const other of others.sort()) {
    const own = manifest(join(scope, other));
    const files =
      own.license === license && own.repository?.url === repository.url ? licenceFiles(join(scope, other)) : [];
    if (files.length > 0) return files;
  }
  return [];
}

/** Throws for a package without a licence text: such a bundle must not be published. */
function notice(folder) {
  const own = manifest(folder);
  const { name, version, license } = own;
  const texts = [licenceFiles(folder), licenceFilesBeside(folder, own)].find((files) => files.length > 0);
  if (texts === undefined) throw new Error(`${name} ${version} is bundled, but ${folder} has no licence text`);
  const body = texts.map((file) => readFileSync(file, "utf8").trim()).join("\n\n");
  return { name, text: `${name} ${version} (${license})\n\n${body}\n` };
}

export function thirdPartyNotices({ inputs }) {
  const folders = new Set(Object.keys(inputs).flatMap((file) => packageFolder(file) ?? []));
  const notices = [...folders].map(notice).sort((a, b) => (a.name < b.name ? -1 : 1));
  const head = "The command line contains these packages, each under its own licence.\n";
  return [head, ...notices.map(({ text }) => text)].join(`\n${"-".repeat(80)}\n\n`);
}
