import { createHash } from "node:crypto";
import { defaultInstance, InstanceList } from "../../../src/cloud/instance-source.ts";
import { ApiServer } from "../../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../../src/control-plane/in-process-client.ts";
import { isInternalFailure, startSimulatedCluster } from "../../../src/control-plane/simulated-cluster.ts";
import type { RunningControllers } from "../../../src/kube/controller.ts";
import { Random } from "../../../src/util/random.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { CrashError } from "../../world/faults/crash-error.ts";
import { type ClientFaultRates, FaultPlan } from "../../world/faults/fault-plan.ts";
import { FaultyClient } from "../../world/faults/faulty-client.ts";
import { WriteLog } from "../../world/write-log.ts";

export interface WorldOptions {
  readonly seed: string;
  readonly nodes: number;
  readonly rates?: ClientFaultRates;
  /** Whether the log is kept for comparing. */
  readonly isLogged?: boolean;
  readonly recordsEvents?: boolean;
}

/** A whole cluster in virtual time: API server, loops behind a bad network, and the log of all that was written. */
export class World {
  readonly clock: VirtualClock;
  readonly api: ApiServer;
  /** Of the people who use the cluster: their network is good. */
  readonly client: InProcessClient;
  readonly instances: InstanceList;
  /** When, what, which: for a look at where two runs part. */
  readonly lines: string[] = [];
  /** What went wrong in loops and no retry mends. */
  readonly surprises: unknown[] = [];
  readonly faults = new Map<string, number>();
  readonly #hash = createHash("sha256");
  readonly #options: WorldOptions;
  readonly #random: Random;
  #loops: RunningControllers | undefined;
  #lives = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const startAt = Date.parse("2026-01-01T00:00:00Z");
    this.clock = new VirtualClock({ startAt });
    const hear = ({ line, body }: { line: string; body: string }) => {
      this.lines.push(line);
      this.#hash.update(`${line} ${body}\n`);
    };
    const journal =
      options.isLogged === true ? new WriteLog({ now: () => this.clock.now(), onWrite: hear }) : undefined;
    this.api = new ApiServer({ clock: this.clock, random: this.#random.fork("api"), journal });
    this.client = new InProcessClient(this.api, { fieldManager: "people" });
    const machines = Array.from({ length: options.nodes }, (_, at) => defaultInstance(at + 1, { launchedAt: startAt }));
    this.instances = new InstanceList(machines);
  }

  /** Of the whole log. */
  fingerprint(): string {
    return this.#hash.copy().digest("hex");
  }

  get random(): Random {
    return this.#random.fork("people");
  }

  /** Starts the loops, or after a crash new ones with empty memory. */
  start({ crashAtCall }: { readonly crashAtCall?: number } = {}): void {
    const random = this.#random.fork(`life-${this.#lives++}`);
    const { rates, recordsEvents } = this.#options;
    const plan = new FaultPlan({ random: random.fork("faults"), rates, crashAtCall });
    this.#loops = startSimulatedCluster({
      api: this.api,
      clock: this.clock,
      random: random.fork("loops"),
      instances: this.instances,
      recordsEvents,
      wrapClient: (client) =>
        rates === undefined && crashAtCall === undefined
          ? client
          : new FaultyClient({
              client,
              clock: this.clock,
              plan,
              onFault: (fault) => this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1),
            }),
      onFailure: (trouble) => {
        if (isInternalFailure(trouble) && !(trouble.error instanceof CrashError)) this.surprises.push(trouble);
      },
    });
  }

  async stop(): Promise<void> {
    const stopping = this.#loops?.stop();
    this.#loops = undefined;
    let isStopped = false;
    stopping?.then(() => {
      isStopped = true;
    });
    for (let turn = 0; !isStopped && stopping !== undefined && turn < 1_000; turn++) await this.clock.advance(10);
    await stopping;
  }

  async pass(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }
}
