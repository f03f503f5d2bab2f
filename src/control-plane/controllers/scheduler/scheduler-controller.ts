import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../../api/kubernetes/cluster-objects.ts";
import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { numberAt, recordAt } from "../../object-fields.ts";
import {
  type ApiNode,
  type ApiPod,
  conditionOfType,
  hasDeletionTimestamp,
  hasTerminalPhase,
} from "../api-pod-and-node.ts";
import { unschedulableMessage } from "./filter-refusal.ts";
import { isProfileCurrent, type PodProfile, podProfile } from "./pod-profile.ts";
import { type PreemptionBudget, preempt } from "./preemption.ts";
import { type ScheduleResult, schedule } from "./schedule.ts";
import { SchedulerCache } from "./scheduler-cache.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { Packing } from "./scores.ts";
import { VolumeBinder } from "./volume-binder.ts";

export interface SchedulerOptions {
  /** Whose pods it schedules; also who its events come from. */
  readonly name?: string | undefined;
  readonly packing?: Packing | undefined;
}

const defaultSchedulerName = "default-scheduler";
/** Lets others have a turn: a thousand pods are a second of deciding. */
const podsPerTurn = 32;

/** kube-scheduler, as far as pods can tell. (05:CP-L9) */
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
  /** Writes under way. */
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
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#stop(), { once: true });
    const unsubscribe = this.#watch();
    const ties = this.#context.random.fork("ties");
    let decided = 0;
    for (let pod = await this.#queue.next(); pod !== undefined; pod = await this.#queue.next()) {
      const placement = schedule(pod, this.#cache, { packing: this.#packing, random: ties });
      if (placement.kind === "node") this.#assign(pod, placement.node);
      else this.#handleUnschedulable(pod, placement);
      if (++decided % podsPerTurn === 0) await this.#context.clock.sleep(0, signal).catch(() => {});
    }
    for (const stop of unsubscribe) stop();
    await Promise.all(this.#inFlight);
  }

  #stop(): void {
    this.#queue.stop();
    this.#volumeBinder.stop();
  }

  #watch(): readonly (() => void)[] {
    const { view } = this.#context;
    const cache = this.#cache;
    const volumesChanged = (): void => {
      this.#volumeBinder.recheck();
      this.#queue.onClusterEvent("volume");
    };
    return [
      view(builtInTypes.Namespace).subscribe(({ object, old }) => {
        const name = (object ?? old)?.metadata.name ?? "";
        if (object === undefined) cache.namespaceLabels.delete(name);
        else cache.namespaceLabels.set(name, object.metadata.labels ?? {});
        this.#queue.onClusterEvent("namespace");
      }),
      view<KubeObject & StorageClass>(builtInTypes.StorageClass).subscribe(({ object, old }) => {
        const name = (object ?? old)?.metadata.name ?? "";
        if (object === undefined) cache.volumes.classes.delete(name);
        else cache.volumes.classes.set(name, object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolume>(builtInTypes.PersistentVolume).subscribe(({ object, old }) => {
        cache.putVolume((object ?? old)?.metadata.name ?? "", object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolumeClaim>(builtInTypes.PersistentVolumeClaim).subscribe(({ object, old }) => {
        cache.putClaim(cacheKey((object ?? old).metadata), object);
        volumesChanged();
      }),
      view<KubeObject & CsiNode>(builtInTypes.CSINode).subscribe(({ object, old }) => {
        cache.putVolumeLimits((object ?? old)?.metadata.name ?? "", object);
        this.#queue.onClusterEvent("volume");
      }),
      view<ApiNode>(builtInTypes.Node).subscribe((change) => this.#nodeChanged(change)),
      view<ApiPod>(builtInTypes.Pod).subscribe((change) => this.#podChanged(change)),
    ];
  }

  #nodeChanged({ object, old }: ObjectChange<ApiNode>): void {
    if (object === undefined) this.#cache.removeNode(old?.metadata.name ?? "");
    else if (this.#cache.putNode(object)) this.#queue.onClusterEvent("node");
  }

  #podChanged({ object, old }: ObjectChange<ApiPod>): void {
    const key = cacheKey((object ?? old).metadata);
    if (object === undefined) this.#podDeleted(key);
    else if ((object.spec.nodeName ?? "") !== "") this.#podAssigned(key, object);
    else this.#podPending(key, object);
  }

  #podDeleted(key: string): void {
    this.#queue.remove(key);
    this.#cache.removeNomination(key);
    this.#volumeBinder.giveUp(key);
    if (this.#cache.removePod(key)) this.#queue.onClusterEvent("pod-removed");
  }

  #podAssigned(key: string, pod: ApiPod): void {
    this.#queue.remove(key);
    this.#cache.removeNomination(key);
    if (hasTerminalPhase(pod)) {
      if (this.#cache.removePod(key)) this.#queue.onClusterEvent("pod-removed");
      return;
    }
    const known = this.#cache.pod(key);
    const hasChanged = known === undefined || !isProfileCurrent(known, pod);
    const isSeen = known !== undefined && !hasChanged && !this.#cache.isAssumed(key);
    if (isSeen && known.pod.status?.startTime === pod.status?.startTime) return;
    this.#cache.addPod(hasChanged ? this.#profile(pod) : { ...known, pod }, pod.spec.nodeName ?? "");
    if (!isSeen) this.#queue.onClusterEvent("pod-placed");
  }

  #podPending(key: string, pod: ApiPod): void {
    const isOurs = (pod.spec.schedulerName ?? defaultSchedulerName) === this.#name;
    if (!isOurs || hasDeletionTimestamp(pod) || hasTerminalPhase(pod)) {
      this.#queue.remove(key);
      this.#cache.removeNomination(key);
      this.#volumeBinder.giveUp(key);
      if (this.#cache.removePod(key)) this.#queue.onClusterEvent("pod-removed");
      return;
    }
    if ((pod.spec.schedulingGates ?? []).length > 0) {
      this.#queue.remove(key);
      this.#track(this.#reportGated(pod));
      return;
    }
    if (this.#cache.isAssumed(key)) return;
    const known = this.#queue.get(key);
    if (known !== undefined && isProfileCurrent(known, pod)) {
      this.#queue.update({ ...known, pod });
      return;
    }
    const profile = this.#profile(pod);
    const nominated = pod.status?.nominatedNodeName ?? "";
    if (nominated !== "") this.#cache.nominate(profile, nominated);
    this.#queue.add(profile);
  }

  #profile(pod: ApiPod): PodProfile {
    return podProfile(pod, this.#cache.reader);
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
      if (pod.claims.length > 0) await this.#volumeBinder.bind(pod, node);
      const target = { apiVersion: "v1", kind: "Node", name: node };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
      await client.create(builtInTypes.Pod, binding as KubeObject, { subresource: "binding", name });
      this.#cache.removeNomination(pod.key);
      const message = `Successfully assigned ${pod.key} to ${node}`;
      recordEvent(pod.pod, { type: "Normal", reason: "Scheduled", message });
    } catch (error) {
      this.#bindFailed(pod, error);
    }
  }

  /** The view decides what it is now; a pod that still wants a node is tried again in a while. */
  #bindFailed(pod: PodProfile, error: unknown): void {
    if (!this.#cache.isAssumed(pod.key)) return;
    this.#cache.removePod(pod.key);
    const now = this.#context.view<ApiPod>(builtInTypes.Pod).get(pod.key);
    const isPending = now !== undefined && (now.spec.nodeName ?? "") === "" && !hasDeletionTimestamp(now);
    if (isPending && !isKubeError(error, "not-found")) this.#queue.retryAfterBackOff({ ...pod, pod: now });
    this.#context.reportFailure({ kind: "reconcile-failed", controller: this.#name, key: pod.key, error });
  }

  #handleUnschedulable(pod: PodProfile, placement: ScheduleResult & { kind: "unschedulable" }): void {
    this.#queue.addUnschedulable(pod.key, placement.filters);
    const { nodes } = this.#cache;
    const tried = nodes.length === 0 ? {} : this.#preempt(pod, placement);
    const message =
      nodes.length === 0 ? placement.message : unschedulableMessage(nodes.length, placement.why, tried.message);
    this.#track(this.#reportUnschedulable(pod, { message, nominated: tried.node }));
  }

  /** Makes room where less important pods stand in the way. */
  #preempt(
    pod: PodProfile,
    { refusals }: ScheduleResult & { kind: "unschedulable" },
  ): { readonly message?: string; readonly node?: string } {
    const nominated = this.#cache.nominationOf(pod.key);
    const isBeingCleared = [...(this.#cache.node(nominated ?? "")?.pods.values() ?? [])].some(
      (other) => other.isTerminating && other.priority < pod.priority,
    );
    if (nominated !== undefined && isBeingCleared) {
      return { message: "not eligible due to a terminating pod on the nominated node.", node: nominated };
    }
    const outcome = preempt(pod, { snapshot: this.#cache, refusals, budgets: this.#budgets() });
    if (outcome.kind === "none") {
      this.#cache.removeNomination(pod.key);
      return { message: outcome.message };
    }
    this.#cache.nominate(pod, outcome.node);
    for (const victim of outcome.victims) this.#track(this.#evict(victim, { pod, node: outcome.node }));
    return { node: outcome.node };
  }

  async #evict(victim: PodProfile, { pod, node }: { readonly pod: PodProfile; readonly node: string }): Promise<void> {
    const { client, recordEvent: tell, reportFailure } = this.#context;
    const { name = "", namespace, uid } = victim.pod.metadata;
    if (victim.isTerminating) return;
    try {
      await this.#setCondition(victim.pod, {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${this.#name}: preempting to accommodate a higher priority pod`,
      });
      await client.delete(builtInTypes.Pod, { name, namespace }, uid === undefined ? {} : { preconditions: { uid } });
      tell(victim.pod, { type: "Normal", reason: "Preempted", message: `Preempted by pod ${pod.uid} on node ${node}` });
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) {
        reportFailure({ kind: "reconcile-failed", controller: this.#name, key: victim.key, error });
        if (this.#queue.has(pod.key)) this.#queue.retryAfterBackOff(pod);
      }
    }
  }

  #budgets(): readonly PreemptionBudget[] {
    return this.#context
      .view(builtInTypes.PodDisruptionBudget)
      .all()
      .map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? "",
        selector: recordAt(spec, "selector") as LabelSelector | undefined,
        disruptionsAllowed: numberAt(status, "disruptionsAllowed") ?? 0,
        disruptedPods: new Set(Object.keys(recordAt(status, "disruptedPods") ?? {})),
      }));
  }

  async #reportUnschedulable(
    { pod }: PodProfile,
    { message, nominated }: { readonly message: string; readonly nominated?: string | undefined },
  ): Promise<void> {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
    await this.#setCondition(pod, condition, nominated);
    this.#context.recordEvent(pod, { type: "Warning", reason: "FailedScheduling", message });
  }

  async #reportGated(pod: ApiPod): Promise<void> {
    const message = "Scheduling is blocked due to non-empty scheduling gates";
    await this.#setCondition(pod, { type: "PodScheduled", status: "False", reason: "SchedulingGated", message });
  }

  async #setCondition(
    pod: ApiPod,
    condition: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
    nominated?: string | undefined,
  ): Promise<void> {
    const { client, clock, view, reportFailure } = this.#context;
    const current = view<ApiPod>(builtInTypes.Pod).get(cacheKey(pod.metadata)) ?? pod;
    const before = conditionOfType(current, condition.type);
    const isReported =
      before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
    const isNominated = (current.status?.nominatedNodeName ?? "") === (nominated ?? "");
    if (isReported && isNominated) return;
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : rfc3339(clock.now());
    const conditions = [{ ...condition, lastProbeTime: null, lastTransitionTime }];
    const status = { conditions, ...(isNominated ? {} : { nominatedNodeName: nominated ?? null }) };
    const { name = "", namespace } = pod.metadata;
    try {
      await client.patch(
        builtInTypes.Pod,
        { name, namespace },
        { kind: "strategic", body: { status } },
        { subresource: "status" },
      );
    } catch (error) {
      // Only words: the next attempt says them again.
      if (!isKubeError(error, "not-found", "conflict")) {
        reportFailure({ kind: "reconcile-failed", controller: this.#name, key: cacheKey(pod.metadata), error });
      }
    }
  }

  #track(work: Promise<void>): void {
    this.#inFlight.add(work);
    void work.finally(() => this.#inFlight.delete(work));
  }
}
