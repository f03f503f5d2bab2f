import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isRecord } from "../../api/object.ts";
import {
  type CertificateOptions,
  isCertificateUsable,
  makeCertificate,
  type ServerCertificate,
} from "../certificate.ts";

/** The folder of state that is kept between runs: `$XDG_STATE_HOME/karpenter-ts`, or `~/.local/state/karpenter-ts`. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const home = env["HOME"] === undefined || env["HOME"] === "" ? homedir() : env["HOME"];
  const base = env["XDG_STATE_HOME"];
  return join(base === undefined || base === "" ? join(home, ".local", "state") : base, "karpenter-ts");
}

/**
 * Written atomically with mode 0600. It is made in a new folder of our own, so that nobody can put a file or link there
 * before us, and a link at the path is replaced, not followed. (05:CP-S2)
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(dirname(path), ".karpenter-"));
  try {
    const draft = join(folder, "draft");
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reuses the certificate of an earlier run while valid, else creates one. */
export async function loadOrCreateCertificate(folder: string, options: CertificateOptions): Promise<ServerCertificate> {
  const path = join(folder, "certificate.json");
  const existing = await readCertificate(path);
  if (existing !== undefined && isCertificateUsable(existing, options)) return existing;
  const made = await makeCertificate(options);
  await writePrivateFile(path, `${JSON.stringify(made)}\n`);
  return made;
}

async function readCertificate(path: string): Promise<ServerCertificate | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isRecord(parsed)) return undefined;
    const { key, certificate } = parsed;
    return typeof key === "string" && typeof certificate === "string" ? { key, certificate } : undefined;
  } catch {
    return undefined; // missing or unreadable: a new one is created
  }
}
