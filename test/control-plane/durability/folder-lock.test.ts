import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type FolderLock, lockFolder } from "../../../src/control-plane/store/folder-lock.ts";
import { bundle } from "./bundle.ts";

const root = mkdtempSync(join(tmpdir(), "karpenter-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
function freshFolder(name = ""): string {
  const folder = join(root, String(folders++), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

const held = (locks: readonly (FolderLock | undefined)[]) => locks.filter((lock) => lock !== undefined);

it("05:CP-T5 one of many that lock a folder at once gets it, again and again", async () => {
  const folder = freshFolder();
  for (let round = 0; round < 10; round++) {
    const locks = held(await Promise.all(Array.from({ length: 12 }, () => lockFolder(folder))));
    expect(locks).toHaveLength(1);
    expect(await lockFolder(folder)).toBeUndefined();
    await locks[0]?.release();
  }
  expect(readdirSync(folder)).toHaveLength(1); // the number of the last holder
});

it("05:CP-T5 a lock file without a process behind it, empty or of an older version, does not hold the folder", async () => {
  const folder = freshFolder();
  for (const name of ["lock", "lock.3"]) writeFileSync(join(folder, name), "");
  const lock = await lockFolder(folder);
  expect(lock).toBeDefined();
  expect(await lockFolder(folder)).toBeUndefined();
  await lock?.release();
});

it("05:CP-T5 a folder whose path is too long for the address of a socket can be locked", async () => {
  const folder = freshFolder(join("a".repeat(120), "b".repeat(120)));
  const lock = await lockFolder(folder);
  expect([lock === undefined, await lockFolder(folder)]).toEqual([false, undefined]);
  await lock?.release();
});

it("05:CP-T5 a holder that accepts no connection still holds it", async () => {
  const folder = freshFolder();
  const server = createServer().listen(join(folder, "lock.7"));
  await once(server, "listening");
  expect(await lockFolder(folder)).toBeUndefined();
  server.close();
});

it("05:CP-T5 another process holds the folder until it is killed", async () => {
  const folder = freshFolder();
  const program = await bundle(join(import.meta.dirname, "lock-holder.ts"), root);
  const start = async (): Promise<[ChildProcess, string]> => {
    const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
    return [child, String(line).trim()];
  };
  const started = await Promise.all([start(), start()]);
  expect(started.map(([, said]) => said).sort()).toEqual(["locked", "refused"]);
  expect(await lockFolder(folder)).toBeUndefined();
  const [child] = started.find(([, said]) => said === "locked") as [ChildProcess, string];
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = await lockFolder(folder);
  expect(lock).toBeDefined();
  await lock?.release();
}, 30_000);
