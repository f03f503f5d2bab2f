import { below, holds, show, told } from "../figures.ts";
import { BenchProcesses, pause, type Running, statusOf, until } from "./bench-processes.ts";
import { standingSize } from "./standing-cluster.ts";

/** A cluster of five thousand nodes and fifty thousand pods, at rest and with a thousand pod changes a second. */

const flags = (process.env["RUN_FLAGS"] ?? "--max-old-space-size=512").split(" ").filter((flag) => flag !== "");
const perSecond = 1_000;
const churnMs = 20_000;

/** Until what there was to do in it is done. */
async function settled({ server }: BenchProcesses): Promise<void> {
  let [last, since] = [-1, performance.now()];
  const isQuiet = async (): Promise<boolean> => {
    const revision = await server.ask("revision");
    if (revision > last + 10) [last, since] = [revision, performance.now()]; // the lease is renewed all the time
    return performance.now() - since > 5_000;
  };
  await until(isQuiet, { withinMs: 180_000, what: "the controllers have nothing to do" });
}

async function measure(
  stage: BenchProcesses,
  { process: controllers, metricsPort, ...running }: Running,
): Promise<void> {
  const starting = await controllers.ask("loop");
  const first = await controllers.ask("snapshot");
  await settled(stage);
  await controllers.ask("snapshots");
  const atRest = await controllers.ask("process");
  const quiet = await controllers.ask("loop");

  await stage.server.ask("churn", perSecond);
  await pause(2_000); // until both sides are warm
  const before = await controllers.ask("process");
  const from = performance.now();
  while (performance.now() - from < churnMs) {
    await pause(1_000);
    await controllers.ask("snapshot");
  }
  const tookMs = performance.now() - from;
  const after = await controllers.ask("process");
  const made = await stage.server.ask("calm");
  const busy = await controllers.ask("loop");
  const snapshots = await controllers.ask("snapshots");
  const times = snapshots.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): number => times[Math.ceil(share * times.length) - 1] ?? Number.NaN;
  const garbageMs = snapshots.find(({ ms }) => ms === at(1))?.garbageMs ?? 0;
  await statusOf(metricsPort, "/metrics");
  const scraped = await controllers.ask("loop");
  const end = await controllers.ask("process");
  const [known, there] = [await controllers.ask("snapshot"), await stage.server.ask("count", "pods")];

  const { nodes, podsPerNode } = standingSize;
  show(`${nodes} nodes, ${nodes * podsPerNode} pods; run with ${flags.join(" ") || "no flags of Node"}`, [
    told(
      "until it knows the cluster",
      `${(running.syncedMs / 1_000).toFixed(1)} s, longest delay ${starting.longestMs.toFixed(0)} ms`,
    ),
    below("first snapshot", first?.ms ?? Number.NaN, { bar: 20, unit: "ms" }),
    told("longest delay until nothing is left to do", `${quiet.longestMs.toFixed(0)} ms`),
    below("RSS at rest", atRest.rssMb, { bar: 600, unit: "MB" }),
    below("peak RSS", end.peakRssMb, { bar: 600, unit: "MB" }),
    told("heap", `${atRest.heapMb.toFixed(0)} MB at rest, ${end.heapMb.toFixed(0)} MB at the end`),
    told("changes made", `${(made / ((tookMs + 2_000) / 1_000)).toFixed(0)} /s`),
    holds("it knows of them all", known?.pods === there, `${known?.pods} of ${there} pods, ${known?.nodes} nodes`),
    below("slowest snapshot among changes", at(1), { bar: 20, unit: "ms" }),
    told("of it for garbage", `${garbageMs.toFixed(1)} ms`),
    told("median and nine of ten", `${at(0.5).toFixed(1)} ms, ${at(0.9).toFixed(1)} ms of ${times.length}`),
    below("CPU while it follows", ((after.cpuMs - before.cpuMs) / tookMs) * 100, { bar: 30, unit: "% of a core" }),
    told(
      "longest delay while it follows",
      `${busy.longestMs.toFixed(0)} ms, for garbage ${busy.longestCollectionMs.toFixed(0)} ms`,
    ),
    told("longest delay while metrics are read", `${scraped.longestMs.toFixed(0)} ms`),
  ]);
}

const stage = new BenchProcesses({ isStanding: true });
let running: Running | undefined;
try {
  running = await stage.run({ nodeFlags: flags });
  await measure(stage, running);
} catch (error) {
  console.log(stage.output());
  throw error;
} finally {
  running?.health.stop();
  await running?.process.end("SIGTERM");
  await stage.end();
}
