import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { hashNames } from "../../src/cli/snapshot/hash-names.ts";
import { NameHasher } from "../../src/cli/snapshot/name-hasher.ts";
import { fakeLabels } from "../../src/providers/kwok/index.ts";
import { isLongTier } from "../runs.ts";
import { readScenario, scenariosIn } from "../scenarios/run.ts";
import { fakeCluster, stored } from "./fake-cluster.ts";
import { hashedReport } from "./hashed-report.ts";
import { planned, snapshotOf } from "./run.ts";

const folder = "scheduling";

/** A scenario as a live cluster, and how it wants to be planned. */
function scenario(name: string) {
  const text = readScenario(folder, `${name}.yaml`);
  const documents = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  const written = /^# flags: (.*)$/m.exec(text)?.[1]?.split(/\s+/) ?? [];
  const flags = written.map((word) => (/^-[a-z]/.test(word) ? `-${word}` : word));
  const catalogues = flags.filter((flag) => flag.startsWith("catalogues/"));
  const files = Object.fromEntries(catalogues.map((path) => [path, readScenario(path)]));
  return { objects: stored(documents), args: ["--now", "2026-01-15T12:00:00Z", "--rounds", "1", ...flags], files };
}

/** Labels of the types that `fake:N` sells. */
const catalogueLabels = Object.values(fakeLabels);

describe("scheduling scenarios as live clusters", { timeout: 60_000 }, () => {
  const names = scenariosIn(folder);

  it("are all there", () => {
    expect(names.length).toBeGreaterThanOrEqual(123); // those of upstream; more may be added
  });

  it.each(every(6, names))("%s: file and snapshot have one plan", async (name) => {
    const { objects, args, files } = scenario(name);
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const fromFile = await planned(["-f", "in.json", ...args], { files: { ...files, "in.json": list } });
    const snapshot = await snapshotOf(fakeCluster(objects, { pageSize: 2 }));
    expect(await planned(["-f", "it.gz", ...args], { files: { ...files, "it.gz": snapshot } })).toEqual(fromFile);
  });

  it.each(every(20, names))("%s: cluster and snapshot have one plan", async (name) => {
    const { objects, args, files } = scenario(name);
    const connect = fakeCluster(objects, { pageSize: 2 });
    const snapshot = await planned(["-f", "it.gz", ...args], {
      files: { ...files, "it.gz": await snapshotOf(connect) },
    });
    expect(await planned(["--context", "live", ...args], { files, connect })).toEqual(snapshot);
  });

  it.each(every(8, names))("%s: under other names the same is decided", async (name) => {
    const { objects, args, files } = scenario(name);
    const keep = catalogueLabels.flatMap((label) => ["--keep-label", label]);
    const plain = await snapshotOf(fakeCluster(objects));
    const hashed = await snapshotOf(fakeCluster(objects), "--hash-names", ...keep);
    const nameHasher = new NameHasher({ salt: "salt", keepLabels: new Set(catalogueLabels) });
    hashNames(objects, nameHasher);
    const expected = await planned(["-f", "it.gz", ...args], { files: { ...files, "it.gz": plain } });
    const actual = await planned(["-f", "it.gz", ...args], { files: { ...files, "it.gz": hashed } });
    expect(hashedReport(actual)).toEqual(hashedReport(expected, nameHasher));
  });
});

/** Every so manieth, or all in the long tier. */
function every(step: number, names: readonly string[]): readonly [string][] {
  return names.filter((_, index) => isLongTier || index % step === 0).map((name) => [name]);
}
