import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
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
  expect(readdirSync(folder)).toEqual(["journal.2"]);
});

it("05:CP-T5 lets one process in at a time, and is not held up by one that was killed", async () => {
  const folder = freshFolder();
  await (await live(folder)).end();
  writeFileSync(join(folder, "lock"), `${process.ppid}\n`);
  await expect(live(folder)).rejects.toThrow(`is in use by process ${process.ppid}`);
  writeFileSync(join(folder, "lock"), "999999999\n");
  const second = await live(folder);
  await second.end();
  expect(readdirSync(folder)).toEqual(["journal.1"]);
});
