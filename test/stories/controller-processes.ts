import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import { defaultSettings, type Settings } from "../../src/controllers/settings.ts";
import type { OpenWorkBudget } from "../../src/controllers/work-budget.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type RunningOperator, startOperator } from "../../src/operator/operator.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { kwokNodes } from "../../src/providers/kwok/kwok-nodes.ts";
import { kwokProvider } from "../../src/providers/kwok/kwok-provider.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import type { Clock } from "../../src/util/clock.ts";
import type { Random } from "../../src/util/random.ts";
import { FaultPlan } from "../world/faults/fault-plan.ts";
import { FaultyClient } from "../world/faults/faulty-client.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { recordingMetrics } from "../world/recording-metrics.ts";
import type { StoryCluster } from "./story.ts";

/** What the machines are: those of the simulated cloud, or Nodes alone, as the KWOK provider makes them. */
export type InstanceKind = "simulated" | "nodes";

/** Where and when a story begins. */
export interface StoryStart {
  readonly now: number;
  readonly namespace: string;
}

export interface ControllerProcessesOptions {
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKind?: InstanceKind | undefined;
  readonly settings?: Partial<Settings> | undefined;
  readonly openBudget: OpenWorkBudget;
  /** Where all of them write their log. */
  readonly lines: LogLine[];
  /** Lets so much of the cluster's time pass. */
  readonly advance: (ms: number) => Promise<void>;
}

/** The controllers of a story, one after the other or side by side. */
export interface ControllerProcesses extends Pick<StoryCluster, "restart" | "rival" | "series" | "upgrade"> {
  readonly running: () => RunningOperator;
  readonly stop: () => Promise<void>;
}

const leaderElection = { name: "karpenter-leader-election", namespace: "karpenter" };

/** A crash is modelled by dropping the operator: its client does nothing any more. (docs/designs/determinism.md) */
export function controllerProcesses({
  client,
  cloud,
  clock,
  random,
  lines,
  advance,
  ...options
}: ControllerProcessesOptions): ControllerProcesses {
  let lives = 0;
  const metrics = recordingMetrics();
  const seller = (own: KubeClient, dice: Random): CloudProvider =>
    options.instanceKind === "nodes"
      ? kwokProvider({
          client: own,
          clock,
          catalogue: kwokInstanceTypes(),
          kwokNodes: kwokNodes({ client: own, clock }),
        })
      : simulatedProvider({ cloud, client: own, clock, random: dice });
  const start = () => {
    const life = `controller-${++lives}`;
    const own = new FaultyClient({ client, clock, plan: new FaultPlan({ random }) });
    const operator = startOperator({
      client: own,
      leaseClient: own,
      provider: seller(own, random.fork(`${life}-provider`)),
      settings: { ...defaultSettings, ...options.settings },
      clock,
      random: random.fork(life),
      log: recordingLog(lines),
      metrics,
      openBudget: options.openBudget,
      identity: life,
      leaderElection,
    });
    return { operator, die: () => own.kill() };
  };
  /** Time must pass while it finishes what it is at. */
  const end = async (operator: RunningOperator) => {
    let isOver = false;
    void operator.stop().finally(() => {
      isOver = true;
    });
    while (!isOver) await advance(500);
  };
  let current = start();
  return {
    running: () => current.operator,
    series: () => metrics.series,
    restart: async () => {
      current.die();
      void current.operator.stop();
      current = start();
      await advance(1_000);
    },
    rival: async () => {
      const other = start();
      await advance(1_000);
      return () => end(other.operator);
    },
    upgrade: async () => {
      await end(current.operator);
      current = start();
      await advance(1_000);
    },
    stop: () => current.operator.stop(),
  };
}
