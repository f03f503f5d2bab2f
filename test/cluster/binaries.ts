import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Binaries =
  | { readonly kind: "found"; readonly dir: string }
  | { readonly kind: "missing"; readonly because: string };

/** The folder of the control plane's programs, built first when they are not in the cache; progress goes to stderr. */
export function clusterBinaries(): Promise<Binaries> {
  return builtPath("setup-cluster.sh");
}

/** The path that a script of `scripts` prints last. */
export async function builtPath(script: string): Promise<Binaries> {
  const { path, complaints } = await built(script);
  return path === undefined ? { kind: "missing", because: complaints } : { kind: "found", dir: path };
}

/** The program whose source is a folder of this repository, built first when it is not in the cache. */
export async function goProgram(folder: string): Promise<string> {
  const { path, complaints } = await built("build-go.sh", folder);
  if (path === undefined) throw new Error(`building ${folder}: ${complaints}`);
  return path;
}

/** What a script that builds something prints last: the path of it. */
async function built(script: string, ...args: readonly string[]): Promise<{ path?: string; complaints: string }> {
  const build = spawn(scriptPath(script), args, { stdio: ["ignore", "pipe", "pipe"] });
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
  const path = printed.trimEnd().split("\n").at(-1);
  const last = complaints.trimEnd().split("\n").slice(-5).join("\n");
  return { ...(code === 0 && path && { path }), complaints: last };
}

/** In a folder above this file, or above the bundle it is part of. */
function scriptPath(name: string, from = new URL(".", import.meta.url)): string {
  const path = fileURLToPath(new URL(`scripts/${name}`, from));
  const above = new URL("..", from);
  return existsSync(path) || above.href === from.href ? path : scriptPath(name, above);
}
