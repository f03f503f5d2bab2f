import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import type { Settings } from "../../src/controllers/settings.ts";
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
import { type ClientFaultRates, FaultPlan } from "../world/faults/fault-plan.ts";
import { FaultyClient } from "../world/faults/faulty-client.ts";
import { operatorDefaults } from "../world/operator-defaults.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { recordingMetrics } from "../world/recording-metrics.ts";
import type { StoryCluster } from "./story.ts";

/** What instances are: those of the simulated cloud, or Nodes alone, as the KWOK provider makes them. */
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
  readonly openBudget?: OpenWorkBudget | undefined;
  /** All of them log to it. */
  readonly lines: LogLine[];
  /** Lets so much of the cluster's time pass. */
  readonly advance: (ms: number) => Promise<void>;
  /** What the controllers may do of what the client can; everything, unless given. */
  readonly asController?: ((client: KubeClient) => KubeClient) | undefined;
  /** How late the answers and events of the server are; nothing is, unless given. */
  readonly delays?: ClientFaultRates | undefined;
  /** Told when a controller ends, is killed, or another one joins: for a while nobody leads. */
  readonly onHandover?: (() => void) | undefined;
}

/** The controller processes of a story, one after the other or side by side. */
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
  let started = 0;
  const metrics = recordingMetrics();
  const defaults = operatorDefaults();
  const providerFor = (own: KubeClient, name: string): CloudProvider =>
    options.instanceKind === "nodes"
      ? kwokProvider({
          client: own,
          clock,
          catalogue: kwokInstanceTypes(),
          kwokNodes: kwokNodes({ client: own, clock }),
        })
      : simulatedProvider({ cloud, client: own, clock, random: random.fork(`${name}-provider`) });
  const start = () => {
    const identity = `controller-${++started}`;
    options.onHandover?.();
    const plan = new FaultPlan({ random: random.fork(identity).fork("delays"), rates: options.delays });
    const own = new FaultyClient({ client: options.asController?.(client) ?? client, clock, plan });
    const operator = startOperator({
      ...defaults,
      client: own,
      leaseClient: own,
      provider: providerFor(own, identity),
      settings: { ...defaults.settings, ...options.settings },
      clock,
      random: random.fork(identity),
      log: recordingLog(lines),
      metrics,
      ...(options.openBudget && { openBudget: options.openBudget }),
      identity,
      leaderElection,
    });
    return { operator, kill: () => own.kill() };
  };
  /** Stops it in good order; time passes meanwhile. */
  const end = async (operator: RunningOperator) => {
    let isOver = false;
    void operator.stop().finally(() => {
      isOver = true;
    });
    while (!isOver) await advance(500);
    options.onHandover?.();
  };
  let current = start();
  return {
    running: () => current.operator,
    series: () => metrics.series,
    restart: async () => {
      current.kill();
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
