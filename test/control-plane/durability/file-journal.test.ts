import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ApiServer } from "../../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../../src/control-plane/in-process-client.ts";
import { type FileJournalOptions, openJournal } from "../../../src/control-plane/store/file-journal.ts";
import type { JournalEntry } from "../../../src/control-plane/store/journal.ts";
import { Random } from "../../../src/util/random.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { configMap, types } from "../../contracts/api-objects.ts";
import { customDefinition } from "../custom-definition.ts";

const root = mkdtempSync(join(tmpdir(), "karpenter-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const freshFolder = () => join(root, String(folders++), "data");

interface Life {
  readonly client: InProcessClient;
  readonly api: ApiServer;
  readonly losses: readonly string[];
  end(): Promise<void>;
}

/** One life of a server over a folder. */
async function live(folder: string, options: Partial<FileJournalOptions> & { recover?: boolean } = {}): Promise<Life> {
  const kept = await openJournal(folder, { recover: options.recover === true });
  const clock = new VirtualClock({ startAt: kept.lastAt ?? Date.parse("2026-01-01T00:00:00Z") });
  let snapshot = (): Iterable<JournalEntry> => [];
  const journal = await kept.begin({ now: () => clock.now(), snapshot: () => snapshot(), ...options });
  const api = new ApiServer({ clock, random: new Random("life"), journal, restore: kept.entries });
  snapshot = () => api.snapshot();
  return { client: new InProcessClient(api), api, losses: kept.losses, end: () => journal.close() };
}

async function names({ client }: Life): Promise<readonly string[]> {
  return (await client.list(types.configMaps)).items.map(({ metadata }) => metadata.name ?? "");
}

function journalIn(folder: string): string {
  const found = readdirSync(folder).filter((name) => /^journal\.\d+$/.test(name));
  expect(found).toHaveLength(1);
  return join(folder, found[0] ?? "");
}

it("05:CP-T5 brings back every object, and a larger resourceVersion even after a last deletion", async () => {
  const folder = freshFolder();
  const first = await live(folder);
  const kept = await first.client.create(types.configMaps, configMap("kept", { a: "1" }));
  await first.client.create(types.configMaps, configMap("gone"));
  await first.client.delete(types.configMaps, { name: "gone", namespace: "default" });
  const before = first.api.revision;
  await first.end();

  const second = await live(folder);
  expect(await second.client.get(types.configMaps, { name: "kept", namespace: "default" })).toEqual(kept);
  expect(await names(second)).toEqual(["kept"]);
  expect(second.api.revision).toBeGreaterThan(before);
  await second.end();
  const third = await live(folder);
  expect(third.api.revision).toBeGreaterThan(second.api.revision);
  await third.end();
});

it("05:CP-S2 keeps it for its owner alone", async () => {
  const folder = freshFolder();
  await (await live(folder)).end();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(journalIn(folder)).mode & 0o777).toBe(0o600);
});

it("05:CP-T5 shares syncs among writes that come together, and answers in order", async () => {
  const folder = freshFolder();
  const { client, end } = await live(folder);
  const answered: number[] = [];
  const all = Array.from({ length: 200 }, async (_, at) => {
    await client.create(types.configMaps, configMap(`m-${at}`));
    answered.push(at);
  });
  await Promise.all(all);
  expect(answered).toEqual(all.map((_, at) => at));
  await end();
});

it("05:CP-T5 05:CP-S3 rewrites a journal while megabytes are written: they are copied from file to file", async () => {
  const folder = freshFolder();
  const compactAfterBytes = 200_000;
  const first = await live(folder, { compactAfterBytes });
  const large = (round: number, at: number) => `${round} ${at} `.repeat(20_000);
  for (let round = 0; round < 40 && readdirSync(folder).includes("journal.1"); round++)
    await Promise.all(Array.from({ length: 40 }, (_, at) => write(first, `m-${at}`, large(round, at))));
  const { items } = await first.client.list(types.configMaps);
  await first.end();
  expect(Number(journalIn(folder).split(".").at(-1))).toBeGreaterThan(1);
  const second = await live(folder, { compactAfterBytes });
  expect((await second.client.list(types.configMaps)).items).toEqual(items);
  await second.end();
}, 60_000);

it("05:CP-T5 rewrites a journal that has grown too long, while writes go on", async () => {
  const folder = freshFolder();
  const compactAfterBytes = 20_000;
  const first = await live(folder, { compactAfterBytes });
  await first.client.create(types.configMaps, configMap("still", { a: "untouched" }));
  for (let round = 0; round < 60; round++) {
    const writes = Array.from({ length: 20 }, (_, at) => write(first, `m-${at}`, String(round)));
    await Promise.all(writes);
  }
  await first.client.delete(types.configMaps, { name: "m-0", namespace: "default" });
  const { items } = await first.client.list(types.configMaps);
  const before = first.api.revision;
  await first.end();

  expect(Number(journalIn(folder).split(".").at(-1))).toBeGreaterThan(2);
  expect(statSync(journalIn(folder)).size).toBeLessThan(300_000);
  const second = await live(folder, { compactAfterBytes });
  expect((await second.client.list(types.configMaps)).items).toEqual(items);
  expect(second.api.revision).toBeGreaterThan(before);
  await second.end();
}, 60_000);

async function write({ client }: Life, name: string, value: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "ConfigMap", data: { value } };
  await client.patch(types.configMaps, { name, namespace: "default" }, { kind: "apply", body, fieldManager: "test" });
}

it("05:CP-T5 tolerates a last record cut short, and goes on after it", async () => {
  const folder = freshFolder();
  const first = await live(folder);
  for (const name of ["a", "b"]) await first.client.create(types.configMaps, configMap(name));
  await first.end();
  truncateSync(journalIn(folder), statSync(journalIn(folder)).size - 5);
  const second = await live(folder);
  expect(await names(second)).toEqual(["a"]);
  await second.client.create(types.configMaps, configMap("c"));
  await second.end();
  const third = await live(folder);
  expect(await names(third)).toEqual(["a", "c"]);
  await third.end();
});

it("05:CP-T5 refuses a damaged journal with the line and a way out, and takes it", async () => {
  const folder = freshFolder();
  const first = await live(folder);
  for (const name of ["a", "b", "c"]) await first.client.create(types.configMaps, configMap(name));
  await first.end();
  const path = journalIn(folder);
  const lines = readFileSync(path, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"name":"b"'));
  const damaged = lines.with(at, (lines[at] ?? "").replace('"name":"b"', '"name":"x"')).join("\n");
  writeFileSync(path, damaged);
  const offset = Buffer.byteLength(lines.slice(0, at).join("\n")) + 1;

  const message = new RegExp(`journal.1 is damaged at line ${at + 1} \\(byte ${offset}\\): its checksum .*--recover`);
  await expect(live(folder)).rejects.toThrow(message);
  expect(readFileSync(path, "utf8")).toBe(damaged);

  const second = await live(folder, { recover: true });
  expect(await names(second)).toEqual(["a"]);
  expect(second.losses).toEqual([expect.stringContaining(`before line ${at + 1}`)]);
  expect(readFileSync(`${path}.damaged-1`, "utf8")).toBe(damaged);
  await second.client.create(types.configMaps, configMap("d"));
  await second.end();
  const third = await live(folder);
  expect(await names(third)).toEqual(["a", "d"]);
  await third.end();
});

it("05:CP-T5 goes on from the newest of what a rewrite cut short left behind", async () => {
  const folder = freshFolder();
  const first = await live(folder);
  await first.client.create(types.configMaps, configMap("a"));
  await first.end();
  const old = readFileSync(join(folder, "journal.1"));
  writeFileSync(join(folder, "journal.3.tmp"), old.subarray(0, 30));
  writeFileSync(join(folder, "journal.2"), old);
  appendFileSync(join(folder, "journal.1"), "not read any more\n");
  const second = await live(folder);
  expect(await names(second)).toEqual(["a"]);
  await second.end();
  expect(readdirSync(folder).filter((name) => name.startsWith("journal"))).toEqual(["journal.2"]);
});

it("05:CP-T5 lets one server in at a time, and is not held up by one that has ended", async () => {
  const folder = freshFolder();
  const first = await live(folder);
  await expect(live(folder)).rejects.toThrow(`${folder} is in use by another control plane; stop it`);
  await first.end();
  await (await live(folder)).end();
});

/** Opens files of a disk that is full while `disk.isFull`: a part of the bytes is written before the error. */
function fullDisk(disk: { isFull: boolean; code: string }): typeof open {
  return async (path, flags, mode) => {
    const file = await open(path, flags, mode);
    return new Proxy(file, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target);
        if (name === "appendFile" && disk.isFull) {
          return async (bytes: Buffer) => {
            await target.appendFile(bytes.subarray(0, bytes.length / 2));
            throw Object.assign(new Error("write failed"), { code: disk.code });
          };
        }
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
}

/** Calls the hook whenever a file is about to be synced. */
function hookedSyncs(openFile: typeof open, hook: () => void): typeof open {
  return async (path, flags, mode) => {
    const file = await openFile(path, flags, mode);
    return new Proxy(file, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target);
        if (name === "datasync") hook();
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
}

it("05:CP-T5 a write that is refused while the journal is rewritten is not in the new one", async () => {
  const folder = freshFolder();
  const disk = { isFull: false, code: "ENOSPC" };
  let atSync = (): void => {};
  const openFile = hookedSyncs(fullDisk(disk), () => atSync());
  const first = await live(folder, { openFile, compactAfterBytes: 20_000 });
  const { client } = first;
  await write(first, "later", "");
  let refused: Promise<unknown> | undefined;
  atSync = () => {
    // While "a" is synced; then the journal is rewritten with all objects there are, this one too, and only then it is refused.
    refused ??= client.create(types.configMaps, configMap("refused"));
    refused.catch(() => {});
    disk.isFull = true;
  };
  await client.create(types.configMaps, configMap("a", { large: "x".repeat(50_000) }));
  await expect(refused).rejects.toThrow("could not be persisted");
  atSync = () => {};
  disk.isFull = false;
  const stale = journalIn(folder);
  for (let round = 0; round < 1_000 && existsSync(stale); round++)
    await write(first, "later", `${round} `.repeat(1_000));
  expect(await names(first)).toEqual(["a", "later"]);
  await first.end();
  expect(existsSync(stale)).toBe(false);
  const second = await live(folder);
  expect(await names(second)).toEqual(["a", "later"]);
  await second.end();
});

it("05:CP-T5 shows nothing of writes a full disk refused, and goes on when there is space", async () => {
  const folder = freshFolder();
  const disk = { isFull: false, code: "ENOSPC" };
  const first = await live(folder, { openFile: fullDisk(disk) });
  const { client, api } = first;
  await client.create(types.configMaps, configMap("kept", { a: "1" }));
  await client.create(types.configMaps, configMap("other"));
  const watch = api.watch(api.kinds.get(types.configMaps), { resourceVersion: String(api.revision) });
  const key = { name: "kept", namespace: "default" };

  disk.isFull = true;
  const refused = await Promise.allSettled([
    client.create(types.configMaps, configMap("refused")),
    client.patch(types.configMaps, key, { kind: "merge", body: { data: { a: "2" } } }),
    client.delete(types.configMaps, { name: "other", namespace: "default" }),
    client.create(types.namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "refused" } }),
  ]);
  expect(refused.map((one) => one.status === "rejected" && String(one.reason))).toEqual(
    refused.map(() => expect.stringContaining("could not be persisted")),
  );
  const seen = async () => ({
    maps: (await client.list(types.configMaps)).items.map((one) => [
      one.metadata.name,
      (one as { data?: object }).data ?? {},
    ]),
    namespaces: (await client.list(types.namespaces)).items.map(({ metadata }) => metadata.name),
  });
  const before = await seen();
  expect(before.maps).toEqual([
    ["kept", { a: "1" }],
    ["other", {}],
  ]);
  expect(before.namespaces).not.toContain("refused");

  disk.isFull = false;
  await client.create(types.configMaps, configMap("later"));
  expect(watch.poll()).toMatchObject({ type: "ADDED", object: { metadata: { name: "later" } } });
  expect(watch.poll()).toBeUndefined();
  const after = await seen();
  await first.end();
  const second = await live(folder);
  expect((await second.client.list(types.configMaps)).items.map(({ metadata }) => metadata.name)).toEqual([
    ...["kept", "later", "other"],
  ]);
  expect(after.maps).toHaveLength(3);
  await second.end();
});

it("05:CP-T5 a CustomResourceDefinition that was not stored is not served", async () => {
  const disk = { isFull: false, code: "ENOSPC" };
  const { client, api, end } = await live(freshFolder(), { openFile: fullDisk(disk) });
  disk.isFull = true;
  await expect(client.create(types.definitions, customDefinition())).rejects.toThrow("could not be persisted");
  const widgets = { group: "example.com", version: "v1", plural: "widgets" };
  expect(api.kinds.find(widgets)).toBeUndefined();
  disk.isFull = false;
  await client.create(types.definitions, customDefinition());
  expect(api.kinds.find(widgets)).toBeDefined();
  await end();
});

it("05:CP-T5 after any other failure nothing is written any more, and nothing of it is visible", async () => {
  const disk = { isFull: false, code: "EIO" };
  const first = await live(freshFolder(), { openFile: fullDisk(disk) });
  await first.client.create(types.configMaps, configMap("kept"));
  disk.isFull = true;
  await expect(first.client.create(types.configMaps, configMap("a"))).rejects.toThrow("could not be persisted");
  disk.isFull = false;
  await expect(first.client.create(types.configMaps, configMap("b"))).rejects.toThrow("could not be persisted");
  expect(await names(first)).toEqual(["kept"]);
  await first.end();
});
