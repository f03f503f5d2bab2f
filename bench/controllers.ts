import { promMetrics } from "../src/operator/metrics/prom-metrics.ts";
import { testWorld } from "../test/world/test-world.ts";
import { createMixedObjects, nodesAndPrice, runningPods } from "./cluster-figures.ts";
import { sampling } from "./cpu-shares.ts";
import { below, show, told } from "./figures.ts";
import { mixedCount, resourceBound } from "./mixed-pods.ts";

/** From nothing to a thousand running pods, everything in this process, on the virtual clock. */
async function scaleOut() {
  const world = await testWorld({ seed: "bench" });
  const { client, clock } = world;
  world.startCluster();
  world.startOperator("bench", { metrics: promMetrics().metrics });
  await clock.advance(5_000);
  const sampled = await sampling();
  const [startedAt, realAt, cpuAt] = [clock.now(), performance.now(), process.cpuUsage()];
  await createMixedObjects(client);
  while ((await runningPods(client)) < mixedCount) {
    await clock.advance(1_000);
    if (clock.now() - startedAt > 600_000) throw new Error("not all pods run after ten simulated minutes");
  }
  const realMs = performance.now() - realAt;
  const { user, system } = process.cpuUsage(cpuAt);
  const rssMb = process.resourceUsage().maxRSS / 1_024;
  const shares = await sampled();
  const { nodes, price } = await nodesAndPrice(client);
  await world.stop();
  return {
    simulatedSeconds: (clock.now() - 60_000 - startedAt) / 1_000,
    realSeconds: realMs / 1_000,
    cpuSeconds: (user + system) / 1e6,
    nodes,
    price,
    overBound: price / resourceBound(),
    rssMb,
    shares,
  };
}

const figures = await scaleOut();
show(`${mixedCount} mixed pods from zero, embedded`, [
  told("simulated time until all run", `${figures.simulatedSeconds.toFixed(0)} s`),
  below("real time", figures.realSeconds, { bar: 10, unit: "s" }),
  told("CPU time, whole process", `${figures.cpuSeconds.toFixed(2)} s`),
  told(
    "of it",
    [...figures.shares]
      .map(([owner, share]) => `${owner} ${(share * figures.cpuSeconds).toFixed(2)} s`)
      .sort()
      .join(", "),
  ),
  told("nodes", String(figures.nodes)),
  told("price", `$${figures.price.toFixed(2)}/h, ${figures.overBound.toFixed(3)} over the resource bound`),
  below("peak RSS, whole process", figures.rssMb, { bar: 260, unit: "MB" }),
]);
