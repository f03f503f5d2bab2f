import { ApiServer } from "../src/control-plane/api/server.ts";
import { InProcessClient } from "../src/control-plane/in-process-client.ts";
import { installCrds } from "../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../src/control-plane/simulated-cluster.ts";
import { defaultSettings } from "../src/controllers/settings.ts";
import { promMetrics } from "../src/operator/metrics/prom-metrics.ts";
import { startOperator } from "../src/operator/operator.ts";
import { SimulatedCloud } from "../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../src/providers/sim/simulated-provider.ts";
import { silentLogger } from "../src/util/logger.ts";
import { Random } from "../src/util/random.ts";
import { VirtualClock } from "../src/util/virtual-clock.ts";
import { stepBudget } from "../test/world/step-budget.ts";
import { createMixedObjects, machinesOf, runningPods } from "./cluster-figures.ts";
import { sampling } from "./cpu-shares.ts";
import { below, show, told } from "./figures.ts";
import { mixedCount, resourceBound } from "./mixed-pods.ts";

/** From nothing to a thousand running pods, everything in this process, on the virtual clock. */
async function scaleOut() {
  const clock = new VirtualClock({ startAt: Date.parse("2026-01-01T00:00:00Z") });
  const random = new Random("bench");
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client = new InProcessClient(api);
  await installCrds(api, "all");
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
  const world = startSimulatedCluster({ api, clock, random: random.fork("world"), instances: cloud });
  const operator = startOperator({
    client,
    leaseClient: client,
    provider: simulatedProvider({ cloud, client, clock, random: random.fork("provider") }),
    settings: defaultSettings,
    clock,
    random: random.fork("operator"),
    log: silentLogger,
    metrics: promMetrics().metrics,
    openBudget: stepBudget(),
    identity: "bench",
  });
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
  const { nodes, price } = await machinesOf(client);
  const ended = Promise.all([operator.stop(), world.stop()]);
  await clock.advance(60_000);
  await ended;
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
