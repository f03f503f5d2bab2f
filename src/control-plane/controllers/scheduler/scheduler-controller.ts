import { isTerminatingPod } from "../../../core/pod-predicates.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Random } from "../../../util/random.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { unschedulableMessage } from "./filter-refusal.ts";
import type { PodProfile } from "./pod-profile.ts";
import { Preemptor } from "./preemptor.ts";
import { type ScheduleResult, schedule } from "./schedule.ts";
import { SchedulerCache } from "./scheduler-cache.ts";
import { defaultSchedulerName, SchedulerEventHandlers } from "./scheduler-event-handlers.ts";
import { SchedulingConditions } from "./scheduling-conditions.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { Packing } from "./scores.ts";
import { VolumeBinder } from "./volume-binder.ts";

export interface SchedulerOptions {
  /** The `schedulerName` of its pods, and the source of its events. */
  readonly name?: string | undefined;
  readonly packing?: Packing | undefined;
}

/** Yields to other work after this many pods: scheduling a thousand takes about a second. */
const podsPerTurn = 32;

/** kube-scheduler. (05:CP-L9) */
export function schedulerController(options: SchedulerOptions = {}): Controller {
  const { Node, Pod, Namespace, PersistentVolumeClaim, PersistentVolume } = builtInTypes;
  return {
    name: options.name ?? defaultSchedulerName,
    kinds: [
      Node,
      Pod,
      Namespace,
      PersistentVolumeClaim,
      PersistentVolume,
      builtInTypes.StorageClass,
      builtInTypes.CSINode,
      builtInTypes.PodDisruptionBudget,
    ],
    run: (context, signal) => new Scheduler(context, options).run(signal),
  };
}

class Scheduler {
  readonly #context: ControllerContext;
  readonly #name: string;
  readonly #packing: Packing;
  readonly #cache = new SchedulerCache();
  readonly #queue: SchedulingQueue;
  readonly #volumeBinder: VolumeBinder;
  readonly #conditions: SchedulingConditions;
  readonly #preemptor: Preemptor;
  /** Pending API writes. */
  readonly #inFlight = new Set<Promise<void>>();

  constructor(
    context: ControllerContext,
    { name = defaultSchedulerName, packing = "least-allocated" }: SchedulerOptions,
  ) {
    this.#context = context;
    this.#name = name;
    this.#packing = packing;
    this.#queue = new SchedulingQueue(context.clock);
    this.#volumeBinder = new VolumeBinder(context, this.#cache);
    this.#conditions = new SchedulingConditions(context, name);
    this.#preemptor = new Preemptor(context, {
      name,
      cache: this.#cache,
      queue: this.#queue,
      conditions: this.#conditions,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#stop(), { once: true });
    const handlers = new SchedulerEventHandlers({
      name: this.#name,
      cache: this.#cache,
      queue: this.#queue,
      volumeBinder: this.#volumeBinder,
      onGated: (pod) => this.#track(this.#conditions.reportGated(pod)),
    });
    const unsubscribe = handlers.subscribe(this.#context);
    const ties = this.#context.random.fork("ties");
    let decided = 0;
    for (let pod = await this.#queue.next(); pod !== undefined; pod = await this.#queue.next()) {
      this.#scheduleOne(pod, ties);
      if (++decided % podsPerTurn === 0) await this.#context.clock.sleep(0, signal).catch(() => {});
    }
    for (const stop of unsubscribe) stop();
    await Promise.all(this.#inFlight);
  }

  /** A pod that cannot be decided about is tried again later, and the others are not held up by it. */
  #scheduleOne(pod: PodProfile, ties: Random): void {
    try {
      const placement = schedule(pod, this.#cache, { packing: this.#packing, random: ties });
      if (placement.kind === "node") this.#assign(pod, placement.node);
      else this.#handleUnschedulable(pod, placement);
    } catch (error) {
      this.#queue.retryAfterBackOff(pod);
      this.#context.reportFailure({ kind: "reconcile-failed", controller: this.#name, key: pod.key, error });
    }
  }

  #stop(): void {
    this.#queue.stop();
    this.#volumeBinder.stop();
  }

  #assign(pod: PodProfile, node: string): void {
    this.#cache.assumePod(pod, node);
    this.#queue.remove(pod.key);
    this.#track(this.#bind(pod, node));
  }

  async #bind(pod: PodProfile, node: string): Promise<void> {
    const { client, recordEvent } = this.#context;
    const { name = "", namespace, uid } = pod.pod.metadata;
    try {
      if (this.#volumeBinder.hasUnboundClaims(pod)) {
        await this.#conditions.nominate(pod.pod, node);
        await this.#volumeBinder.bind(pod, node);
      }
      const target = { apiVersion: "v1", kind: "Node", name: node };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
      await client.create(builtInTypes.Pod, binding, { subresource: "binding", name });
      this.#cache.removeNomination(pod.key);
      const message = `Successfully assigned ${pod.key} to ${node}`;
      recordEvent(pod.pod, { type: "Normal", reason: "Scheduled", message });
    } catch (error) {
      this.#bindFailed(pod, error);
    }
  }

  /** Retries the pod if, by the view, it still needs a node. */
  #bindFailed(pod: PodProfile, error: unknown): void {
    if (!this.#cache.isAssumed(pod.key)) return;
    this.#cache.removePod(pod.key);
    const now = this.#context.view<ApiPod>(builtInTypes.Pod).get(pod.key);
    const isPending = now !== undefined && (now.spec.nodeName ?? "") === "" && !isTerminatingPod(now);
    if (isPending && !isKubeError(error, "not-found")) {
      this.#track(this.#conditions.nominate(now, undefined));
      this.#queue.retryAfterBackOff({ ...pod, pod: now });
    }
    this.#context.reportFailure({ kind: "reconcile-failed", controller: this.#name, key: pod.key, error });
  }

  #handleUnschedulable(pod: PodProfile, placement: ScheduleResult & { kind: "unschedulable" }): void {
    this.#queue.addUnschedulable(pod.key, placement.filters);
    const { nodes } = this.#cache;
    if (nodes.length === 0) {
      this.#track(this.#conditions.reportUnschedulable(pod, { message: placement.message }));
      return;
    }
    const attempt = this.#preemptor.attempt(pod, placement.refusals);
    for (const victim of attempt.victims) this.#track(this.#preemptor.evict(victim, { pod, node: attempt.node ?? "" }));
    const message = unschedulableMessage(nodes.length, placement.why, attempt.message);
    this.#track(this.#conditions.reportUnschedulable(pod, { message, nominated: attempt.node }));
  }

  #track(work: Promise<void>): void {
    this.#inFlight.add(work);
    void work.finally(() => this.#inFlight.delete(work));
  }
}
