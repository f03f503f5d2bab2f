import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../../../api/kubernetes/cluster.ts";
import type { LabelSelector } from "../../../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { isKubeError } from "../../../../kube/error.ts";
import type { Loop, LoopWorld } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import { builtIn } from "../../../../kube/resources.ts";
import type { Change } from "../../../../kube/view.ts";
import { rfc3339 } from "../../../api/times.ts";
import { numberAt, recordAt } from "../../../kinds/draft.ts";
import { conditionOf, isFinished, isTerminating, type LiveNode, type LivePod } from "../live.ts";
import { SchedulerCache } from "./cache.ts";
import { ClaimBinding } from "./claim-binding.ts";
import { type Budget, preempt } from "./preempt.ts";
import { isStillOf, type PodProfile, profileOf } from "./profile.ts";
import { SchedulingQueue } from "./queue.ts";
import { type Placement, schedule } from "./schedule.ts";
import type { Packing } from "./scores.ts";
import { unschedulableMessage } from "./verdict.ts";

export interface SchedulerOptions {
  /** Whose pods it schedules; also who its events come from. */
  readonly name?: string | undefined;
  readonly packing?: Packing | undefined;
}

const defaultName = "default-scheduler";
/** Lets others have a turn: a thousand pods are a second of deciding. */
const podsInARow = 32;

/** kube-scheduler, as far as pods can tell. (05:CP-L9) */
export function schedulerLoop(options: SchedulerOptions = {}): Loop {
  const { Node, Pod, Namespace, PersistentVolumeClaim, PersistentVolume } = builtIn;
  return {
    name: options.name ?? defaultName,
    kinds: [
      Node,
      Pod,
      Namespace,
      PersistentVolumeClaim,
      PersistentVolume,
      builtIn.StorageClass,
      builtIn.CSINode,
      builtIn.PodDisruptionBudget,
    ],
    run: (world, signal) => new Scheduler(world, options).run(signal),
  };
}

class Scheduler {
  readonly #world: LoopWorld;
  readonly #name: string;
  readonly #packing: Packing;
  readonly #cache = new SchedulerCache();
  readonly #queue: SchedulingQueue;
  readonly #claims: ClaimBinding;
  /** Writes under way. */
  readonly #under = new Set<Promise<void>>();

  constructor(world: LoopWorld, { name = defaultName, packing = "least-allocated" }: SchedulerOptions) {
    this.#world = world;
    this.#name = name;
    this.#packing = packing;
    this.#queue = new SchedulingQueue(world.clock);
    this.#claims = new ClaimBinding(world, this.#cache);
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#stop(), { once: true });
    const unsubscribe = this.#watch();
    const ties = this.#world.random.fork("ties");
    let row = 0;
    for (let pod = await this.#queue.next(); pod !== undefined; pod = await this.#queue.next()) {
      const placement = schedule(pod, this.#cache, { packing: this.#packing, random: ties });
      if (placement.kind === "node") this.#assign(pod, placement.node);
      else this.#refuse(pod, placement);
      if (++row % podsInARow === 0) await this.#world.clock.sleep(0, signal).catch(() => {});
    }
    for (const stop of unsubscribe) stop();
    await Promise.all(this.#under);
  }

  #stop(): void {
    this.#queue.stop();
    this.#claims.stop();
  }

  #watch(): readonly (() => void)[] {
    const { view } = this.#world;
    const cache = this.#cache;
    const volumesChanged = (): void => {
      this.#claims.look();
      this.#queue.happened("volume");
    };
    return [
      view(builtIn.Namespace).subscribe(({ object, old }) => {
        const name = (object ?? old)?.metadata.name ?? "";
        if (object === undefined) cache.namespaceLabels.delete(name);
        else cache.namespaceLabels.set(name, object.metadata.labels ?? {});
        this.#queue.happened("namespace");
      }),
      view<KubeObject & StorageClass>(builtIn.StorageClass).subscribe(({ object, old }) => {
        const name = (object ?? old)?.metadata.name ?? "";
        if (object === undefined) cache.volumes.classes.delete(name);
        else cache.volumes.classes.set(name, object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolume>(builtIn.PersistentVolume).subscribe(({ object, old }) => {
        cache.putVolume((object ?? old)?.metadata.name ?? "", object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolumeClaim>(builtIn.PersistentVolumeClaim).subscribe(({ object, old }) => {
        cache.putClaim(cacheKey((object ?? (old as KubeObject)).metadata), object);
        volumesChanged();
      }),
      view<KubeObject & CsiNode>(builtIn.CSINode).subscribe(({ object, old }) => {
        cache.putLimits((object ?? old)?.metadata.name ?? "", object);
        this.#queue.happened("volume");
      }),
      view<LiveNode>(builtIn.Node).subscribe((change) => this.#nodeChanged(change)),
      view<LivePod>(builtIn.Pod).subscribe((change) => this.#podChanged(change)),
    ];
  }

  #nodeChanged({ object, old }: Change<LiveNode>): void {
    if (object === undefined) this.#cache.removeNode(old?.metadata.name ?? "");
    else if (this.#cache.putNode(object)) this.#queue.happened("node");
  }

  #podChanged({ object, old }: Change<LivePod>): void {
    const key = cacheKey((object ?? (old as LivePod)).metadata);
    if (object === undefined) this.#podGone(key);
    else if ((object.spec.nodeName ?? "") !== "") this.#podPlaced(key, object);
    else this.#podPending(key, object);
  }

  #podGone(key: string): void {
    this.#queue.remove(key);
    this.#cache.unnominate(key);
    this.#claims.giveUp(key);
    if (this.#cache.remove(key)) this.#queue.happened("pod-removed");
  }

  #podPlaced(key: string, pod: LivePod): void {
    this.#queue.remove(key);
    this.#cache.unnominate(key);
    if (isFinished(pod)) {
      if (this.#cache.remove(key)) this.#queue.happened("pod-removed");
      return;
    }
    const known = this.#cache.placed(key);
    const isNews = known === undefined || !isStillOf(known, pod);
    const isSeen = known !== undefined && !isNews && !this.#cache.isAssumed(key);
    if (isSeen && known.pod.status?.startTime === pod.status?.startTime) return;
    this.#cache.place(isNews ? this.#profile(pod) : { ...known, pod }, pod.spec.nodeName ?? "");
    if (!isSeen) this.#queue.happened("pod-placed");
  }

  #podPending(key: string, pod: LivePod): void {
    const isOurs = (pod.spec.schedulerName ?? defaultName) === this.#name;
    if (!isOurs || isTerminating(pod) || isFinished(pod)) {
      this.#queue.remove(key);
      this.#cache.unnominate(key);
      this.#claims.giveUp(key);
      if (this.#cache.remove(key)) this.#queue.happened("pod-removed");
      return;
    }
    if ((pod.spec.schedulingGates ?? []).length > 0) {
      this.#queue.remove(key);
      this.#track(this.#sayGated(pod));
      return;
    }
    if (this.#cache.isAssumed(key)) return;
    const known = this.#queue.get(key);
    if (known !== undefined && isStillOf(known, pod)) {
      this.#queue.refresh({ ...known, pod });
      return;
    }
    const profile = this.#profile(pod);
    const nominated = pod.status?.nominatedNodeName ?? "";
    if (nominated !== "") this.#cache.nominate(profile, nominated);
    this.#queue.add(profile);
  }

  #profile(pod: LivePod): PodProfile {
    return profileOf(pod, this.#cache.reader);
  }

  #assign(pod: PodProfile, node: string): void {
    this.#cache.assume(pod, node);
    this.#queue.remove(pod.key);
    this.#track(this.#bind(pod, node));
  }

  async #bind(pod: PodProfile, node: string): Promise<void> {
    const { client, tell } = this.#world;
    const { name = "", namespace, uid } = pod.pod.metadata;
    try {
      if (pod.claims.length > 0) await this.#claims.bind(pod, node);
      const target = { apiVersion: "v1", kind: "Node", name: node };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
      await client.create(builtIn.Pod, binding as KubeObject, { subresource: "binding", name });
      this.#cache.unnominate(pod.key);
      const message = `Successfully assigned ${pod.key} to ${node}`;
      tell(pod.pod, { type: "Normal", reason: "Scheduled", message });
    } catch (error) {
      this.#notBound(pod, error);
    }
  }

  /** The view decides what it is now; a pod that still wants a node is tried again in a while. */
  #notBound(pod: PodProfile, error: unknown): void {
    if (!this.#cache.isAssumed(pod.key)) return;
    this.#cache.remove(pod.key);
    const now = this.#world.view<LivePod>(builtIn.Pod).get(pod.key);
    const isPending = now !== undefined && (now.spec.nodeName ?? "") === "" && !isTerminating(now);
    if (isPending && !isKubeError(error, "not-found")) this.#queue.failed({ ...pod, pod: now });
    this.#world.log({ kind: "reconcile-failed", loop: this.#name, key: pod.key, error });
  }

  #refuse(pod: PodProfile, placement: Placement & { kind: "unschedulable" }): void {
    this.#queue.refused(pod.key, placement.filters);
    const { nodes } = this.#cache;
    const tried = nodes.length === 0 ? {} : this.#preempt(pod, placement);
    const message =
      nodes.length === 0 ? placement.message : unschedulableMessage(nodes.length, placement.why, tried.message);
    this.#track(this.#sayUnschedulable(pod, { message, nominated: tried.node }));
  }

  /** Makes room where less important pods stand in the way. */
  #preempt(
    pod: PodProfile,
    { refusals }: Placement & { kind: "unschedulable" },
  ): { readonly message?: string; readonly node?: string } {
    const promised = this.#cache.nominationOf(pod.key);
    const isBeingCleared = [...(this.#cache.node(promised ?? "")?.pods.values() ?? [])].some(
      (other) => other.isTerminating && other.priority < pod.priority,
    );
    if (promised !== undefined && isBeingCleared) {
      return { message: "not eligible due to a terminating pod on the nominated node.", node: promised };
    }
    const outcome = preempt(pod, { snapshot: this.#cache, refusals, budgets: this.#budgets() });
    if (outcome.kind === "none") {
      this.#cache.unnominate(pod.key);
      return { message: outcome.message };
    }
    this.#cache.nominate(pod, outcome.node);
    for (const victim of outcome.victims) this.#track(this.#evict(victim, { pod, node: outcome.node }));
    return { node: outcome.node };
  }

  async #evict(victim: PodProfile, { pod, node }: { readonly pod: PodProfile; readonly node: string }): Promise<void> {
    const { client, tell, log } = this.#world;
    const { name = "", namespace, uid } = victim.pod.metadata;
    if (victim.isTerminating) return;
    try {
      await this.#setCondition(victim.pod, {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${this.#name}: preempting to accommodate a higher priority pod`,
      });
      await client.delete(builtIn.Pod, { name, namespace }, uid === undefined ? {} : { preconditions: { uid } });
      tell(victim.pod, { type: "Normal", reason: "Preempted", message: `Preempted by pod ${pod.uid} on node ${node}` });
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) {
        log({ kind: "reconcile-failed", loop: this.#name, key: victim.key, error });
        if (this.#queue.has(pod.key)) this.#queue.failed(pod);
      }
    }
  }

  #budgets(): readonly Budget[] {
    return this.#world
      .view(builtIn.PodDisruptionBudget)
      .all()
      .map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? "",
        selector: recordAt(spec, "selector") as LabelSelector | undefined,
        disruptionsAllowed: numberAt(status, "disruptionsAllowed") ?? 0,
        disruptedPods: new Set(Object.keys(recordAt(status, "disruptedPods") ?? {})),
      }));
  }

  async #sayUnschedulable(
    { pod }: PodProfile,
    { message, nominated }: { readonly message: string; readonly nominated?: string | undefined },
  ): Promise<void> {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
    await this.#setCondition(pod, condition, nominated);
    this.#world.tell(pod, { type: "Warning", reason: "FailedScheduling", message });
  }

  async #sayGated(pod: LivePod): Promise<void> {
    const message = "Scheduling is blocked due to non-empty scheduling gates";
    await this.#setCondition(pod, { type: "PodScheduled", status: "False", reason: "SchedulingGated", message });
  }

  async #setCondition(
    pod: LivePod,
    condition: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
    nominated?: string | undefined,
  ): Promise<void> {
    const { client, clock, view, log } = this.#world;
    const current = view<LivePod>(builtIn.Pod).get(cacheKey(pod.metadata)) ?? pod;
    const before = conditionOf(current, condition.type);
    const isSaid =
      before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
    const isNominated = (current.status?.nominatedNodeName ?? "") === (nominated ?? "");
    if (isSaid && isNominated) return;
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : rfc3339(clock.now());
    const conditions = [{ ...condition, lastProbeTime: null, lastTransitionTime }];
    const status = { conditions, ...(isNominated ? {} : { nominatedNodeName: nominated ?? null }) };
    const { name = "", namespace } = pod.metadata;
    try {
      await client.patch(
        builtIn.Pod,
        { name, namespace },
        { kind: "strategic", body: { status } },
        { subresource: "status" },
      );
    } catch (error) {
      // Only words: the next attempt says them again.
      if (!isKubeError(error, "not-found", "conflict")) {
        log({ kind: "reconcile-failed", loop: this.#name, key: cacheKey(pod.metadata), error });
      }
    }
  }

  #track(work: Promise<void>): void {
    this.#under.add(work);
    void work.finally(() => this.#under.delete(work));
  }
}
