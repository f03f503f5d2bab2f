import { setTimeout as sleep } from "node:timers/promises";
import { InstanceList } from "../../src/cloud/instance-source.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import {
  type ControllerProcessesOptions,
  controllerProcesses,
  type InstanceKind,
  type StoryStart,
} from "../stories/controller-processes.ts";
import type { Story, StoryCluster } from "../stories/story.ts";
import { storyCluster } from "../stories/story-cluster.ts";
import type { LogLine } from "../world/recording-log.ts";
import type { Connection } from "./kube.ts";
import { realBudgets } from "./real-budgets.ts";
import { realClient } from "./real-client.ts";
import { quickInstances, startSimulatedNodes } from "./simulated-nodes.ts";
import { createNamespace } from "./sweep.ts";

/** Short windows, because these tests wait in real time. */
const quickBatches: Partial<Settings> = { batchIdleMs: 200, batchMaxMs: 1_000 };
/** How often a story looks whether what it waits for is there. */
const pollMs = 250;

export interface RealClusterOptions extends Pick<Story, "volumes"> {
  readonly connection: Connection;
  readonly namespace: string;
  readonly settings?: Partial<Settings> | undefined;
  readonly instanceKind?: InstanceKind | undefined;
  readonly asController?: ControllerProcessesOptions["asController"];
  /** Prepares the cluster before our controller starts. */
  readonly before?: ((client: KubeClient, scene: StoryStart) => Promise<void>) | undefined;
}

/** The real control plane with our controller; instances and their kubelets are simulated. */
export async function realCluster(options: RealClusterOptions): Promise<StoryCluster & { close(): Promise<void> }> {
  const { connection, namespace, instanceKind } = options;
  const clock = systemClock();
  const random = new Random(`${namespace}-${clock.now()}`);
  const { client, close } = realClient(connection);
  for (const name of ["karpenter", namespace]) await createNamespace(client, name);
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud"), settings: quickInstances });
  const lines: LogLine[] = [];
  const instances = instanceKind === "nodes" ? new InstanceList() : cloud;
  const machines = startSimulatedNodes({ client, instances, random, lines, volumes: options.volumes });
  await options.before?.(client, { now: clock.now(), namespace });
  const advance = (ms: number) => sleep(ms);
  const settings = { ...quickBatches, ...options.settings };
  const lives = controllerProcesses({
    client,
    cloud,
    instanceKind,
    clock,
    random,
    settings,
    lines,
    advance,
    openBudget: realBudgets,
    asController: options.asController,
  });
  await machines.started;
  if (options.before === undefined) await lives.running().started; // otherwise another may lead still
  const cluster = storyCluster({ ...lives, client, cloud, namespace, clock, lines, advance, pollMs });
  return {
    ...cluster,
    close: async () => {
      await lives.stop();
      await machines.stop();
      cloud.close();
      close();
    },
  };
}
