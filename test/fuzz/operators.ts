import { versionInfo } from "../../src/control-plane/http/version.ts";
import { noMetrics } from "../../src/controllers/metrics/metrics.ts";
import { defaultSettings } from "../../src/controllers/settings.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { parseServerVersion } from "../../src/kube/server-version.ts";
import { type RunningOperator, startOperator } from "../../src/operator/operator.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import type { Logger } from "../../src/util/logger.ts";
import type { Random } from "../../src/util/random.ts";
import type { VirtualClock } from "../../src/util/virtual-clock.ts";
import { CrashError } from "../world/faults/crash-error.ts";
import { FaultPlan } from "../world/faults/fault-plan.ts";
import { FaultyClient } from "../world/faults/faulty-client.ts";
import { interceptCalls } from "../world/intercept-calls.ts";
import { stepBudget } from "../world/step-budget.ts";
import type { CallChecks } from "./call-checks.ts";
import { chance } from "./objects.ts";
import { processCloud } from "./process-cloud.ts";
import type { Story } from "./story.ts";

export interface OperatorsOptions {
  readonly story: Story;
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly kwokTypes: readonly InstanceType[];
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly checks: CallChecks;
  readonly log: Logger;
  readonly onFault: (fault: string) => void;
  /** A process is killed; for so long nobody need act. */
  readonly onKill: (ms: number) => void;
}

/** One process, until it crashes. */
interface OperatorProcess {
  readonly operator: RunningOperator;
  readonly plan: FaultPlan;
  readonly client: FaultyClient;
}

const maxRestartMs = 30_000;
const maxCallsBeforeCrash = 1_500;
const maxCloudCallsBeforeCrash = 40;

/** The operators of a cluster: each is started again after it crashed, with an empty memory. (docs/designs/determinism.md, 05:CP-T4) */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #processes: (OperatorProcess | undefined)[];
  /** At the end of a story nothing goes wrong any more. */
  #areFaultsOver = false;
  #isOver = false;
  #started = 0;
  /** How long a process that is killed now stays away. */
  #awayMs = 0;

  constructor(options: OperatorsOptions) {
    this.#options = options;
    this.#processes = Array.from({ length: options.story.operators }, () => undefined);
    for (const slot of this.#processes.keys()) this.#start(slot);
  }

  get started(): number {
    return this.#started;
  }

  /** Ends a process between two calls; it starts again later. */
  kill(at: number, awayMs: number): void {
    this.#options.onKill(awayMs + maxRestartMs);
    const slot = at % this.#processes.length;
    this.#awayMs = awayMs;
    this.#processes[slot]?.client.kill();
    this.#awayMs = 0;
  }

  stopFaults(): void {
    this.#areFaultsOver = true;
    for (const process of this.#processes) process?.plan.setRates(this.#options.story.delivery.delays);
    for (const slot of this.#processes.keys()) this.#start(slot); // nobody stays away any longer
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#processes.map((process) => process?.operator.stop()));
  }

  #start(slot: number): void {
    if (this.#isOver || this.#processes[slot] !== undefined) return;
    const { story, client, cloud, clock, kwokTypes, checks, log, onFault } = this.#options;
    const name = `life-${this.#started++}`;
    const random = this.#options.random.fork(name);
    const crash = this.#drawCrash(random.fork("fate"));
    const plan = new FaultPlan({
      random: random.fork("faults"),
      rates: this.#areFaultsOver ? story.delivery.delays : { ...story.delivery.delays, ...story.faults.calls },
      crashAtCall: crash.crashAtCall,
    });
    let isDead = false;
    const dies = () => {
      isDead = true;
      const backMs = Math.max(this.#awayMs, random.fork("back").int(maxRestartMs));
      this.#options.onKill(backMs); // it may have been meant to crash later than faults end
      clock.setTimer(0, () => this.#ended(slot, backMs)); // it may crash while it is being started
    };
    const own = new FaultyClient({ client: checks.checkedClient(client), clock, plan, onFault, onCrash: dies });
    let cloudCalls = 0;
    const assertAlive = () => {
      if (isDead) throw new CrashError(plan.calls);
    };
    const ownCloud = processCloud(cloud, {
      beforeCall: (call, about) => {
        assertAlive();
        if (call === "terminate") checks.checkTermination(String(about));
        if (!this.#areFaultsOver && ++cloudCalls === crash.crashAtCloudCall) clock.setTimer(0, () => own.kill());
      },
      beforeAnswer: assertAlive,
    });
    const ownClient = recordUnansweredCreations(own, checks);
    const operator = startOperator({
      client: ownClient,
      leaseClient: ownClient,
      provider: simulatedProvider({
        cloud: ownCloud,
        client: ownClient,
        clock,
        random: random.fork("provider"),
        kwokTypes,
      }),
      settings: { ...defaultSettings, gates: story.gates },
      clock,
      random: random.fork("operator"),
      log: log.with({ life: name }),
      metrics: noMetrics,
      openBudget: stepBudget(),
      serverVersion: async () => parseServerVersion(versionInfo),
      identity: name,
      ...(story.operators > 1 && { leaderElection: { name: "karpenter-leader-election", namespace: "karpenter" } }),
      onLeaseLost: () => own.kill(),
    });
    this.#processes[slot] = { operator, plan, client: own };
  }

  #drawCrash(random: Random): { readonly crashAtCall?: number; readonly crashAtCloudCall?: number } {
    if (this.#areFaultsOver || !chance(random, this.#options.story.faults.crashes)) return {};
    if (chance(random, 0.3)) return { crashAtCloudCall: 1 + random.int(maxCloudCallsBeforeCrash) };
    return { crashAtCall: 1 + Math.floor(maxCallsBeforeCrash ** random.next()) };
  }

  #ended(slot: number, backMs: number): void {
    const process = this.#processes[slot];
    this.#processes[slot] = undefined;
    void process?.operator.stop(); // its client is dead, so nothing it still does has an effect
    this.#options.clock.setTimer(backMs, () => this.#start(slot));
  }
}

/** Notes which claims were created although their creator got no answer. */
function recordUnansweredCreations(client: KubeClient, checks: CallChecks): KubeClient {
  return interceptCalls(client, async ({ verb, type }, proceed) => {
    const before = checks.creations.length;
    try {
      return await proceed();
    } catch (error) {
      if (verb === "create" && type.kind === "NodeClaim")
        for (const { name } of checks.creations.slice(before)) checks.markUnanswered(name);
      throw error;
    }
  });
}
