import type { Pod } from "../../../api/kubernetes/pod.ts";
import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { KubeClient, ResourceType } from "../../../kube/client.ts";
import { isKubeError } from "../../../kube/error.ts";
import { builtIn, custom, resourceTypeOf } from "../../../kube/resources.ts";
import type { SimulatedCloud } from "../../../providers/sim/cloud.ts";
import type { Machine } from "../../../providers/sim/machine.ts";
import type { Clock } from "../../../util/clock.ts";
import { demoName } from "./manifests.ts";

type LivePod = KubeObject & Pod;

export interface StageParts {
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Between two looks. */
const glanceMs = 500;
/** What takes longer than this of the cluster's time will not happen any more. */
const patienceMs = 15 * 60_000;

/** What is waited for does not come: somebody else has a hand in the cluster. */
export class NeverHappened extends Error {}

/** The hands of the demo: as a user's, and the cloud's. */
export class DemoStage {
  readonly #parts: StageParts;

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const patch = { kind: "apply", body: object, fieldManager: demoName, force: true } as const;
      await this.#parts.client.patch(typeOf(object), keyOf(object), patch);
    }
  }

  async scale(name: string, replicas: number): Promise<void> {
    const patch = { kind: "merge", body: { spec: { replicas } } } as const;
    await this.#parts.client.patch(builtIn.Deployment, { name, namespace: demoName }, patch);
  }

  /** Whatever is gone already is fine. */
  async remove(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) await this.#delete(typeOf(object), keyOf(object));
  }

  /** So many pods there are, none is on its way out, and all of them run. */
  untilRunning(count: number): Promise<void> {
    return this.#until(`${count} pods to run`, async () => {
      const pods = await this.#pods();
      return pods.length === count && pods.every(isReady);
    });
  }

  /** Somebody has said why the pod gets no node. */
  untilRefused({ metadata }: KubeObject): Promise<void> {
    return this.#until(`a word about pod ${metadata.name}`, async () => {
      const { items } = await this.#parts.client.list<KubeObject & Telling>(builtIn.Event, { namespace: demoName });
      return items.some(
        ({ involvedObject, source }) => involvedObject.name === metadata.name && source?.component === "karpenter",
      );
    });
  }

  untilGone({ instance: { id } }: Machine): Promise<void> {
    return this.#until(`machine ${id} to end`, async () => this.#parts.cloud.find(id) === undefined);
  }

  /** Lets go of the nodes that hold nothing, and waits until they are gone. */
  async removeEmpty(): Promise<void> {
    await this.#until("empty nodes to go", async () => {
      const empty = await this.#empty();
      for (const { claimName } of empty) await this.#delete(custom.NodeClaim, { name: claimName });
      return empty.length === 0 && (await this.#leaving()) === 0;
    });
  }

  /** A spot machine that runs something: the one that runs most. */
  async busiestSpot(): Promise<Machine | undefined> {
    const load = await this.#load();
    const spot = this.machines().filter(({ key }) => key.capacityType === "spot");
    const pods = ({ instance }: Machine) => load.get(instance.nodeName) ?? 0;
    return spot.toSorted((a, b) => pods(b) - pods(a))[0];
  }

  interrupt({ instance }: Machine): void {
    this.#parts.cloud.interrupt(instance.id);
  }

  /** `12 pods run on 3 nodes, for $0.41 an hour`. */
  async summary(): Promise<string> {
    const machines = this.machines();
    const dollars = machines.reduce((sum, { price = 0 }) => sum + price, 0);
    const pods = (await this.#pods()).length;
    return `${pods} pods run on ${machines.length} node${machines.length === 1 ? "" : "s"}, for $${dollars.toFixed(2)} an hour`;
  }

  /** Those of the demo's pool. */
  machines(): readonly Machine[] {
    return this.#parts.cloud.machines().filter(({ instance }) => instance.labels[labels.nodePool] === demoName);
  }

  async #pods(): Promise<readonly LivePod[]> {
    return (await this.#parts.client.list<LivePod>(builtIn.Pod, { namespace: demoName })).items;
  }

  async #empty(): Promise<readonly Machine[]> {
    const load = await this.#load();
    return this.machines().filter(({ instance }) => !load.has(instance.nodeName));
  }

  /** NodeClaims on their way out. */
  async #leaving(): Promise<number> {
    const { items } = await this.#parts.client.list(custom.NodeClaim, {
      labelSelector: `${labels.nodePool}=${demoName}`,
    });
    return items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  }

  /** How many pods each node holds. */
  async #load(): Promise<ReadonlyMap<string, number>> {
    const load = new Map<string, number>();
    for (const { nodeName } of (await this.#pods()).map(({ spec }) => spec))
      if (nodeName !== undefined) load.set(nodeName, (load.get(nodeName) ?? 0) + 1);
    return load;
  }

  async #delete(type: ResourceType, key: { readonly name: string }): Promise<void> {
    try {
      await this.#parts.client.delete(type, key, { propagation: "Background" });
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // gone already: that was the goal
    }
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const { clock, signal } = this.#parts;
    const deadline = clock.now() + patienceMs;
    while (!(await isSo())) {
      if (clock.now() > deadline) throw new NeverHappened(`waited a quarter of an hour for ${what}`);
      await clock.sleep(glanceMs, signal);
    }
  }
}

interface Telling {
  readonly involvedObject: { readonly name: string };
  readonly source?: { readonly component?: string };
}

function isReady({ status }: LivePod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function typeOf(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
  return type;
}

function keyOf({ metadata: { name = "", namespace } }: KubeObject) {
  return namespace === undefined ? { name } : { name, namespace };
}
