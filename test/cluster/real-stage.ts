import { setTimeout as sleep } from "node:timers/promises";
import { InstanceList } from "../../src/cloud/instance-source.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import type { LogLine } from "../controllers/recording-log.ts";
import { controllerLives, type FleetKind, type Scene } from "../stories/lives.ts";
import { stageOver } from "../stories/stage.ts";
import type { Stage, Story } from "../stories/story.ts";
import type { Connection } from "./kube.ts";
import { quickMachines, startMachines } from "./machines.ts";
import { realBudgets } from "./real-budgets.ts";
import { realClient } from "./real-client.ts";
import { createNamespace } from "./sweep.ts";

/** Real time is dear. */
const quickBatches: Partial<Settings> = { batchIdleMs: 200, batchMaxMs: 1_000 };
/** Between two looks of a story at its cluster. */
const glanceMs = 250;

export interface RealStageOptions extends Pick<Story, "volumes"> {
  readonly connection: Connection;
  readonly namespace: string;
  readonly settings?: Partial<Settings> | undefined;
  readonly fleet?: FleetKind | undefined;
  /** What is there before our controller comes. */
  readonly before?: ((client: KubeClient, scene: Scene) => Promise<void>) | undefined;
}

/** The real control plane, with our controller, machines that are simulated, and their kubelets. */
export async function realStage(options: RealStageOptions): Promise<Stage & { close(): Promise<void> }> {
  const { connection, namespace, fleet } = options;
  const clock = systemClock();
  const random = new Random(`${namespace}-${clock.now()}`);
  const { client, close } = realClient(connection);
  for (const name of ["karpenter", namespace]) await createNamespace(client, name);
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud"), settings: quickMachines });
  const lines: LogLine[] = [];
  const instances = fleet === "nodes" ? new InstanceList() : cloud;
  const machines = startMachines({ client, instances, random, lines, volumes: options.volumes });
  await options.before?.(client, { now: clock.now(), namespace });
  const advance = (ms: number) => sleep(ms);
  const settings = { ...quickBatches, ...options.settings };
  const lives = controllerLives({
    client,
    cloud,
    fleet,
    clock,
    random,
    settings,
    lines,
    advance,
    budgets: realBudgets,
  });
  await machines.started;
  if (options.before === undefined) await lives.running().started; // otherwise another may lead still
  const stage = stageOver({ ...lives, client, cloud, namespace, clock, lines, advance, glanceMs });
  return {
    ...stage,
    close: async () => {
      await lives.stop();
      await machines.stop();
      cloud.close();
      close();
    },
  };
}
