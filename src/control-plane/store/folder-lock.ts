import { link, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { basename, join } from "node:path";
import { errorCode } from "../../util/error-text.ts";

/** Keeps other processes out of a folder until it is released or its process ends. */
export interface FolderLock {
  release(): Promise<void>;
}

const lockName = /^lock\.([1-9]\d{0,14})$/;

/**
 * Locks a folder; undefined if another process, or another part of this one, holds the lock.
 *
 * The lock is a listening Unix socket. The kernel closes it when its process ends, however it ends, and it can be
 * connected to from other containers that share the folder, where process ids mean nothing. A lock is the file `lock.N`
 * with the largest N, and it is held while somebody listens on it. A new holder listens first and then links its socket
 * to the next number, which only one process can do. The largest number is never removed, or a slow process could take
 * it a second time. So whoever holds a number and sees no larger one is the only holder.
 */
export async function lockFolder(folder: string): Promise<FolderLock | undefined> {
  const address = await FolderAddress.open(folder);
  const own = basename(await mkdtemp(join(folder, "lock-"))); // a name nobody else has
  const socket = join(own, "socket");
  const server = await listen(address.of(socket));
  const release = async (): Promise<void> => {
    await new Promise((resolve) => server.close(resolve));
    await address.close();
  };
  try {
    if (await takeNumber(folder, { socket, address })) return { release };
    await release();
    return undefined;
  } catch (error) {
    await release();
    throw error;
  } finally {
    await rm(join(folder, own), { recursive: true, force: true }); // the number is another name of the same socket
  }
}

interface Candidate {
  /** The listening socket, by its path in the folder. */
  readonly socket: string;
  readonly address: FolderAddress;
}

async function takeNumber(folder: string, { socket, address }: Candidate): Promise<boolean> {
  for (;;) {
    const newest = Math.max(0, ...(await lockNumbers(folder)));
    if (newest > 0 && (await isListening(address.of(`lock.${newest}`)))) return false;
    const number = newest + 1;
    if (!(await linkIfFree(join(folder, socket), join(folder, `lock.${number}`)))) continue;
    const others = (await lockNumbers(folder)).filter((one) => one !== number);
    if (others.every((one) => one < number)) {
      await Promise.all(others.map((one) => rm(join(folder, `lock.${one}`), { force: true })));
      return true;
    }
    await rm(join(folder, `lock.${number}`), { force: true }); // we were slow: a larger number was taken meanwhile
  }
}

async function lockNumbers(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).flatMap((name) => Number(lockName.exec(name)?.[1] ?? Number.NaN) || []);
}

async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref(); // the lock alone does not keep the process running
    server.once("error", (cause) => reject(new Error(`cannot lock the folder with a socket at ${path}`, { cause })));
    server.listen(path, () => resolve(server));
  });
}

/** Nobody listens once the process has ended. Any other failure to connect means that somebody might. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isAlive: boolean): void => {
      socket.destroy();
      resolve(isAlive);
    };
    socket.once("connect", () => end(true));
    socket.once("error", (error) => end(!["ECONNREFUSED", "ENOENT", "ENOTSOCK"].includes(errorCode(error) ?? "")));
  });
}

/** Addresses of sockets are limited to about 100 bytes; on Linux an open folder has a short name. */
class FolderAddress {
  readonly #path: string;
  readonly close: () => Promise<void>;

  private constructor(path: string, close: () => Promise<void>) {
    this.#path = path;
    this.close = close;
  }

  static async open(folder: string): Promise<FolderAddress> {
    if (process.platform !== "linux") return new FolderAddress(folder, async () => {});
    const handle = await open(folder, "r");
    return new FolderAddress(`/proc/self/fd/${handle.fd}`, () => handle.close());
  }

  of(name: string): string {
    return join(this.#path, name);
  }
}
