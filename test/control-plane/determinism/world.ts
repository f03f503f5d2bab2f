import { createHash } from "node:crypto";
import { defaultInstance, InstanceList } from "../../../src/cloud/instance-source.ts";
import type { ApiServer } from "../../../src/control-plane/api/server.ts";
import type { InProcessClient } from "../../../src/control-plane/in-process-client.ts";
import { isInternalFailure, startSimulatedCluster } from "../../../src/control-plane/simulated-cluster.ts";
import type { RunningControllers } from "../../../src/kube/controller.ts";
import type { Random } from "../../../src/util/random.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { type ApiWorld, apiWorld, startAt } from "../../world/api-world.ts";
import { CrashError } from "../../world/faults/crash-error.ts";
import { type ClientFaultRates, FaultPlan } from "../../world/faults/fault-plan.ts";
import { FaultyClient } from "../../world/faults/faulty-client.ts";
import { type LoggedWrite, WriteLog } from "../../world/write-log.ts";

export interface WorldOptions {
  readonly seed: string;
  readonly nodes: number;
  readonly rates?: ClientFaultRates;
  /** Whether writes are logged, for comparing runs. */
  readonly isLogged?: boolean;
  readonly recordsEvents?: boolean;
}

/** The simulated cluster on a bad network, and a log of everything that was written. */
export class World {
  readonly clock: VirtualClock;
  readonly api: ApiServer;
  /** For users of the cluster, whose network is good. */
  readonly client: InProcessClient;
  readonly instances: InstanceList;
  readonly pass: ApiWorld["pass"];
  /** One line a write, to see where two runs differ. */
  readonly lines: string[] = [];
  /** Failures of controllers that no retry will mend. */
  readonly surprises: unknown[] = [];
  readonly faults = new Map<string, number>();
  readonly #hash = createHash("sha256");
  readonly #options: WorldOptions;
  readonly #random: Random;
  #cluster: RunningControllers | undefined;
  #starts = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    const onWrite = ({ line, body }: LoggedWrite) => {
      this.lines.push(line);
      this.#hash.update(`${line} ${body}\n`);
    };
    this.clock = new VirtualClock({ startAt });
    const journal = options.isLogged ? new WriteLog({ now: () => this.clock.now(), onWrite }) : undefined;
    const world = apiWorld({ clock: this.clock, seed: options.seed, fieldManager: "people", journal });
    this.api = world.api;
    this.client = world.client;
    this.pass = world.pass;
    this.#random = world.random;
    this.instances = new InstanceList(
      Array.from({ length: options.nodes }, (_, at) => defaultInstance(at + 1, { launchedAt: startAt })),
    );
  }

  /** A hash of the whole log. */
  fingerprint(): string {
    return this.#hash.copy().digest("hex");
  }

  get random(): Random {
    return this.#random.fork("people");
  }

  /** Starts the controllers of the cluster, after a crash with nothing remembered. */
  start({ crashAtCall }: { readonly crashAtCall?: number } = {}): void {
    const random = this.#random.fork(`life-${this.#starts++}`);
    const { rates, recordsEvents } = this.#options;
    const plan = new FaultPlan({ random: random.fork("faults"), rates, crashAtCall });
    this.#cluster = startSimulatedCluster({
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
    const stopping = this.#cluster?.stop();
    this.#cluster = undefined;
    let isStopped = false;
    stopping?.then(() => {
      isStopped = true;
    });
    for (let turn = 0; !isStopped && stopping !== undefined && turn < 1_000; turn++) await this.clock.advance(10);
    await stopping;
  }
}
