import type { PersistentVolume, PersistentVolumeClaim } from "../../../../api/kubernetes/cluster.ts";
import { kwokLabels } from "../../../../api/labels.ts";
import type { KubeObject } from "../../../../api/object.ts";
import type { InstanceSource, SimulatedInstance } from "../../../../cloud/instance-source.ts";
import { claimKeys } from "../../../../core/volumes.ts";
import { isKubeError } from "../../../../kube/error.ts";
import { microTime } from "../../../../kube/lease.ts";
import type { Loop, LoopWorld } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import { type LookAgain, Reconciler } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import type { Timer } from "../../../../util/clock.ts";
import { listAt, textAt } from "../../../kinds/draft.ts";
import { conditionOf, type LiveNode, type LivePod } from "../live.ts";
import { isAttached } from "../volumes/attachments.ts";
import { PodAddresses } from "./addresses.ts";
import { LeaseTimes, leaseNamespace, renewEveryMs } from "./leases.ts";
import {
  conditions,
  csiNodeObject,
  hostAddress,
  leaseObject,
  nodeIdentity,
  nodeObject,
  type Readiness,
  readinessOf,
} from "./node-object.ts";
import { behaviourOf, type Delays, defaultDelays } from "./pod-behaviour.ts";
import { nextStep, type Step } from "./pod-lifecycle.ts";

/**
 * `written` puts a Lease down every ten seconds, for any cluster. `computed` does only while somebody watches, and
 * otherwise leaves it to `LeaseTimes.overlay`, which the embedded API server shows instead of what is stored.
 */
export type LeaseMode =
  | { readonly kind: "written" }
  | { readonly kind: "computed"; readonly times: LeaseTimes; readonly isWatched: () => boolean };

export interface KubeletOptions {
  readonly instances: InstanceSource;
  readonly leases?: LeaseMode | undefined;
  readonly delays?: Partial<Delays> | undefined;
  /** Nodes without an instance that get a kubelet all the same; those made for KWOK, unless given. */
  readonly adopts?: ((node: LiveNode) => boolean) | undefined;
}

/** The kubelets of all simulated machines. (05:CP-L10) */
export function kubeletLoop(options: KubeletOptions): Loop {
  const { Node, Pod, PersistentVolumeClaim, PersistentVolume, VolumeAttachment, CSIDriver } = builtIn;
  return {
    name: "kubelet",
    kinds: [Node, Pod, PersistentVolumeClaim, PersistentVolume, VolumeAttachment, CSIDriver],
    run: (world, signal) => new Kubelets(world, options).run(signal),
  };
}

function isKwokNode({ metadata }: LiveNode): boolean {
  return metadata.annotations?.[kwokLabels.fakeNode] === "fake" || metadata.labels?.[kwokLabels.fakeNode] === "fake";
}

class Kubelets {
  readonly #world: LoopWorld;
  readonly #options: KubeletOptions;
  readonly #delays: Delays;
  readonly #times: LeaseTimes;
  readonly #instances = new Map<string, SimulatedInstance>();
  /** Instances whose kubelet has registered: it does so once in its life. */
  readonly #registered = new Set<string>();
  readonly #addresses = new PodAddresses();
  readonly #nodes: Reconciler<string>;
  readonly #pods: Reconciler<string>;
  #ticker: Timer | undefined;

  constructor(world: LoopWorld, options: KubeletOptions) {
    this.#world = world;
    this.#options = options;
    this.#delays = { ...defaultDelays, ...options.delays };
    this.#times = options.leases?.kind === "computed" ? options.leases.times : new LeaseTimes(world.clock);
    this.#nodes = this.#reconciler("kubelet-nodes", (name) => this.#lookAtNode(name));
    this.#pods = this.#reconciler("kubelet-pods", (key) => this.#lookAtPod(key));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { view } = this.#world;
    view<LivePod>(builtIn.Pod).index("node", ({ spec }) => spec.nodeName);
    view<LivePod>(builtIn.Pod).index("claims", (pod) =>
      claimKeys(pod).length > 0 ? pod.metadata.namespace : undefined,
    );
    const unsubscribe = [
      this.#options.instances.subscribe((instance) => this.#instanceChanged(instance)),
      ...this.#watch(),
      () => this.#ticker?.cancel(),
    ];
    for (const instance of sorted(this.#options.instances.list())) this.#instanceChanged(instance);
    this.#tick(signal);
    await Promise.all([this.#nodes.run(signal), this.#pods.run(signal)]);
    for (const stop of unsubscribe) stop();
  }

  #watch(): readonly (() => void)[] {
    const { view } = this.#world;
    return [
      view<LiveNode>(builtIn.Node).subscribe(({ object, old }) => this.#nodeChanged(object, old)),
      view<LivePod>(builtIn.Pod).subscribe(({ object, old }) => {
        if (object === undefined) this.#addresses.gone(old as LivePod);
        else this.#addresses.seen(object);
        if (object !== undefined && this.#instances.has(object.spec.nodeName ?? "")) {
          this.#pods.enqueue(cacheKey(object.metadata));
        }
      }),
      view(builtIn.VolumeAttachment).subscribe(({ object, old }) =>
        this.#lookAtPodsOf(textAt((object ?? old)?.spec, "nodeName"), ({ spec }) => (spec.volumes ?? []).length > 0),
      ),
      view(builtIn.PersistentVolumeClaim).subscribe(({ object }) => {
        const { namespace = "" } = object?.metadata ?? {};
        for (const pod of view<LivePod>(builtIn.Pod).by("claims", namespace))
          this.#pods.enqueue(cacheKey(pod.metadata));
      }),
    ];
  }

  #instanceChanged(instance: SimulatedInstance): void {
    const { nodeName, state } = instance;
    if (state === "terminated") {
      this.#instances.delete(nodeName);
      this.#times.end(nodeName);
      return;
    }
    this.#instances.set(nodeName, instance);
    if (instance.kubelet === "silent") this.#times.end(nodeName);
    this.#nodes.enqueue(nodeName);
  }

  #nodeChanged(object: LiveNode | undefined, old: LiveNode | undefined): void {
    const name = (object ?? old)?.metadata.name ?? "";
    const { adopts = isKwokNode } = this.#options;
    if (object === undefined) {
      this.#times.forget(name);
      if (this.#instances.get(name)?.id.startsWith(adoptedPrefix)) this.#instances.delete(name);
      return;
    }
    if (!this.#instances.has(name) && adopts(object))
      this.#instances.set(name, adopted(object, this.#world.clock.now()));
    if (this.#instances.has(name)) this.#nodes.enqueue(name);
  }

  #lookAtPodsOf(nodeName: string, isWorthIt: (pod: LivePod) => boolean = () => true): void {
    if (!this.#instances.has(nodeName)) return;
    for (const pod of this.#world.view<LivePod>(builtIn.Pod).by("node", nodeName)) {
      if (isWorthIt(pod)) this.#pods.enqueue(cacheKey(pod.metadata));
    }
  }

  async #lookAtNode(name: string): Promise<LookAgain | undefined> {
    const { clock, view } = this.#world;
    const instance = this.#instances.get(name);
    if (instance === undefined) return undefined;
    const now = clock.now();
    const bootedAt = instance.launchedAt + instance.bootMs;
    if (now < bootedAt) return { afterMs: bootedAt - now };
    const readiness = readinessOf(instance, now);
    if (readiness === undefined) return undefined;
    const node = view<LiveNode>(builtIn.Node).get(name);
    if (node === undefined && this.#registered.has(instance.id)) return undefined; // somebody took it out of the cluster
    if (node === undefined || !this.#registered.has(instance.id)) await this.#register(instance, { readiness, node });
    else if (!isSaid(readiness, node)) await this.#report(instance, { readiness, node });
    this.#times.begin(name);
    const readyAt = bootedAt + (instance.readyMs ?? 0);
    return readiness.isReady || now >= readyAt ? undefined : { afterMs: readyAt - now };
  }

  /** A kubelet that starts makes its Node, or finds the one it made before. */
  async #register(
    instance: SimulatedInstance,
    { readiness, node }: { readonly readiness: Readiness; readonly node: LiveNode | undefined },
  ): Promise<void> {
    const { client, clock } = this.#world;
    const now = clock.now();
    const made =
      node ??
      (await created<LiveNode>(() => client.create(builtIn.Node, nodeObject(instance, { readiness, now })))) ??
      (await client.get<LiveNode>(builtIn.Node, { name: instance.nodeName }));
    const lease = leaseObject(made, now);
    if ((await created(() => client.create(builtIn.Lease, lease))) === undefined) await this.#renew(instance.nodeName);
    // Also where there is no driver: a scheduler that waits for room for volumes looks again when it sees one.
    const csiNode = csiNodeObject(made, instance.volumeLimits);
    await created(() => client.create(builtIn.CSINode, csiNode));
    this.#registered.add(instance.id);
    if (!isSaid(readiness, made)) await this.#report(instance, { readiness, node: made });
    this.#lookAtPodsOf(instance.nodeName);
  }

  async #report(
    instance: SimulatedInstance,
    { readiness, node }: { readonly readiness: Readiness; readonly node: LiveNode },
  ): Promise<void> {
    const { client, clock } = this.#world;
    const before = node.status?.conditions ?? [];
    const status = { ...nodeIdentity(instance), conditions: conditions(readiness, { now: clock.now(), before }) };
    const { nodeName } = instance;
    const patch = { kind: "strategic", body: { status } } as const;
    await client.patch(builtIn.Node, { name: nodeName }, patch, { subresource: "status" });
    if (readiness.isReady) this.#lookAtPodsOf(nodeName);
  }

  async #lookAtPod(key: string): Promise<LookAgain | undefined> {
    const pod = this.#world.view<LivePod>(builtIn.Pod).get(key);
    const instance = pod && this.#instances.get(pod.spec.nodeName ?? "");
    if (pod === undefined || instance === undefined || !this.#works(instance)) return undefined;
    const step = this.#stepFor(pod, instance);
    return this.#take(step, pod);
  }

  /** Whether its kubelet does anything about pods. */
  #works({ id, kubelet }: SimulatedInstance): boolean {
    return this.#registered.has(id) && (kubelet === "healthy" || kubelet === "slow");
  }

  #stepFor(pod: LivePod, { nodeName, kubelet }: SimulatedInstance): Step {
    const { clock, random } = this.#world;
    const hostIP = hostAddress(nodeName);
    return nextStep(pod, {
      now: clock.now(),
      behaviour: behaviourOf(pod, { delays: this.#delays, random: random.fork("pods"), isSlow: kubelet === "slow" }),
      hostIP,
      podIP: () => (pod.spec.hostNetwork === true ? hostIP : this.#addresses.take(pod)),
      hasVolumes: this.#hasVolumes(pod),
    });
  }

  async #take(step: Step, pod: LivePod): Promise<LookAgain | undefined> {
    const { client } = this.#world;
    const { name = "", namespace, uid } = pod.metadata;
    if (step.kind === "rest") return undefined;
    if (step.kind === "wait") return { afterMs: step.afterMs };
    try {
      if (step.kind === "remove") {
        const preconditions = uid === undefined ? {} : { preconditions: { uid } };
        await client.delete(builtIn.Pod, { name, namespace }, { gracePeriodSeconds: 0, ...preconditions });
        return undefined;
      }
      const body = { metadata: { uid }, status: step.status };
      await client.patch(builtIn.Pod, { name, namespace }, { kind: "strategic", body }, { subresource: "status" });
      if (step.news !== undefined) this.#tell(pod, step.news);
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // gone already: that was the goal
    }
    return undefined;
  }

  #tell(pod: LivePod, news: "started" | "backing-off"): void {
    const names = listAt(pod.spec, "containers").map((one) => textAt(one, "name"));
    for (const name of names) {
      const happening =
        news === "started"
          ? ({ type: "Normal", reason: "Started", message: `Started container ${name}` } as const)
          : ({ type: "Warning", reason: "BackOff", message: `Back-off restarting failed container ${name}` } as const);
      this.#world.tell(pod, happening);
    }
  }

  #hasVolumes(pod: LivePod): boolean {
    const { view } = this.#world;
    return claimKeys(pod).every((key) => {
      const claim = view<KubeObject & PersistentVolumeClaim>(builtIn.PersistentVolumeClaim).get(key);
      if (claim?.status?.phase !== "Bound") return false;
      const name = claim.spec?.volumeName ?? "";
      const volume = view<KubeObject & PersistentVolume>(builtIn.PersistentVolume).get(name);
      return volume !== undefined && isAttached(volume, pod.spec.nodeName ?? "", view);
    });
  }

  /** Leases are written while somebody reads them as they are stored. */
  #tick(signal: AbortSignal): void {
    const { leases = { kind: "written" } } = this.#options;
    this.#ticker = this.#world.clock.setTimer(renewEveryMs, () => {
      if (signal.aborted) return;
      const isDue = leases.kind === "written" || leases.isWatched();
      void (isDue ? this.#renewAll() : Promise.resolve()).then(() => signal.aborted || this.#tick(signal));
    });
  }

  async #renewAll(): Promise<void> {
    const names = this.#times.renewing();
    for (let at = 0; at < names.length; at += atOnce) {
      await Promise.all(names.slice(at, at + atOnce).map((name) => this.#tryToRenew(name)));
    }
  }

  async #tryToRenew(name: string): Promise<void> {
    try {
      await this.#renew(name);
    } catch (error) {
      this.#world.log({ kind: "reconcile-failed", loop: "kubelet", key: name, error });
    }
  }

  async #renew(name: string): Promise<void> {
    const renewTime = microTime(this.#times.renewedAt(name) ?? this.#world.clock.now());
    const patch = { kind: "merge", body: { spec: { renewTime } } } as const;
    try {
      await this.#world.client.patch(builtIn.Lease, { name, namespace: leaseNamespace }, patch);
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // taken away with its Node
    }
  }

  #reconciler(name: string, look: (key: string) => Promise<LookAgain | undefined>): Reconciler<string> {
    const { clock, random, log } = this.#world;
    return new Reconciler<string>({
      name,
      reconcile: look,
      world: undefined,
      clock,
      random: random.fork(name),
      concurrency: atOnce,
      onError: ({ key, error }) => log({ kind: "reconcile-failed", loop: name, key, error }),
    });
  }
}

/** Machines do not wait for each other; a server that takes its time sees this many of them at once. */
const atOnce = 64;
const adoptedPrefix = "node:";

/** A Node that somebody else made, taken for a machine that has just come up. */
function adopted(node: LiveNode, now: number): SimulatedInstance {
  const { name = "", uid = "", labels = {} } = node.metadata;
  return {
    id: `${adoptedPrefix}${uid}`,
    providerId: node.spec?.providerID ?? "",
    nodeName: name,
    labels,
    taints: node.spec?.taints ?? [],
    capacity: node.status?.capacity ?? {},
    allocatable: node.status?.allocatable ?? {},
    launchedAt: now,
    bootMs: 0,
    state: "running",
    kubelet: "healthy",
  };
}

function isSaid({ isReady }: Readiness, node: LiveNode): boolean {
  return conditionOf(node, "Ready")?.status === (isReady ? "True" : "False");
}

/** Undefined where it is there already. */
async function created<T extends KubeObject>(create: () => Promise<T>): Promise<T | undefined> {
  try {
    return await create();
  } catch (error) {
    if (isKubeError(error, "already-exists")) return undefined;
    throw error;
  }
}

function sorted(instances: readonly SimulatedInstance[]): readonly SimulatedInstance[] {
  return [...instances].sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
}
