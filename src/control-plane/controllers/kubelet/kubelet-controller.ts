import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/kubernetes/cluster-objects.ts";
import { kwokLabels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { InstanceSource, SimulatedInstance } from "../../../cloud/instance-source.ts";
import { volumeClaimKeys } from "../../../core/volumes.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { Reconciler, type RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Timer } from "../../../util/clock.ts";
import { rfc3339Micro } from "../../../util/timestamp.ts";
import { listAt, textAt } from "../../object-fields.ts";
import { type ApiNode, type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import { isAttached } from "../volumes/volume-attachments.ts";
import { LeaseTimes, leaseRenewIntervalMs, nodeLeaseNamespace } from "./lease-times.ts";
import {
  csiNodeObject,
  kubeletNodeConditions,
  leaseObject,
  type NodeReadiness,
  newNodeObject,
  nodeAddress,
  nodeAddressesAndInfo,
  nodeReadiness,
} from "./node-registration.ts";
import { PodAddresses } from "./pod-addresses.ts";
import { defaultPodDelays, type PodDelays, podBehaviour } from "./pod-behaviour.ts";
import { nextPodStep, type PodStep } from "./pod-lifecycle.ts";

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
  readonly delays?: Partial<PodDelays> | undefined;
  /** Nodes without an instance that get a kubelet all the same; those made for KWOK, unless given. */
  readonly adopts?: ((node: ApiNode) => boolean) | undefined;
}

/** The kubelets of all simulated machines. (05:CP-L10) */
export function kubeletController(options: KubeletOptions): Controller {
  const { Node, Pod, PersistentVolumeClaim, PersistentVolume, VolumeAttachment, CSIDriver } = builtInTypes;
  return {
    name: "kubelet",
    kinds: [Node, Pod, PersistentVolumeClaim, PersistentVolume, VolumeAttachment, CSIDriver],
    run: (context, signal) => new Kubelets(context, options).run(signal),
  };
}

function isKwokNode({ metadata }: ApiNode): boolean {
  return metadata.annotations?.[kwokLabels.fakeNode] === "fake" || metadata.labels?.[kwokLabels.fakeNode] === "fake";
}

class Kubelets {
  readonly #context: ControllerContext;
  readonly #options: KubeletOptions;
  readonly #delays: PodDelays;
  readonly #leaseTimes: LeaseTimes;
  readonly #instances = new Map<string, SimulatedInstance>();
  /** Instances whose kubelet has registered: it does so once in its life. */
  readonly #registered = new Set<string>();
  readonly #addresses = new PodAddresses();
  readonly #nodes: Reconciler<string>;
  readonly #pods: Reconciler<string>;
  #renewalTimer: Timer | undefined;

  constructor(context: ControllerContext, options: KubeletOptions) {
    this.#context = context;
    this.#options = options;
    this.#delays = { ...defaultPodDelays, ...options.delays };
    this.#leaseTimes = options.leases?.kind === "computed" ? options.leases.times : new LeaseTimes(context.clock);
    this.#nodes = this.#reconciler("kubelet-nodes", (name) => this.#reconcileNode(name));
    this.#pods = this.#reconciler("kubelet-pods", (key) => this.#reconcilePod(key));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { view } = this.#context;
    view<ApiPod>(builtInTypes.Pod).addIndex("node", ({ spec }) => spec.nodeName);
    view<ApiPod>(builtInTypes.Pod).addIndex("claims", (pod) =>
      volumeClaimKeys(pod).length > 0 ? pod.metadata.namespace : undefined,
    );
    const unsubscribe = [
      this.#options.instances.subscribe((instance) => this.#instanceChanged(instance)),
      ...this.#watch(),
      () => this.#renewalTimer?.cancel(),
    ];
    for (const instance of sortedByNodeName(this.#options.instances.list())) this.#instanceChanged(instance);
    this.#scheduleLeaseRenewal(signal);
    await Promise.all([this.#nodes.run(signal), this.#pods.run(signal)]);
    for (const stop of unsubscribe) stop();
  }

  #watch(): readonly (() => void)[] {
    const { view } = this.#context;
    return [
      view<ApiNode>(builtInTypes.Node).subscribe(({ object, old }) => this.#nodeChanged(object, old)),
      view<ApiPod>(builtInTypes.Pod).subscribe(({ object, old }) => {
        if (object === undefined) this.#addresses.release(old);
        else this.#addresses.markUsed(object);
        if (object !== undefined && this.#instances.has(object.spec.nodeName ?? "")) {
          this.#pods.enqueue(cacheKey(object.metadata));
        }
      }),
      view(builtInTypes.VolumeAttachment).subscribe(({ object, old }) =>
        this.#enqueuePodsOf(textAt((object ?? old)?.spec, "nodeName"), ({ spec }) => (spec.volumes ?? []).length > 0),
      ),
      view(builtInTypes.PersistentVolumeClaim).subscribe(({ object }) => {
        const { namespace = "" } = object?.metadata ?? {};
        for (const pod of view<ApiPod>(builtInTypes.Pod).byIndex("claims", namespace))
          this.#pods.enqueue(cacheKey(pod.metadata));
      }),
    ];
  }

  #instanceChanged(instance: SimulatedInstance): void {
    const { nodeName, state } = instance;
    if (state === "terminated") {
      this.#instances.delete(nodeName);
      this.#leaseTimes.end(nodeName);
      return;
    }
    this.#instances.set(nodeName, instance);
    if (instance.kubelet === "silent") this.#leaseTimes.end(nodeName);
    this.#nodes.enqueue(nodeName);
  }

  #nodeChanged(object: ApiNode | undefined, old: ApiNode | undefined): void {
    const name = (object ?? old)?.metadata.name ?? "";
    const { adopts = isKwokNode } = this.#options;
    if (object === undefined) {
      this.#leaseTimes.forget(name);
      if (this.#instances.get(name)?.id.startsWith(adoptedInstanceIdPrefix)) this.#instances.delete(name);
      return;
    }
    if (!this.#instances.has(name) && adopts(object))
      this.#instances.set(name, adoptedInstance(object, this.#context.clock.now()));
    if (this.#instances.has(name)) this.#nodes.enqueue(name);
  }

  #enqueuePodsOf(nodeName: string, isWorthIt: (pod: ApiPod) => boolean = () => true): void {
    if (!this.#instances.has(nodeName)) return;
    for (const pod of this.#context.view<ApiPod>(builtInTypes.Pod).byIndex("node", nodeName)) {
      if (isWorthIt(pod)) this.#pods.enqueue(cacheKey(pod.metadata));
    }
  }

  async #reconcileNode(name: string): Promise<RequeueAfter | undefined> {
    const { clock, view } = this.#context;
    const instance = this.#instances.get(name);
    if (instance === undefined) return undefined;
    const now = clock.now();
    const bootedAt = instance.launchedAt + instance.bootMs;
    if (now < bootedAt) return { afterMs: bootedAt - now };
    const readiness = nodeReadiness(instance, now);
    if (readiness === undefined) return undefined;
    const node = view<ApiNode>(builtInTypes.Node).get(name);
    if (node === undefined && this.#registered.has(instance.id)) return undefined; // somebody took it out of the cluster
    if (node === undefined || !this.#registered.has(instance.id)) await this.#register(instance, { readiness, node });
    else if (!isReported(readiness, node)) await this.#reportReadiness(instance, { readiness, node });
    this.#leaseTimes.begin(name);
    const readyAt = bootedAt + (instance.readyMs ?? 0);
    return readiness.isReady || now >= readyAt ? undefined : { afterMs: readyAt - now };
  }

  /** A kubelet that starts makes its Node, or finds the one it made before. */
  async #register(
    instance: SimulatedInstance,
    { readiness, node }: { readonly readiness: NodeReadiness; readonly node: ApiNode | undefined },
  ): Promise<void> {
    const { client, clock } = this.#context;
    const now = clock.now();
    const made =
      node ??
      (await createUnlessExists<ApiNode>(() =>
        client.create(builtInTypes.Node, newNodeObject(instance, { readiness, now })),
      )) ??
      (await client.get<ApiNode>(builtInTypes.Node, { name: instance.nodeName }));
    const lease = leaseObject(made, now);
    if ((await createUnlessExists(() => client.create(builtInTypes.Lease, lease))) === undefined)
      await this.#renewLease(instance.nodeName);
    // Also where there is no driver: a scheduler that waits for room for volumes looks again when it sees one.
    const csiNode = csiNodeObject(made, instance.volumeLimits);
    await createUnlessExists(() => client.create(builtInTypes.CSINode, csiNode));
    this.#registered.add(instance.id);
    if (!isReported(readiness, made)) await this.#reportReadiness(instance, { readiness, node: made });
    this.#enqueuePodsOf(instance.nodeName);
  }

  async #reportReadiness(
    instance: SimulatedInstance,
    { readiness, node }: { readonly readiness: NodeReadiness; readonly node: ApiNode },
  ): Promise<void> {
    const { client, clock } = this.#context;
    const before = node.status?.conditions ?? [];
    const status = {
      ...nodeAddressesAndInfo(instance),
      conditions: kubeletNodeConditions(readiness, { now: clock.now(), before }),
    };
    const { nodeName } = instance;
    const patch = { kind: "strategic", body: { status } } as const;
    await client.patch(builtInTypes.Node, { name: nodeName }, patch, { subresource: "status" });
    if (readiness.isReady) this.#enqueuePodsOf(nodeName);
  }

  async #reconcilePod(key: string): Promise<RequeueAfter | undefined> {
    const pod = this.#context.view<ApiPod>(builtInTypes.Pod).get(key);
    const instance = pod && this.#instances.get(pod.spec.nodeName ?? "");
    if (pod === undefined || instance === undefined || !this.#isRunningPods(instance)) return undefined;
    const step = this.#stepFor(pod, instance);
    return this.#applyStep(step, pod);
  }

  /** Whether its kubelet does anything about pods. */
  #isRunningPods({ id, kubelet }: SimulatedInstance): boolean {
    return this.#registered.has(id) && (kubelet === "healthy" || kubelet === "slow");
  }

  #stepFor(pod: ApiPod, { nodeName, kubelet }: SimulatedInstance): PodStep {
    const { clock, random } = this.#context;
    const hostIP = nodeAddress(nodeName);
    return nextPodStep(pod, {
      now: clock.now(),
      behaviour: podBehaviour(pod, { delays: this.#delays, random: random.fork("pods"), isSlow: kubelet === "slow" }),
      hostIP,
      podIP: () => (pod.spec.hostNetwork === true ? hostIP : this.#addresses.allocate(pod)),
      hasVolumes: this.#hasVolumes(pod),
    });
  }

  async #applyStep(step: PodStep, pod: ApiPod): Promise<RequeueAfter | undefined> {
    const { client } = this.#context;
    const { name = "", namespace, uid } = pod.metadata;
    if (step.kind === "none") return undefined;
    if (step.kind === "wait") return { afterMs: step.afterMs };
    try {
      if (step.kind === "remove") {
        const preconditions = uid === undefined ? {} : { preconditions: { uid } };
        await client.delete(builtInTypes.Pod, { name, namespace }, { gracePeriodSeconds: 0, ...preconditions });
        return undefined;
      }
      const body = { metadata: { uid }, status: step.status };
      await client.patch(builtInTypes.Pod, { name, namespace }, { kind: "strategic", body }, { subresource: "status" });
      if (step.event !== undefined) this.#recordContainerEvents(pod, step.event);
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // gone already: that was the goal
    }
    return undefined;
  }

  #recordContainerEvents(pod: ApiPod, event: "started" | "backing-off"): void {
    const names = listAt(pod.spec, "containers").map((one) => textAt(one, "name"));
    for (const name of names) {
      const eventRecord =
        event === "started"
          ? ({ type: "Normal", reason: "Started", message: `Started container ${name}` } as const)
          : ({ type: "Warning", reason: "BackOff", message: `Back-off restarting failed container ${name}` } as const);
      this.#context.recordEvent(pod, eventRecord);
    }
  }

  #hasVolumes(pod: ApiPod): boolean {
    const { view } = this.#context;
    return volumeClaimKeys(pod).every((key) => {
      const claim = view<KubeObject & PersistentVolumeClaim>(builtInTypes.PersistentVolumeClaim).get(key);
      if (claim?.status?.phase !== "Bound") return false;
      const name = claim.spec?.volumeName ?? "";
      const volume = view<KubeObject & PersistentVolume>(builtInTypes.PersistentVolume).get(name);
      return volume !== undefined && isAttached(volume, pod.spec.nodeName ?? "", view);
    });
  }

  /** Leases are written while somebody reads them as they are stored. */
  #scheduleLeaseRenewal(signal: AbortSignal): void {
    const { leases = { kind: "written" } } = this.#options;
    this.#renewalTimer = this.#context.clock.setTimer(leaseRenewIntervalMs, () => {
      if (signal.aborted) return;
      const isDue = leases.kind === "written" || leases.isWatched();
      void (isDue ? this.#renewAllLeases() : Promise.resolve()).then(
        () => signal.aborted || this.#scheduleLeaseRenewal(signal),
      );
    });
  }

  async #renewAllLeases(): Promise<void> {
    const names = this.#leaseTimes.renewing();
    for (let at = 0; at < names.length; at += maxConcurrent) {
      await Promise.all(names.slice(at, at + maxConcurrent).map((name) => this.#tryToRenewLease(name)));
    }
  }

  async #tryToRenewLease(name: string): Promise<void> {
    try {
      await this.#renewLease(name);
    } catch (error) {
      this.#context.reportFailure({ kind: "reconcile-failed", controller: "kubelet", key: name, error });
    }
  }

  async #renewLease(name: string): Promise<void> {
    const renewTime = rfc3339Micro(this.#leaseTimes.renewedAt(name) ?? this.#context.clock.now());
    const patch = { kind: "merge", body: { spec: { renewTime } } } as const;
    try {
      await this.#context.client.patch(builtInTypes.Lease, { name, namespace: nodeLeaseNamespace }, patch);
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // taken away with its Node
    }
  }

  #reconciler(name: string, reconcile: (key: string) => Promise<RequeueAfter | undefined>): Reconciler<string> {
    const { clock, random, reportFailure } = this.#context;
    return new Reconciler<string>({
      name,
      reconcile,
      context: undefined,
      clock,
      random: random.fork(name),
      concurrency: maxConcurrent,
      onError: ({ key, error }) => reportFailure({ kind: "reconcile-failed", controller: name, key, error }),
    });
  }
}

/** Machines do not wait for each other; a server that takes its time sees this many of them at once. */
const maxConcurrent = 64;
const adoptedInstanceIdPrefix = "node:";

/** A Node that somebody else made, taken for a machine that has just come up. */
function adoptedInstance(node: ApiNode, now: number): SimulatedInstance {
  const { name = "", uid = "", labels = {} } = node.metadata;
  return {
    id: `${adoptedInstanceIdPrefix}${uid}`,
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

function isReported({ isReady }: NodeReadiness, node: ApiNode): boolean {
  return conditionOfType(node, "Ready")?.status === (isReady ? "True" : "False");
}

/** Undefined where it is there already. */
async function createUnlessExists<T extends KubeObject>(create: () => Promise<T>): Promise<T | undefined> {
  try {
    return await create();
  } catch (error) {
    if (isKubeError(error, "already-exists")) return undefined;
    throw error;
  }
}

function sortedByNodeName(instances: readonly SimulatedInstance[]): readonly SimulatedInstance[] {
  return [...instances].sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
}
