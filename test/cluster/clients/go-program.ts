import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const source = fileURLToPath(new URL("./go", import.meta.url));
const setupGo = fileURLToPath(new URL("../../../scripts/setup-go.sh", import.meta.url));

/** The client written in Go, built once for each version of its source. */
export async function goProgram(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(readFileSync(join(source, file)));
  const cache = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "karpenter-ts", "clients");
  const program = join(cache, `go-client-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const go = (await run(setupGo)).stdout.trim();
  const draft = `${program}.${process.pid}`; // a build cut short leaves nothing under the name
  const settings = { CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOWORK: "off", GOFLAGS: "-buildvcs=false" };
  await run(go, ["build", "-trimpath", "-o", draft, "."], { cwd: source, env: { ...env, ...settings } });
  renameSync(draft, program);
  return program;
}
