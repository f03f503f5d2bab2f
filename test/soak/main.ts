import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HeapCensus } from "./heap-census.ts";
import { HeapSnapshot } from "./heap-snapshot.ts";
import { type Measurement, staleHolders } from "./measurement.ts";
import { type SoakWorld, soakWorld } from "./soak-world.ts";

/**
 * `npm run soak`: weeks of a cluster on the virtual clock. Fails when the heap grows, when a collection grows, or when
 * anything still names an object that is gone for hours.
 */

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "30" },
    /** The day that the last one is compared with. */
    baseline: { type: "string", default: "3" },
    services: { type: "string", default: "10" },
    seed: { type: "string", default: "soak" },
    verbose: { type: "boolean", default: false },
  },
});
const write = (line: string) => void process.stdout.write(`${line}\n`);
const mostGrowth = 1.1;
/** A collection may grow by a tenth, and by so many references, as nights differ by a few pods and nodes. */
const collectionGrowth = { times: 1.1, references: 300 };
/** Longer than anything is kept that expires: Events, and what is remembered of events. */
const rememberedMs = 4 * 60 * 60_000;
/** Bounded in number or time, whatever happens; and what this program keeps itself. */
const boundedClasses: ReadonlySet<string> = new Set([
  ...["ChangeLog", "ChangeHistory", "Interner", "ExpiringMap"],
  ...["HeapSnapshot", "HeapCensus", "GoneObjects"],
]);

/** Of what takes more bytes than before, so many are named. */
const mostNamed = 12;

process.exitCode = await main();

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-soak-"));
  const world = await soakWorld({
    seed: values.seed,
    services: Number(values.services),
    gonePath: join(folder, "gone"),
  });
  const complaints: string[] = [];
  const [days, baseline] = [Number(values.days), Number(values.baseline)];
  for (let day = 1; day <= days; day++) {
    await world.day(day, (hour) => values.verbose && write(`day ${day} hour ${hour} ${cpuSeconds()}`));
    write(`day ${day}: ${JSON.stringify(await world.counts())}, ${cpuSeconds()}`);
    if (day === baseline) await measure(world, folder, "before");
    if (day !== days) continue;
    await measure(world, folder, "last");
    const last = measured(folder, "last");
    complaints.push(
      ...last.stale,
      ...(baseline >= 1 && baseline < days ? growth(measured(folder, "before"), last) : []),
    );
  }
  complaints.push(...world.failures);
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
  for (const complaint of complaints) write(complaint);
  write(complaints.length === 0 ? "nothing grew" : `${complaints.length} complaints`);
  return complaints.length === 0 ? 0 : 1;
}

function cpuSeconds(): string {
  return `${Math.round(process.cpuUsage().user / 1e6)} s of CPU, ${Math.round(process.memoryUsage().heapUsed / 1e6)} MB`;
}

async function measure({ clock, gone }: SoakWorld, folder: string, name: string): Promise<void> {
  for (let times = 0; times < 4; times++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const heapMb = process.memoryUsage().heapUsed / 1e6;
  write(`heap after collection: ${heapMb.toFixed(1)} MB`);
  const heap = HeapSnapshot.take(join(folder, "soak.heapsnapshot"));
  const census = new HeapCensus(heap, { without: boundedClasses });
  const measurement: Measurement = {
    heapMb,
    bytes: Object.fromEntries(new HeapCensus(heap).bytes()),
    collections: Object.fromEntries(census.collectionSizes()),
    classes: Object.fromEntries(census.classCounts()),
    stale: staleHolders(census, gone.goneBefore(clock.now() - rememberedMs)),
  };
  writeFileSync(join(folder, name), JSON.stringify(measurement));
}

function measured(folder: string, name: string): Measurement {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as Measurement;
}

function growth(before: Measurement, last: Measurement): readonly string[] {
  const complaints: string[] = [];
  const times = last.heapMb / before.heapMb;
  write(`heap: ${before.heapMb.toFixed(1)} MB, then ${last.heapMb.toFixed(1)} MB: ${times.toFixed(3)} times`);
  nameWhatGrew(before, last);
  if (times > mostGrowth) complaints.push(`the heap grew ${times.toFixed(3)} times`);
  const compare = (what: string, old: Measurement["classes"], now: Measurement["classes"]) => {
    for (const [name, size] of Object.entries(now)) {
      const was = old[name] ?? 0;
      if (size > was * collectionGrowth.times + collectionGrowth.references)
        complaints.push(`${what} ${name} grew: ${was}, then ${size}`);
    }
  };
  compare("collection", before.collections, last.collections);
  compare("class", before.classes, last.classes);
  return complaints;
}

function nameWhatGrew(before: Measurement, last: Measurement): void {
  const grown = Object.entries(last.bytes)
    .map(([holder, bytes]) => ({ holder, bytes, by: bytes - (before.bytes[holder] ?? 0) }))
    .sort((one, other) => other.by - one.by);
  for (const { holder, bytes, by } of grown.slice(0, mostNamed))
    write(`  ${(by / 1e6).toFixed(2)} MB more, now ${(bytes / 1e6).toFixed(2)} MB: ${holder}`);
}
