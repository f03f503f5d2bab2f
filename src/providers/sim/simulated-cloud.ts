import { CloudError } from "../../cloud/cloud-error.ts";
import type { InstanceSource, KubeletHealth, SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import type { Random } from "../../util/random.ts";
import type { InterruptionKind } from "../aws/interruption/interruption-kinds.ts";
import { kwokScheme } from "../kwok/kwok-nodes.ts";
import {
  type CloudCall,
  type CloudFault,
  type CloudFaultKind,
  type CloudFaultRates,
  CloudFaults,
} from "./cloud-faults.ts";
import type { FleetOverride, FleetRequest, FleetResult, InstanceRecord, InstanceTemplate } from "./fleet-request.ts";
import { InstanceRecords } from "./instance-records.ts";
import { InterruptionQueue } from "./interruption-queue.ts";
import { type OfferingPattern, OfferingSupply } from "./offering-supply.ts";
import { defaultSimulationSettings, type MsRange, type SimulationSettings } from "./simulation-settings.ts";

/** One provider call, for logs and determinism checks. (docs/designs/determinism.md) */
export interface CloudCallEntry {
  /** When it was answered, in milliseconds since the epoch. */
  readonly at: number;
  readonly call: CloudCall;
  readonly about: string;
  /** `ok`, a code of `CloudError`, or the kind of the fault that hid the answer. */
  readonly outcome: string;
  /** The fault that was injected. */
  readonly fault?: CloudFaultKind | undefined;
}

export interface SimulatedCloudOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings?: Partial<SimulationSettings> | undefined;
  readonly onCall?: ((entry: CloudCallEntry) => void) | undefined;
}

/** Time between a spot interruption message and the termination. */
const spotNoticeMs = 2 * 60_000;
/** Longer than any claim is retried: its token does not come again. */
const tokenMemoryMs = 60 * 60_000;
const schemes = [kwokScheme, "aws:///"];

/**
 * A cloud in memory: its instances exist apart from Nodes, take time to start and stop, can be unavailable, change price
 * and fail. It outlives the controllers, so that they may crash; all randomness comes from its seed.
 */
export class SimulatedCloud implements InstanceSource {
  readonly supply = new OfferingSupply();
  readonly interruptionQueue = new InterruptionQueue();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #latency: Random;
  readonly #settings: SimulationSettings;
  readonly #faults: CloudFaults;
  readonly #onCall: (entry: CloudCallEntry) => void;
  readonly #records = new InstanceRecords();
  /** How often an instance was launched for a token: the next one has another name. */
  readonly #launchCounts: ExpiringMap<number>;
  readonly #handlers = new Set<(instance: SimulatedInstance) => void>();
  readonly #timers = new Set<Timer>();

  constructor({ clock, random, settings, onCall = () => {} }: SimulatedCloudOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#latency = random.fork("latency");
    this.#settings = { ...defaultSimulationSettings, ...settings };
    this.#faults = new CloudFaults({ random: random.fork("faults"), rates: this.#settings.faults });
    this.#onCall = onCall;
    this.#launchCounts = new ExpiringMap(clock);
  }

  // Called by kubelets.

  list(): readonly SimulatedInstance[] {
    return this.#records.instances();
  }

  subscribe(handler: (instance: SimulatedInstance) => void): () => void {
    const own = (instance: SimulatedInstance): void => handler(instance);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }

  owns(providerId: string): boolean {
    return schemes.some((scheme) => providerId.startsWith(scheme));
  }

  // Called by providers.

  /** Launches the first available override, or returns the instance of this token. */
  launch(fleetRequest: FleetRequest): Promise<FleetResult> {
    return this.#call("create", fleetRequest.claimName, (fault) =>
      this.#launchFirstAvailable(fleetRequest, { hasSilentKubelet: fault?.kind === "silent-kubelet" }),
    );
  }

  /** Starts termination. */
  terminate(providerId: string): Promise<void> {
    return this.#call("delete", providerId, () => {
      const record = this.#describedRecord(providerId);
      if (!record.isTerminating) this.#beginTermination(record);
    });
  }

  describe(providerId: string): Promise<InstanceRecord> {
    return this.#call("get", providerId, () => this.#describedRecord(providerId));
  }

  describeAll(): Promise<readonly InstanceRecord[]> {
    return this.#call("list", "", () => this.records());
  }

  // Controls for tests and the sandbox.

  setAvailableCount(pattern: OfferingPattern, count: number): void {
    this.supply.setAvailableCount(pattern, count);
  }

  setPrice(pattern: OfferingPattern, usdPerHour: number): void {
    this.supply.setPrice(pattern, usdPerHour);
  }

  /** The next calls of this kind get the fault. */
  failNext(call: CloudCall, fault: CloudFault, times = 1): void {
    this.#faults.failNext(call, fault, times);
  }

  setFaultRates(rates: CloudFaultRates): void {
    this.#faults.setRates(rates);
  }

  /** Sends an interruption message; the instance is terminated after the notice period regardless. */
  interrupt(record: string, { inMs = spotNoticeMs }: { readonly inMs?: number } = {}): void {
    const { instance } = this.#mustFind(record);
    this.notify(record, "spot_interrupted");
    this.#after(inMs, () => this.#removeInstance(instance.id));
  }

  /** Only sends the message. */
  notify(record: string, kind: InterruptionKind): void {
    const { providerId } = this.#mustFind(record).instance;
    this.interruptionQueue.send({ kind, providerId, sentAt: this.#clock.now() });
  }

  /** The instance disappears at once. */
  vanish(record: string): void {
    this.#removeInstance(this.#mustFind(record).instance.id);
  }

  /** Sets the health of its kubelet. */
  setKubelet(record: string, kubelet: KubeletHealth): void {
    const found = this.#mustFind(record);
    this.#put({ ...found, instance: { ...found.instance, kubelet } });
  }

  /** Adds instances from before a restart. */
  restore(records: Iterable<InstanceRecord>): void {
    for (const record of records) {
      this.supply.addUsage(record.key);
      this.#put(record);
      if (record.isTerminating) this.#beginTermination(record);
    }
  }

  /** All instances that exist, by id. */
  records(): readonly InstanceRecord[] {
    return this.#records.list();
  }

  /** The instance of a NodeClaim, by the claim's uid. */
  recordOf(clientToken: string): InstanceRecord | undefined {
    return this.#records.byClientToken(clientToken);
  }

  /** Finds an instance by id, provider id or node name. */
  find(name: string): InstanceRecord | undefined {
    return this.#records.find(name);
  }

  /** Cancels all timers, so that the process can exit. */
  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #launchFirstAvailable(
    fleetRequest: FleetRequest,
    { hasSilentKubelet }: { readonly hasSilentKubelet: boolean },
  ): FleetResult {
    const before = this.recordOf(fleetRequest.clientToken);
    if (before !== undefined) return { kind: "launched", record: before, unavailable: [] };
    const unavailable: OfferingKey[] = [];
    const { maxInstances } = this.#settings;
    if (this.#records.size >= maxInstances) return { kind: "quota-exceeded", maxInstances, unavailable };
    for (const fleetOverride of fleetRequest.overrides) {
      if (this.supply.allocate(fleetOverride.key, fleetOverride.reservationCapacity)) {
        const record = this.#startInstance(fleetRequest, { fleetOverride, hasSilentKubelet });
        return { kind: "launched", record, unavailable };
      }
      unavailable.push(fleetOverride.key);
    }
    return { kind: "unavailable", unavailable };
  }

  #startInstance(
    fleetRequest: FleetRequest,
    { fleetOverride, hasSilentKubelet }: { readonly fleetOverride: FleetOverride; readonly hasSilentKubelet: boolean },
  ): InstanceRecord {
    const { clientToken, claimName } = fleetRequest;
    const attempt = (this.#launchCounts.get(clientToken) ?? 0) + 1;
    this.#launchCounts.set(clientToken, attempt, tokenMemoryMs);
    const random = this.#random.fork(`${clientToken}/${attempt}`);
    const { imageId, ...template } = this.#uniqueTemplate(() => fleetOverride.newInstance(random));
    const instance: SimulatedInstance = {
      ...template,
      launchedAt: this.#clock.now(),
      bootMs: template.bootMs ?? randomInRange(this.#settings.bootMs, random),
      readyMs: randomInRange(this.#settings.readyMs, random),
      state: "running",
      kubelet: hasSilentKubelet ? "silent" : "healthy",
    };
    const { key, price } = fleetOverride;
    const record: InstanceRecord = { instance, key, price, clientToken, claimName, imageId, isTerminating: false };
    this.#put(record);
    return record;
  }

  #uniqueTemplate(draw: () => InstanceTemplate): InstanceTemplate {
    for (;;) {
      const template = draw();
      if (!this.#records.isTaken(template)) return template;
    }
  }

  #beginTermination(record: InstanceRecord): void {
    const { id } = record.instance;
    const random = this.#random.fork(`${id}/end`);
    this.#put({ ...record, isTerminating: true });
    this.#after(randomInRange(this.#settings.terminateMs, random), () => this.#removeInstance(id));
  }

  #removeInstance(id: string): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#records.remove(record);
    this.supply.release(record.key);
    this.#notifyHandlers({ ...record.instance, state: "terminated" });
  }

  #after(ms: number, run: () => void): void {
    const timer = this.#clock.setTimer(ms, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  #put(record: InstanceRecord): void {
    const { instance } = record;
    const hasChanged = this.#records.get(instance.id)?.instance !== instance;
    this.#records.put(record);
    if (hasChanged) this.#notifyHandlers(instance);
  }

  #notifyHandlers(instance: SimulatedInstance): void {
    for (const handler of [...this.#handlers]) handler(instance);
  }

  #describedRecord(providerId: string): InstanceRecord {
    const record = this.#records.find(providerId);
    if (record === undefined) throw new CloudError("not-found", `no instance ${providerId}`);
    return record;
  }

  #mustFind(name: string): InstanceRecord {
    const found = this.#records.find(name);
    if (found === undefined) throw new Error(`the simulated cloud has no instance ${name}`);
    return found;
  }

  /** Half the latency, the effect, the other half: a caller may crash before or after the effect. */
  async #call<T>(call: CloudCall, about: string, effect: (fault: CloudFault | undefined) => T): Promise<T> {
    const fault = this.#faults.next(call);
    const outcome = (text: string): void =>
      this.#onCall({ at: this.#clock.now(), call, about, outcome: text, fault: fault?.kind });
    const slowMs = fault?.kind === "slow" ? fault.ms : 0;
    const ms = randomInRange(this.#settings.latencyMs, this.#latency) + slowMs;
    await this.#clock.sleep(Math.floor(ms / 2));
    try {
      if (fault?.kind === "failed") throw new Error(fault.message ?? `${call} ${about}: simulated failure`);
      if (fault?.kind === "refused") throw fault.error;
      const result = effect(fault);
      await this.#clock.sleep(Math.ceil(ms / 2));
      if (fault?.kind === "lost") throw new Error(`${call} ${about}: the answer was lost (simulated)`);
      outcome("ok");
      return result;
    } catch (error) {
      outcome(error instanceof CloudError ? error.code : (fault?.kind ?? "failed"));
      throw error;
    }
  }
}

function randomInRange([least, most]: MsRange, random: Random): number {
  return least + random.int(most - least + 1);
}
