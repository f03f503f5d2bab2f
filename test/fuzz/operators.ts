import { noMetrics } from "../../src/controllers/metrics/metrics.ts";
import { defaultSettings } from "../../src/controllers/settings.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type RunningOperator, startOperator } from "../../src/operator/operator.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import type { Logger } from "../../src/util/logger.ts";
import type { Random } from "../../src/util/random.ts";
import type { VirtualClock } from "../../src/util/virtual-clock.ts";
import { CrashError } from "../world/faults/crash-error.ts";
import { FaultPlan } from "../world/faults/fault-plan.ts";
import { FaultyClient } from "../world/faults/faulty-client.ts";
import { stepBudget } from "../world/step-budget.ts";
import type { Guard } from "./guard.ts";
import { cloudFor } from "./machines.ts";
import { chance } from "./objects.ts";
import type { Story } from "./story.ts";

export interface OperatorsOptions {
  readonly story: Story;
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly kwokTypes: readonly InstanceType[];
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly guard: Guard;
  readonly log: Logger;
  readonly onFault: (fault: string) => void;
}

/** One process, from its start to its crash. */
interface Life {
  readonly operator: RunningOperator;
  readonly plan: FaultPlan;
  readonly client: FaultyClient;
}

const longestBackMs = 30_000;
const mostCalls = 1_500;
const mostCloudCalls = 40;

/** The operators of a cluster: each is started again after it crashed, with an empty memory. (docs/designs/determinism.md, 05:CP-T4) */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #lives: (Life | undefined)[];
  /** Once the world is calm nothing goes wrong any more. */
  #isCalm = false;
  #isOver = false;
  #started = 0;
  /** How long whoever dies now stays away. */
  #awayMs = 0;

  constructor(options: OperatorsOptions) {
    this.#options = options;
    this.#lives = Array.from({ length: options.story.operators }, () => undefined);
    for (const seat of this.#lives.keys()) this.#start(seat);
  }

  get started(): number {
    return this.#started;
  }

  /** Dies between two calls, and comes back later. */
  kill(at: number, awayMs: number): void {
    const seat = at % this.#lives.length;
    this.#awayMs = awayMs;
    this.#lives[seat]?.client.kill();
    this.#awayMs = 0;
  }

  calmDown(): void {
    this.#isCalm = true;
    for (const life of this.#lives) life?.plan.setRates({});
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives.map((life) => life?.operator.stop()));
  }

  #start(seat: number): void {
    if (this.#isOver || this.#lives[seat] !== undefined) return;
    const { story, client, cloud, clock, kwokTypes, guard, log, onFault } = this.#options;
    const name = `life-${this.#started++}`;
    const random = this.#options.random.fork(name);
    const fate = this.#fate(random.fork("fate"));
    const plan = new FaultPlan({
      random: random.fork("faults"),
      rates: this.#isCalm ? {} : story.weather.calls,
      crashAtCall: fate.crashAtCall,
    });
    let isDead = false;
    const dies = () => {
      isDead = true;
      const backMs = Math.max(this.#awayMs, random.fork("back").int(longestBackMs));
      clock.setTimer(0, () => this.#ended(seat, backMs)); // it may die before it has quite begun
    };
    const own = new FaultyClient({ client: guard.guarded(client), clock, plan, onFault, onCrash: dies });
    let cloudCalls = 0;
    const assertAlive = () => {
      if (isDead) throw new CrashError(plan.calls);
    };
    const owned = cloudFor(cloud, {
      reach: (call, about) => {
        assertAlive();
        if (call === "terminate") guard.terminates(String(about));
        if (!this.#isCalm && ++cloudCalls === fate.crashAtCloudCall) clock.setTimer(0, () => own.kill());
      },
      hear: assertAlive,
    });
    const heard = listening(own, guard);
    const operator = startOperator({
      client: heard,
      leaseClient: heard,
      provider: simulatedProvider({ cloud: owned, client: heard, clock, random: random.fork("provider"), kwokTypes }),
      settings: { ...defaultSettings, gates: story.gates },
      clock,
      random: random.fork("operator"),
      log: log.with({ life: name }),
      metrics: noMetrics,
      openBudget: stepBudget(),
      identity: name,
      ...(story.operators > 1 && { leaderElection: { name: "karpenter-leader-election", namespace: "karpenter" } }),
      onLeaseLost: () => own.kill(),
    });
    this.#lives[seat] = { operator, plan, client: own };
  }

  #fate(random: Random): { readonly crashAtCall?: number; readonly crashAtCloudCall?: number } {
    if (this.#isCalm || !chance(random, this.#options.story.weather.crashes)) return {};
    if (chance(random, 0.3)) return { crashAtCloudCall: 1 + random.int(mostCloudCalls) };
    return { crashAtCall: 1 + Math.floor(mostCalls ** random.next()) };
  }

  #ended(seat: number, backMs: number): void {
    const life = this.#lives[seat];
    this.#lives[seat] = undefined;
    void life?.operator.stop(); // what is left of it winds up; nothing it does happens
    this.#options.clock.setTimer(backMs, () => this.#start(seat));
  }
}

/** Notices which claims were made without their maker hearing of it. */
function listening(client: KubeClient, guard: Guard): KubeClient {
  return {
    get: (type, key) => client.get(type, key),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: async (type, object, options) => {
      const before = guard.creations.length;
      try {
        return await client.create(type, object, options);
      } catch (error) {
        if (type.kind === "NodeClaim") for (const { name } of guard.creations.slice(before)) guard.unheard(name);
        throw error;
      }
    },
    update: (type, object, options) => client.update(type, object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    delete: (type, key, options) => client.delete(type, key, options),
  };
}
