import type { Pod } from "../../../api/kubernetes/pod.ts";
import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { objectKeyFromMeta } from "../../../controllers/writes.ts";
import type { KubeClient, ResourceType } from "../../../kube/client.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../../../kube/resources.ts";
import type { InstanceRecord } from "../../../providers/sim/fleet-request.ts";
import type { SimulatedCloud } from "../../../providers/sim/simulated-cloud.ts";
import type { Clock } from "../../../util/clock.ts";
import { consolidatedNodes, demoName } from "./manifests.ts";

type PodKubeObject = KubeObject & Pod;

export interface DemoActionsDependencies {
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const pollMs = 500;
/** consolidateAfter, the time between two searches, and the wait before a command starts. */
const settledMs = 45_000;
/** After this long, in cluster time, the demo gives up. */
const timeoutMs = 15 * 60_000;

/** An expected change did not happen: somebody else may be changing the cluster. */
export class DemoTimeout extends Error {}

/** What the demo does as a user and as the cloud. */
export class DemoActions {
  readonly #dependencies: DemoActionsDependencies;

  constructor(dependencies: DemoActionsDependencies) {
    this.#dependencies = dependencies;
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const patch = { kind: "apply", body: object, fieldManager: demoName, force: true } as const;
      await this.#dependencies.client.patch(typeOf(object), objectKeyFromMeta(object.metadata), patch);
    }
  }

  async scale(name: string, replicas: number): Promise<void> {
    const patch = { kind: "merge", body: { spec: { replicas } } } as const;
    await this.#dependencies.client.patch(builtInTypes.Deployment, { name, namespace: demoName }, patch);
  }

  /** Deletes the objects that still exist. */
  async remove(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) await this.#delete(typeOf(object), objectKeyFromMeta(object.metadata));
  }

  /** Resolves when there are exactly this many pods and all of them are ready. */
  untilRunning(count: number): Promise<void> {
    return this.#until(`${count} pods to run`, async () => {
      const pods = await this.#pods();
      return pods.length === count && pods.every(isReady);
    });
  }

  /** Resolves when an event says why the pod gets no node. */
  untilRefused({ metadata }: KubeObject): Promise<void> {
    return this.#until(`an event for pod ${metadata.name}`, async () => {
      const { client } = this.#dependencies;
      const { items } = await client.list<KubeObject & EventFields>(builtInTypes.Event, { namespace: demoName });
      const own = items.filter(({ involvedObject }) => involvedObject.name === metadata.name);
      return own.some(({ source }) => source?.component === "karpenter");
    });
  }

  untilGone({ instance: { id } }: InstanceRecord): Promise<void> {
    return this.#until(`instance ${id} to terminate`, async () => this.#dependencies.cloud.find(id) === undefined);
  }

  /** Lets the controller give nodes back. */
  async consolidate(): Promise<void> {
    const patch = { kind: "merge", body: { spec: { disruption: consolidatedNodes } } } as const;
    await this.#dependencies.client.patch(karpenterTypes.NodePool, { name: demoName }, patch);
  }

  /** Resolves when the controller has changed the nodes, and then left them alone for as long as it would need to find more. */
  async untilSettled(): Promise<void> {
    const { clock } = this.#dependencies;
    const before = this.#instanceIds();
    let last = before;
    let since = clock.now();
    await this.#until("nodes to be consolidated", async () => {
      const now = this.#instanceIds();
      if (now !== last) since = clock.now();
      last = now;
      return now !== before && clock.now() - since > settledMs && (await this.#deletingClaimCount()) === 0;
    });
  }

  /** Instances go first: Nodes and claims remain for a moment. */
  untilNoNodes(): Promise<void> {
    return this.#until("all nodes to go", async () => {
      const left = [this.instances(), await this.#ofPool(builtInTypes.Node), await this.#claims()];
      return left.every(({ length }) => length === 0);
    });
  }

  /** The spot instance with the most pods. */
  async busiestSpot(): Promise<InstanceRecord | undefined> {
    const podsPerNode = await this.#podsPerNode();
    const spot = this.instances().filter(({ key }) => key.capacityType === "spot");
    const pods = ({ instance }: InstanceRecord) => podsPerNode.get(instance.nodeName) ?? 0;
    return spot.toSorted((a, b) => pods(b) - pods(a))[0];
  }

  interrupt({ instance }: InstanceRecord): void {
    this.#dependencies.cloud.interrupt(instance.id);
  }

  /** `12 pods run on 3 nodes, for $0.41 per hour`. */
  async summary(): Promise<string> {
    const instances = this.instances();
    const dollars = instances.reduce((sum, { price = 0 }) => sum + price, 0);
    const pods = (await this.#pods()).length;
    return `${pods} pods run on ${instances.length} node${instances.length === 1 ? "" : "s"}, for $${dollars.toFixed(2)} per hour`;
  }

  /** The instances of the demo's pool. */
  instances(): readonly InstanceRecord[] {
    return this.#dependencies.cloud.records().filter(({ instance }) => instance.labels[labels.nodePool] === demoName);
  }

  async #pods(): Promise<readonly PodKubeObject[]> {
    return (await this.#dependencies.client.list<PodKubeObject>(builtInTypes.Pod, { namespace: demoName })).items;
  }

  #instanceIds(): string {
    return this.instances()
      .map(({ instance }) => instance.id)
      .sort()
      .join();
  }

  async #deletingClaimCount(): Promise<number> {
    return (await this.#claims()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  }

  #claims(): Promise<readonly KubeObject[]> {
    return this.#ofPool(karpenterTypes.NodeClaim);
  }

  /** Objects with the label of the demo's pool. */
  async #ofPool(type: ResourceType): Promise<readonly KubeObject[]> {
    return (await this.#dependencies.client.list(type, { labelSelector: `${labels.nodePool}=${demoName}` })).items;
  }

  async #podsPerNode(): Promise<ReadonlyMap<string, number>> {
    const podsPerNode = new Map<string, number>();
    for (const { nodeName } of (await this.#pods()).map(({ spec }) => spec))
      if (nodeName !== undefined) podsPerNode.set(nodeName, (podsPerNode.get(nodeName) ?? 0) + 1);
    return podsPerNode;
  }

  async #delete(type: ResourceType, key: { readonly name: string }): Promise<void> {
    await ignoreKubeErrors(this.#dependencies.client.delete(type, key, { propagation: "Background" }), "not-found");
  }

  async #until(what: string, isDone: () => Promise<boolean>): Promise<void> {
    const { clock, signal } = this.#dependencies;
    const deadline = clock.now() + timeoutMs;
    while (!(await isDone())) {
      if (clock.now() > deadline) throw new DemoTimeout(`timed out after 15 minutes waiting for ${what}`);
      await clock.sleep(pollMs, signal);
    }
  }
}

interface EventFields {
  readonly involvedObject: { readonly name: string };
  readonly source?: { readonly component?: string };
}

function isReady({ status }: PodKubeObject): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function typeOf(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
  return type;
}
