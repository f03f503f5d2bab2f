import { setTimeout as sleep } from "node:timers/promises";
import { defaultSettings } from "../src/controllers/settings.ts";
import { promMetrics } from "../src/operator/metrics/prom-metrics.ts";
import { startOperator } from "../src/operator/operator.ts";
import { SimulatedCloud } from "../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../src/providers/sim/simulated-provider.ts";
import { systemClock } from "../src/util/clock.ts";
import { type LoggedLine, loggerTo } from "../src/util/logger.ts";
import { Random } from "../src/util/random.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import type { Connection } from "../test/cluster/kube.ts";
import { realBudgets } from "../test/cluster/real-budgets.ts";
import { realClient } from "../test/cluster/real-client.ts";
import { startSimulatedNodes } from "../test/cluster/simulated-nodes.ts";
import { createNamespace, installCrds } from "../test/cluster/sweep.ts";
import { areAllRunning, createMixedObjects, nodesAndPrice, runningPods } from "./cluster-figures.ts";
import { below, show, told } from "./figures.ts";
import { mixedCount, resourceBound } from "./mixed-pods.ts";

const barSeconds = 60;
const patienceMs = Number(process.env["PATIENCE_MS"] ?? 300_000);
const lookEveryMs = 500;

/**
 * From nothing to a thousand running pods on a real etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
 * This process is the controller, the cloud, whose machines take 8 to 15 s to boot, and every kubelet.
 */
async function scaleOut(connection: Connection) {
  const clock = systemClock();
  const random = new Random("bench");
  const { client, close } = realClient(connection);
  const controller = realClient(connection);
  await installCrds(connection);
  await createNamespace(client, "karpenter");
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
  const machines = startSimulatedNodes({ client, instances: cloud, random, lines: [] });
  const lines: LoggedLine[] = [];
  const operator = startOperator({
    client: controller.client,
    leaseClient: client,
    provider: simulatedProvider({ cloud, client, clock, random: random.fork("provider") }),
    settings: defaultSettings,
    clock,
    random: random.fork("operator"),
    log: loggerTo((line) => lines.push(line)),
    metrics: promMetrics().metrics,
    openBudget: realBudgets,
    serverVersion: async () => ({ major: 1, minor: 36 }),
    identity: "bench",
    leaderElection: { name: "karpenter-leader-election", namespace: "karpenter" },
  });
  await Promise.all([machines.started, operator.started]);
  const [startedAt, cpuAt] = [performance.now(), process.cpuUsage()];
  await createMixedObjects(client);
  while (!(await areAllRunning(client, mixedCount))) {
    await sleep(lookEveryMs);
    if (performance.now() - startedAt > patienceMs)
      throw new Error(`${await runningPods(client)} pods run after 5 min`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuAt);
  const { nodes, price } = await nodesAndPrice(client);
  await operator.stop();
  await machines.stop();
  cloud.close();
  close();
  controller.close();
  const rounds = lines
    .filter(({ message }) => message.startsWith("computed new nodeclaim"))
    .map(({ values }) => `${values["nodeclaims"]} for ${values["pods"]}`);
  return {
    rounds: rounds.join(", "),
    seconds,
    cpuSeconds: (user + system) / 1e6,
    nodes,
    price,
    overBound: price / resourceBound(),
  };
}

const plane = await startControlPlane();
try {
  const figures = await scaleOut(plane);
  show(`${mixedCount} mixed pods from zero, real control plane`, [
    below("real time until all run", figures.seconds, { bar: barSeconds, unit: "s" }),
    told("CPU time of controller, cloud and kubelets", `${figures.cpuSeconds.toFixed(1)} s`),
    told("nodes planned for pods, by round", figures.rounds),
    told("nodes", String(figures.nodes)),
    told("price", `$${figures.price.toFixed(2)}/h, ${figures.overBound.toFixed(3)} over the resource bound`),
  ]);
} finally {
  await plane.stop();
}
