import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { expect, it } from "vitest";
// @ts-expect-error -- a script of the build, without types
import { thirdPartyNotices } from "../scripts/third-party-notices.mjs";

interface LockEntry {
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly hasInstallScript?: boolean;
}

const json = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), "utf8"));
const entries = Object.entries(json("package-lock.json").packages as Readonly<Record<string, LockEntry>>).filter(
  ([path]) => path !== "",
);

it("every package has an integrity in the lock file, but for optional ones of platforms the registry did not have", () => {
  const without = entries.filter(([, { integrity }]) => integrity === undefined);
  const unexpected = without.filter(([, { optional, os, cpu }]) => optional !== true || (os ?? cpu) === undefined);
  expect(unexpected.map(([path]) => path)).toEqual([]);
  const hashes = entries.flatMap(([, { integrity }]) => integrity ?? []);
  expect(hashes.filter((hash) => !hash.startsWith("sha512-"))).toEqual([]);
});

it("every package with an install script is decided on, so that npm has nothing to warn of", () => {
  const scripted = entries
    .filter(([, one]) => one.hasInstallScript === true)
    .map(([path]) => path.split("node_modules/").at(-1));
  expect(scripted.filter((name) => !Object.hasOwn(json("package.json").allowScripts, name ?? ""))).toEqual([]);
});

it("the notices have the licence text of every bundled package, and are published", async () => {
  const options = {
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    outdir: "out",
  } as const;
  const { metafile } = await build({
    ...options,
    entryPoints: ["src/cli/main.ts"],
    external: ["highs"],
    logLevel: "error",
  });
  const text: string = thirdPartyNotices(metafile);
  for (const name of ["commander", "zod", "yaml", "re2js", "@marcbachmann/cel-js"]) {
    const { version, license } = json(`node_modules/${name}/package.json`);
    expect(text).toContain(`${name} ${version} (${license})`);
    expect(text).toContain(readFileSync(new URL(`../node_modules/${name}/LICENSE`, import.meta.url), "utf8").trim());
  }
  expect(json("package.json").files).toContain("THIRD-PARTY-NOTICES");
});
