import { kwokLabels } from "../../../api/labels.ts";
import type { InstanceSource, SimulatedInstance } from "../../../cloud/instance-source.ts";
import { volumeClaimKeys } from "../../../core/volumes.ts";
import { cacheKey } from "../../../kube/client.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { Reconciler, RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import { textAt } from "../../object-fields.ts";
import { type ApiNode, type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import { newReconciler } from "../new-reconciler.ts";
import { type LeaseMode, LeaseRenewal, maxConcurrentNodes } from "./lease-renewal.ts";
import {
  csiNodeObject,
  kubeletNodeConditions,
  leaseObject,
  type NodeReadiness,
  newNodeObject,
  nodeAddressesAndInfo,
  nodeReadiness,
} from "./node-registration.ts";
import { defaultPodDelays, type PodDelays } from "./pod-behaviour.ts";
import { PodWorker } from "./pod-worker.ts";

export interface KubeletOptions {
  readonly instances: InstanceSource;
  readonly leases?: LeaseMode | undefined;
  readonly delays?: Partial<PodDelays> | undefined;
  /** Nodes without an instance that get a kubelet; by default those made for KWOK. */
  readonly adopts?: ((node: ApiNode) => boolean) | undefined;
}

/** The kubelets of all simulated instances. (05:CP-L10) */
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
  readonly #leases: LeaseRenewal;
  readonly #podWorker: PodWorker;
  readonly #instances = new Map<string, SimulatedInstance>();
  /** Instances whose kubelet has registered a Node; it does so once. */
  readonly #registered = new Set<string>();
  readonly #nodes: Reconciler<string>;
  readonly #pods: Reconciler<string>;

  constructor(context: ControllerContext, options: KubeletOptions) {
    this.#context = context;
    this.#options = options;
    this.#leases = new LeaseRenewal(context, options.leases);
    this.#podWorker = new PodWorker(context, { ...defaultPodDelays, ...options.delays });
    const reconciler = (name: string, reconcile: (key: string) => Promise<RequeueAfter | undefined>) =>
      newReconciler(context, { name, reconcile, forkName: name, concurrency: maxConcurrentNodes });
    this.#nodes = reconciler("kubelet-nodes", (name) => this.#reconcileNode(name));
    this.#pods = reconciler("kubelet-pods", (key) => this.#reconcilePod(key));
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
      () => this.#leases.stop(),
    ];
    for (const instance of sortedByNodeName(this.#options.instances.list())) this.#instanceChanged(instance);
    this.#leases.start(signal);
    await Promise.all([this.#nodes.run(signal), this.#pods.run(signal)]);
    for (const stop of unsubscribe) stop();
  }

  #watch(): readonly (() => void)[] {
    const { view } = this.#context;
    const { addresses } = this.#podWorker;
    return [
      view<ApiNode>(builtInTypes.Node).subscribe((change) => this.#nodeChanged(change)),
      view<ApiPod>(builtInTypes.Pod).subscribe(({ object, old }) => {
        if (object === undefined) addresses.release(old);
        else addresses.markUsed(object);
        if (object !== undefined && this.#instances.has(object.spec.nodeName ?? "")) {
          this.#pods.enqueue(cacheKey(object.metadata));
        }
      }),
      view(builtInTypes.VolumeAttachment).subscribe(({ object, old }) =>
        this.#enqueuePodsOf(textAt((object ?? old).spec, "nodeName"), ({ spec }) => (spec.volumes ?? []).length > 0),
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
      this.#forget(instance);
      this.#leases.times.end(nodeName);
      return;
    }
    this.#instances.set(nodeName, instance);
    if (instance.kubelet === "silent") this.#leases.times.end(nodeName);
    this.#nodes.enqueue(nodeName);
  }

  #nodeChanged({ object, old }: ObjectChange<ApiNode>): void {
    const { name = "" } = (object ?? old).metadata;
    const { adopts = isKwokNode } = this.#options;
    if (object === undefined) {
      this.#leases.times.forget(name);
      const instance = this.#instances.get(name);
      if (instance?.id.startsWith(adoptedInstanceIdPrefix)) this.#forget(instance);
      return;
    }
    if (!this.#instances.has(name) && adopts(object))
      this.#instances.set(name, adoptedInstance(object, this.#context.clock.now()));
    if (this.#instances.has(name)) this.#nodes.enqueue(name);
  }

  #forget({ id, nodeName }: SimulatedInstance): void {
    this.#instances.delete(nodeName);
    this.#registered.delete(id);
  }

  #enqueuePodsOf(nodeName: string, isAffected: (pod: ApiPod) => boolean = () => true): void {
    if (!this.#instances.has(nodeName)) return;
    for (const pod of this.#context.view<ApiPod>(builtInTypes.Pod).byIndex("node", nodeName)) {
      if (isAffected(pod)) this.#pods.enqueue(cacheKey(pod.metadata));
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
    if (node === undefined && this.#registered.has(instance.id)) return undefined; // the Node was deleted: it is not registered again
    if (node === undefined || !this.#registered.has(instance.id)) await this.#register(instance, { readiness, node });
    else if (!isReported(readiness, node)) await this.#reportReadiness(instance, { readiness, node });
    this.#leases.times.begin(name);
    const readyAt = bootedAt + (instance.readyMs ?? 0);
    return readiness.isReady || now >= readyAt ? undefined : { afterMs: readyAt - now };
  }

  /** Creates the Node, or finds the one from before a restart, with its Lease and CSINode. */
  async #register(
    instance: SimulatedInstance,
    { readiness, node }: { readonly readiness: NodeReadiness; readonly node: ApiNode | undefined },
  ): Promise<void> {
    const { client, clock } = this.#context;
    const now = clock.now();
    const registered = node ?? (await this.#createOrGetNode(newNodeObject(instance, { readiness, now })));
    const lease = client.create(builtInTypes.Lease, leaseObject(registered, now));
    if ((await ignoreKubeErrors(lease, "already-exists")) === undefined) await this.#leases.renew(instance.nodeName);
    // Also without drivers: the scheduler retries pods with volumes when it sees a CSINode.
    const csiNode = csiNodeObject(registered, instance.volumeLimits);
    await ignoreKubeErrors(client.create(builtInTypes.CSINode, csiNode), "already-exists");
    if (this.#instances.has(instance.nodeName)) this.#registered.add(instance.id); // else it ended meanwhile
    if (!isReported(readiness, registered)) await this.#reportReadiness(instance, { readiness, node: registered });
    this.#enqueuePodsOf(instance.nodeName);
  }

  async #createOrGetNode(node: ReturnType<typeof newNodeObject>): Promise<ApiNode> {
    const { client } = this.#context;
    const created = await ignoreKubeErrors(client.create<ApiNode>(builtInTypes.Node, node), "already-exists");
    return created ?? client.get<ApiNode>(builtInTypes.Node, { name: node.metadata.name });
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
    if (pod === undefined || instance === undefined || !this.#runsPods(instance)) return undefined;
    return this.#podWorker.sync(pod, instance);
  }

  /** Whether its kubelet acts on pods. */
  #runsPods({ id, kubelet }: SimulatedInstance): boolean {
    return this.#registered.has(id) && (kubelet === "healthy" || kubelet === "slow");
  }
}

function isReported({ isReady }: NodeReadiness, node: ApiNode): boolean {
  return conditionOfType(node, "Ready")?.status === (isReady ? "True" : "False");
}

function sortedByNodeName(instances: readonly SimulatedInstance[]): readonly SimulatedInstance[] {
  return [...instances].sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
}

const adoptedInstanceIdPrefix = "node:";

/** An instance for a Node that something else created, treated as just booted. */
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
