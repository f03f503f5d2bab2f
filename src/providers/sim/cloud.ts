import { CloudError } from "../../cloud/error.ts";
import type { InstanceSource, KubeletHealth, SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import { type CloudCall, type Fault, type FaultKind, type FaultRates, Faults } from "./faults.ts";
import type { Blueprint, Delivery, Machine, Order } from "./machine.ts";
import { Machines } from "./machines.ts";
import { Market, type OfferingPattern } from "./market.ts";
import { type NoticeKind, Notices } from "./notices.ts";
import { defaultSimulation, type Range, type SimulationSettings } from "./settings.ts";

/** One call a provider made, for logs and fingerprints. (design §8) */
export interface CloudCallEntry {
  /** When it was answered, in milliseconds since the epoch. */
  readonly at: number;
  readonly call: CloudCall;
  readonly about: string;
  /** `ok`, a code of `CloudError`, or the fault that hid what happened. */
  readonly outcome: string;
  /** What went wrong with it, on purpose. */
  readonly fault?: FaultKind | undefined;
}

export interface SimulatedCloudOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings?: Partial<SimulationSettings> | undefined;
  readonly onCall?: ((entry: CloudCallEntry) => void) | undefined;
}

/** How long a spot machine has after its notice. */
const noticeMs = 2 * 60_000;
const schemes = ["kwok://", "aws:///"];

/**
 * A cloud in memory: machines exist apart from Nodes, cost time to start and to end, run out, change price and get lost.
 * It outlives the controllers that use it, so they may crash; everything it draws comes from its seed.
 */
export class SimulatedCloud implements InstanceSource {
  readonly market = new Market();
  readonly notices = new Notices();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #latency: Random;
  readonly #settings: SimulationSettings;
  readonly #faults: Faults;
  readonly #onCall: (entry: CloudCallEntry) => void;
  readonly #machines = new Machines();
  readonly #launches = new Map<string, number>();
  readonly #handlers = new Set<(instance: SimulatedInstance) => void>();
  readonly #timers = new Set<Timer>();

  constructor({ clock, random, settings, onCall = () => {} }: SimulatedCloudOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#latency = random.fork("latency");
    this.#settings = { ...defaultSimulation, ...settings };
    this.#faults = new Faults({ random: random.fork("faults"), rates: this.#settings.faults });
    this.#onCall = onCall;
  }

  // What kubelets see.

  list(): readonly SimulatedInstance[] {
    return this.#machines.instances();
  }

  subscribe(handler: (instance: SimulatedInstance) => void): () => void {
    const own = (instance: SimulatedInstance): void => handler(instance);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }

  owns(providerId: string): boolean {
    return schemes.some((scheme) => providerId.startsWith(scheme));
  }

  // What providers call.

  /** Launches the first wish that is in stock, or finds the machine this token was launched before. */
  launch(order: Order): Promise<Delivery> {
    return this.#call("create", order.claimName, (fault) => this.#deliver(order, { isDud: fault?.kind === "dud" }));
  }

  /** Begins a machine's end. */
  terminate(providerId: string): Promise<void> {
    return this.#call("delete", providerId, () => {
      const machine = this.#existing(providerId);
      if (!machine.isTerminating) this.#end(machine);
    });
  }

  describe(providerId: string): Promise<Machine> {
    return this.#call("get", providerId, () => this.#existing(providerId));
  }

  describeAll(): Promise<readonly Machine[]> {
    return this.#call("list", "", () => this.machines());
  }

  // What is done to it.

  setStock(pattern: OfferingPattern, count: number): void {
    this.market.setStock(pattern, count);
  }

  setPrice(pattern: OfferingPattern, usdPerHour: number): void {
    this.market.setPrice(pattern, usdPerHour);
  }

  /** The next calls of the kind go wrong like this. */
  failNext(call: CloudCall, fault: Fault, times = 1): void {
    this.#faults.failNext(call, fault, times);
  }

  setFaultRates(rates: FaultRates): void {
    this.#faults.setRates(rates);
  }

  /** A notice now, and the machine is gone soon after, whatever anybody does. */
  interrupt(machine: string, { inMs = noticeMs }: { readonly inMs?: number } = {}): void {
    const { instance } = this.#named(machine);
    this.notify(machine, "spot_interrupted");
    this.#later(inMs, () => this.#gone(instance.id));
  }

  /** Only says so. */
  notify(machine: string, kind: NoticeKind): void {
    const { providerId } = this.#named(machine).instance;
    this.notices.put({ kind, providerId, at: this.#clock.now() });
  }

  /** The machine is gone from one moment to the next. */
  vanish(machine: string): void {
    this.#gone(this.#named(machine).instance.id);
  }

  /** A fault of its kubelet, or the end of one. */
  setKubelet(machine: string, kubelet: KubeletHealth): void {
    const found = this.#named(machine);
    this.#put({ ...found, instance: { ...found.instance, kubelet } });
  }

  /** Machines it had when it was last running. */
  restore(machines: Iterable<Machine>): void {
    for (const machine of machines) {
      this.#put(machine);
      if (machine.isTerminating) this.#end(machine);
    }
  }

  /** Those not gone yet, by id. */
  machines(): readonly Machine[] {
    return this.#machines.sorted();
  }

  /** The machine a claim got, by the claim's uid. */
  machineOf(token: string): Machine | undefined {
    return this.#machines.of(token);
  }

  /** By id, provider id or name of its Node. */
  find(name: string): Machine | undefined {
    return this.#machines.named(name);
  }

  /** Nothing more happens by itself; a process may end. */
  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #deliver(order: Order, { isDud }: { readonly isDud: boolean }): Delivery {
    const before = this.machineOf(order.token);
    if (before !== undefined) return { kind: "launched", machine: before, soldOut: [] };
    const soldOut: OfferingKey[] = [];
    for (const wish of order.wishes) {
      if (!this.market.take(wish.key, wish.reserved)) soldOut.push(wish.key);
      else return { kind: "launched", machine: this.#start(order, { wish, isDud }), soldOut };
    }
    return { kind: "sold-out", soldOut };
  }

  #start(order: Order, { wish, isDud }: { readonly wish: Order["wishes"][number]; readonly isDud: boolean }): Machine {
    const attempt = (this.#launches.get(order.token) ?? 0) + 1;
    this.#launches.set(order.token, attempt);
    const random = this.#random.fork(`${order.token}/${attempt}`);
    const { imageId, ...blueprint } = this.#unique(() => wish.draw(random));
    const instance: SimulatedInstance = {
      ...blueprint,
      launchedAt: this.#clock.now(),
      bootMs: blueprint.bootMs ?? drawn(this.#settings.bootMs, random),
      readyMs: drawn(this.#settings.readyMs, random),
      state: "running",
      kubelet: isDud ? "silent" : "healthy",
    };
    const { token, claimName } = order;
    const { key, price } = wish;
    const machine: Machine = { instance, key, price, token, claimName, imageId, isTerminating: false };
    this.#put(machine);
    return machine;
  }

  #unique(draw: () => Blueprint): Blueprint {
    for (;;) {
      const blueprint = draw();
      if (!this.#machines.isTaken(blueprint)) return blueprint;
    }
  }

  #end(machine: Machine): void {
    const { id } = machine.instance;
    const random = this.#random.fork(`${id}/end`);
    this.#put({ ...machine, isTerminating: true });
    this.#later(drawn(this.#settings.terminateMs, random), () => this.#gone(id));
  }

  #gone(id: string): void {
    const machine = this.#machines.get(id);
    if (machine === undefined) return;
    this.#machines.remove(machine);
    this.market.giveBack(machine.key);
    this.#tell({ ...machine.instance, state: "terminated" });
  }

  #later(ms: number, run: () => void): void {
    const timer = this.#clock.setTimer(ms, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  #put(machine: Machine): void {
    const { instance } = machine;
    const isNews = this.#machines.get(instance.id)?.instance !== instance;
    this.#machines.put(machine);
    if (isNews) this.#tell(instance);
  }

  #tell(instance: SimulatedInstance): void {
    for (const handler of [...this.#handlers]) handler(instance);
  }

  #existing(providerId: string): Machine {
    const machine = this.#machines.named(providerId);
    if (machine === undefined) throw new CloudError("not-found", `no machine ${providerId}`);
    return machine;
  }

  #named(name: string): Machine {
    const found = this.#machines.named(name);
    if (found === undefined) throw new Error(`the simulated cloud has no machine ${name}`);
    return found;
  }

  /** The way there, what happens, the way back: a caller that crashes may do so before or after it. */
  async #call<T>(call: CloudCall, about: string, effect: (fault: Fault | undefined) => T): Promise<T> {
    const fault = this.#faults.next(call);
    const outcome = (text: string): void =>
      this.#onCall({ at: this.#clock.now(), call, about, outcome: text, fault: fault?.kind });
    const slowMs = fault?.kind === "slow" ? fault.ms : 0;
    const ms = drawn(this.#settings.latencyMs, this.#latency) + slowMs;
    await this.#clock.sleep(Math.floor(ms / 2));
    try {
      if (fault?.kind === "failed") throw new Error(fault.message ?? `${call} ${about}: the simulated cloud is unwell`);
      if (fault?.kind === "refused") throw fault.error;
      const result = effect(fault);
      await this.#clock.sleep(Math.ceil(ms / 2));
      if (fault?.kind === "lost") throw new Error(`${call} ${about}: no answer from the simulated cloud`);
      outcome("ok");
      return result;
    } catch (error) {
      outcome(error instanceof CloudError ? error.code : (fault?.kind ?? "failed"));
      throw error;
    }
  }
}

function drawn([least, most]: Range, random: Random): number {
  return least + random.int(most - least + 1);
}
