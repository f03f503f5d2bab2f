import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type FolderLock, lockFolder } from "../../control-plane/store/folder-lock.ts";
import { hash64 } from "../../util/hash.ts";

/** The kubeconfig that is ours until it is released. */
export interface KubeconfigClaim {
  readonly path: string;
  /** The process whose kubeconfig we did not take. */
  readonly other?: { readonly path: string; readonly processId: string } | undefined;
  release(): Promise<void>;
}

/** A kubeconfig that a running sandbox uses. */
export class KubeconfigInUse extends Error {
  override readonly name = "KubeconfigInUse";
}

const maxOwnFiles = 100;

/**
 * Nobody's kubeconfig is overwritten while his sandbox runs. The default file is used by the first sandbox, later ones
 * get files of their own; a file that was asked for is refused.
 */
export async function claimKubeconfig(
  asked: string | undefined,
  { folder, processId }: { readonly folder: string; readonly processId: number },
): Promise<KubeconfigClaim> {
  const wanted = resolve(asked ?? join(folder, "kubeconfig"));
  const lock = await lockPath(wanted, { folder, processId });
  if ("release" in lock) return { path: wanted, release: () => lock.release() };
  if (asked !== undefined)
    throw new KubeconfigInUse(
      `${wanted} belongs to the sandbox of process ${lock.processId}, which still runs; ` +
        "stop that one with Ctrl-C, or name another file with --kubeconfig",
    );
  for (let number = 2; number < maxOwnFiles; number++) {
    const path = `${wanted}-${number}`;
    const own = await lockPath(path, { folder, processId });
    if ("release" in own) {
      return { path, other: { path: wanted, processId: lock.processId }, release: () => own.release() };
    }
  }
  throw new KubeconfigInUse(`${maxOwnFiles} sandboxes run already; name a file for this one with --kubeconfig`);
}

/** Locks are kept in the state folder, so that nothing appears beside a file of the user's. */
async function lockPath(
  path: string,
  { folder, processId }: { readonly folder: string; readonly processId: number },
): Promise<FolderLock | { readonly processId: string }> {
  const locks = join(folder, "running", hash64(path));
  const owner = join(locks, "process");
  await mkdir(locks, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(locks);
  if (lock === undefined) return { processId: await readFile(owner, "utf8").catch(() => "unknown") };
  await writeFile(owner, String(processId), { mode: 0o600 });
  return lock;
}
