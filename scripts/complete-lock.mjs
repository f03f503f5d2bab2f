// Adds to package-lock.json the optional platform packages that a partial registry mirror left out, so that `npm ci`
// works on every platform. Run through `npm run lock` after changing a dependency.
import { readFileSync, writeFileSync } from "node:fs";

const platform = /-(android|darwin|linux|win32|freebsd|openharmony)-([a-z0-9]+)(?:-([a-z]+))?$/;
const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
const packages = lock.packages;

for (const holder of Object.values({ ...packages })) {
  for (const [name, version] of Object.entries(holder.optionalDependencies ?? {})) {
    packages[`node_modules/${name}`] ??= entry(name, version, holder);
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

/** What the package's own manifest says, read off its name: os-cpu[-abi], or WebAssembly. */
function entry(name, version, { dev }) {
  const [, os, cpu = "wasm32", abi] = platform.exec(name) ?? [];
  const libc = os === "linux" && abi !== undefined ? [abi.startsWith("musl") ? "musl" : "glibc"] : undefined;
  return {
    version,
    cpu: [cpu],
    ...(dev ? { dev: true } : {}),
    ...(libc ? { libc } : {}),
    optional: true,
    ...(os ? { os: [os] } : {}),
  };
}
