import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Binaries =
  | { readonly kind: "found"; readonly dir: string }
  | { readonly kind: "missing"; readonly because: string };

/** In a folder above this file, or above the bundle it is part of. */
function script(from = new URL(".", import.meta.url)): string {
  const path = fileURLToPath(new URL("scripts/setup-cluster.sh", from));
  const above = new URL("..", from);
  return existsSync(path) || above.href === from.href ? path : script(above);
}

/** The folder of the control plane's programs, built first when they are not in the cache; progress goes to stderr. */
export async function clusterBinaries(): Promise<Binaries> {
  const build = spawn(script(), { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let complaints = "";
  build.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  build.stderr.on("data", (chunk) => {
    complaints += chunk;
    process.stderr.write(chunk);
  });
  const [code] = await once(build, "close");
  const dir = printed.trimEnd().split("\n").at(-1);
  if (code === 0 && dir) return { kind: "found", dir };
  return { kind: "missing", because: complaints.trimEnd().split("\n").slice(-5).join("\n") };
}
